#include "base/ascii.h"

#include <gtest/gtest.h>

namespace outlast {
namespace {

TEST(AsciiLower, ChangesTheLettersOfAsciiOnly) {
  EXPECT_EQ(ascii_lower(""), "");
  EXPECT_EQ(ascii_lower("AbcXYZ"), "abcxyz");
  EXPECT_EQ(ascii_lower("@[`{ 09-_\x7f"), "@[`{ 09-_\x7f");
  EXPECT_EQ(ascii_lower("ÄÖ K"), "ÄÖ k");
}

}  // namespace
}  // namespace outlast
