#include "report/markup.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/utf8.h"

namespace outlast::report {
namespace {

TEST(Markup, TextIsNeverAnElement) {
  Markup markup;
  markup.leaf("p", {{"title", "\"><script>"}}, "</p><script>alert('1' & 2)</script>");
  EXPECT_EQ(markup.take(),
            "<p title=\"&quot;&gt;&lt;script&gt;\">"
            "&lt;/p&gt;&lt;script&gt;alert(&#39;1&#39; &amp; 2)&lt;/script&gt;</p>");
}

TEST(Markup, ElementsCloseInTurn) {
  Markup markup;
  markup.open("ul").open("li", {{"class", "a"}}).text("b").close().empty("br", {}).close();
  EXPECT_EQ(markup.take(), "<ul><li class=\"a\">b</li><br/></ul>");
}

TEST(Markup, WhatIsNotUtf8IsReplacedByteByByte) {
  EXPECT_EQ(escaped("a\xff\xc0\xaf"), "a\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(escaped("\xe2\x82"), "\uFFFD\uFFFD");
  EXPECT_EQ(escaped("1 → 2 ✓"), "1 → 2 ✓");
}

TEST(Markup, ControlCharactersAreShownAsPictures) {
  EXPECT_EQ(escaped(std::string("\0\x1b[31m\x7f", 7)), "\u2400\u241B[31m\u2421");
  EXPECT_EQ(escaped("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(escaped("\u0085"), "\uFFFD");
}

TEST(Markup, AllBytesComeOutAsUtf8WithoutMarkup) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string text = escaped(all);
  EXPECT_TRUE(is_utf8(text));
  EXPECT_EQ(text.find_first_of("<>\"'"), std::string::npos);
}

TEST(Markup, CoordinatesAreShortAndFinite) {
  EXPECT_EQ(coordinate(12), "12");
  EXPECT_EQ(coordinate(12.5), "12.5");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(std::numeric_limits<double>::quiet_NaN()), "0");
  EXPECT_EQ(coordinate(std::numeric_limits<double>::infinity()), "0");
}

TEST(Markup, PercentStaysWithinTheWhole) {
  EXPECT_EQ(percent(0.12345), "12.35%");
  EXPECT_EQ(percent(2), "100%");
  EXPECT_EQ(percent(-1), "0%");
  EXPECT_EQ(percent(std::numeric_limits<double>::quiet_NaN()), "0%");
}

}  // namespace
}  // namespace outlast::report
