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

TEST(AsciiTrimmed, TakesBlanksAndLineEndsFromBothSides) {
  EXPECT_EQ(ascii_trimmed("\r\n\t a b \n"), "a b");
  EXPECT_EQ(ascii_trimmed("ab"), "ab");
  EXPECT_EQ(ascii_trimmed(" \n"), "");
  EXPECT_EQ(ascii_trimmed(""), "");
}

}  // namespace
}  // namespace outlast
