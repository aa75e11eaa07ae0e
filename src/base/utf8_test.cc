#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string_view>

namespace outlast {
namespace {

TEST(Utf8, KnowsWhatIsOfIt) {
  for (const std::string_view good :
       {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9d\x84\x9e"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  EXPECT_TRUE(is_utf8({"a\0b", 3}));
  for (const std::string_view bad :
       {"\x80", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xc3\xa9\xc3"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

}  // namespace
}  // namespace outlast
