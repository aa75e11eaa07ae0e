#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace outlast::cloud::testing {

// Stands in every secret that a test plants.
inline constexpr std::string_view kPlanted = "pLaNtEd";

inline void expect_no_secret(const std::string& text) {
  EXPECT_EQ(text.find(kPlanted), std::string::npos) << text;
}

}  // namespace outlast::cloud::testing
