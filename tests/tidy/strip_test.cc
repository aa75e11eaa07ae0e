#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/tidy/tidy.h"

namespace outlast::tidy {
namespace {

TEST(StripCpp, BlanksComments) {
  EXPECT_EQ(strip_cpp("a; // rand()\nb;"), "a;          \nb;");
  EXPECT_EQ(strip_cpp("a /* x\ny */ b"), "a     \n     b");
  EXPECT_EQ(strip_cpp("// one \\\ntwo\nc"), "        \n   \nc");
  EXPECT_EQ(strip_cpp("a /* never closed"), "a                ");
  EXPECT_EQ(strip_cpp("/*"), "  ");
}

TEST(StripCpp, BlanksTheInsidesOfLiterals) {
  EXPECT_EQ(strip_cpp("f(\"rand()\", 'x');"), "f(\"      \", ' ');");
  EXPECT_EQ(strip_cpp(R"x(f("a\"b", '\'', "\\") + g)x"), R"x(f("    ", '  ', "  ") + g)x");
  EXPECT_EQ(strip_cpp("f(\"// no comment\"); g"), "f(\"             \"); g");
  EXPECT_EQ(strip_cpp("L'a' u8\"b\""), "L' ' u8\" \"");
}

TEST(StripCpp, KnowsRawStrings) {
  EXPECT_EQ(strip_cpp("R\"(a\"b)\" + c"), "R\"     \" + c");
  EXPECT_EQ(strip_cpp("R\"x(a)\" )x\" + c"), "R\"        \" + c");
  EXPECT_EQ(strip_cpp("u8R\"(a\nb)\";"), "u8R\"  \n  \";");
}

TEST(StripCpp, KnowsDigitSeparators) {
  EXPECT_EQ(strip_cpp("n = 1'000'000; rand();"), "n = 1'000'000; rand();");
  EXPECT_EQ(strip_cpp("n = 0x'ff; c = 'x';"), "n = 0x'ff; c = ' ';");
}

TEST(StripCpp, KeepsEveryCharacterInItsPlace) {
  const std::string text = "int a; // x\n\"y\" R\"(z\n)\" 'c' /* d\n */ e\n";
  const std::string code = strip_cpp(text);
  ASSERT_EQ(code.size(), text.size());
  EXPECT_EQ(code.find(" e\n"), text.find(" e\n"));
  EXPECT_EQ(line_at(code, code.find(" e\n")), 4);
}

TEST(SplitLines, KeepsEmptyLinesAndNeedsNoLastLineEnd) {
  EXPECT_EQ(split_lines("a\n\nb\n"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split_lines("a\nb"), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_TRUE(split_lines("").empty());
}

}  // namespace
}  // namespace outlast::tidy
