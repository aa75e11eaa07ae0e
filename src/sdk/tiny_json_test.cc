#include "sdk/tiny_json.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace outlast::sdk {
namespace {

TEST(TinyJson, ReadsEveryKindOfValue) {
  const auto value = read_json(
      " {\"a\": [1, -2.5e1, true, false, null, []], \"b\\n\\u00e4\\ud83d\\ude00\" :{}, \"\": "
      "\"\\/\"}\n");
  ASSERT_TRUE(value);
  const JsonValue* const a = value->find("a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->items.size(), 6U);
  EXPECT_EQ(a->items[0].whole, 1U);
  EXPECT_EQ(a->items[1].number, -25);
  EXPECT_FALSE(a->items[1].whole);
  EXPECT_TRUE(a->items[2].boolean);
  EXPECT_EQ(a->items[4].kind, JsonValue::Kind::kNull);
  EXPECT_NE(value->find("b\nä😀"), nullptr);
  EXPECT_EQ(value->find("")->text, "/");
  EXPECT_EQ(value->find("c"), nullptr);
}

TEST(TinyJson, WholeNumbersAreExact) {
  EXPECT_EQ(read_json("18446744073709551615")->whole, 18446744073709551615U);
  EXPECT_FALSE(read_json("18446744073709551616")->whole);
  EXPECT_FALSE(read_json("-1")->whole);
  EXPECT_FALSE(read_json("1.0")->whole);
}

TEST(TinyJson, RefusesWhatIsNoJson) {
  for (const std::string_view text : {"",
                                      " ",
                                      "{",
                                      "}",
                                      "[1,]",
                                      "[1 2]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "01",
                                      "-",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "+1",
                                      "0x1",
                                      "NaN",
                                      "tru",
                                      "nul",
                                      "\"",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\u12g4\"",
                                      "\"\\ud800\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\udc00\"",
                                      "\"\n\"",
                                      "1 1",
                                      "\"\xff\"",
                                      "\xef\xbb\xbf{}",
                                      "1e999",
                                      "{\"a\":1}x"}) {
    EXPECT_FALSE(read_json(text)) << text;
  }
}

TEST(TinyJson, DepthIsLimited) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(read_json(nested(kJsonDepthMax)));
  EXPECT_FALSE(read_json(nested(kJsonDepthMax + 1)));
  EXPECT_FALSE(read_json(std::string(1'000'000, '[')));
}

TEST(TinyJson, WhatIsWrittenIsReadAgain) {
  const std::string text = std::string("quote \" back \\ zero \n ä 😀") + '\0' + '\x1f';
  std::string written;
  append_json_string(written, text);
  EXPECT_EQ(read_json(written)->text, text);
  for (const double number : {0.1, -1e300, 5e-324, 3.0, 123456789012345678.0}) {
    written.clear();
    append_json_number(written, number);
    EXPECT_EQ(read_json(written)->number, number) << written;
  }
}

TEST(TinyJson, Utf8IsChecked) {
  for (const std::string_view text :
       {"", "a", "ä", "€", "😀", "\xf4\x8f\xbf\xbf", "\xef\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const std::string_view text :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "a\xff", "\xc3\xc3"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

}  // namespace
}  // namespace outlast::sdk
