#include "base/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace outlast {
namespace {

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(ParseJson, ReadsOneDocument) {
  const Json value = parse_json(R"( {"a": [1, -2, 2.5, "x", true, null]} )").value();
  EXPECT_EQ(canonical_json(value), R"({"a":[1,-2,2.5,"x",true,null]})");
}

TEST(ParseJson, RefusesWhatIsNotJson) {
  for (const std::string_view text :
       {"", " ", "{", "[1,]", "{\"a\" 1}", "1 2", "{} x", "nul", "'a'", "01", "+1", "NaN",
        "\"\x01\"", "\"\\ud800\"", "\"\xff\"", "/* c */ 1", "1e999"}) {
    const auto value = parse_json(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code(), ErrorCode::kCorrupt) << text;
  }
}

TEST(ParseJson, SaysWhereItWentWrong) {
  EXPECT_EQ(parse_json("{\"a\": ?}").error().to_string(), "not JSON at byte 7");
}

TEST(ParseJson, AllowsExactlyTheDepthOfTheLimit) {
  EXPECT_TRUE(parse_json(nested(3), {.depth_max = 3}));
  const auto too_deep = parse_json(nested(4), {.depth_max = 3});
  ASSERT_FALSE(too_deep);
  EXPECT_EQ(too_deep.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(too_deep.error().to_string(), "JSON is nested more than 3 deep");
  EXPECT_TRUE(parse_json(R"({"a":{"b":{"c":1}}})", {.depth_max = 3}));
  EXPECT_FALSE(parse_json(R"({"a":{"b":{"c":{}}}})", {.depth_max = 3}));
}

TEST(ParseJson, SurvivesAMillionBrackets) {
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
  EXPECT_FALSE(parse_json(nested(1'000'000)));
}

TEST(ParseJson, RefusesMoreBytesThanTheLimit) {
  EXPECT_TRUE(parse_json("[10]", {.bytes_max = 4}));
  const auto too_long = parse_json("[100]", {.bytes_max = 4});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(too_long.error().to_string(), "JSON of 5 bytes is over the limit of 4");
}

TEST(ParseJson, RefusesDuplicateKeysAtAnyDepth) {
  for (const std::string_view text : {R"({"a":1,"a":1})", R"([{"b":{"a":1,"c":2,"a":3}}])",
                                      R"({"a":{"x":1},"b":2,"a":3})", R"({"a":1,"\u0061":2})"}) {
    const auto value = parse_json(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code(), ErrorCode::kCorrupt);
    EXPECT_EQ(value.error().to_string(), "JSON key 'a' appears twice");
  }
}

TEST(ParseJson, AllowsTheSameKeyInDifferentObjects) {
  EXPECT_TRUE(parse_json(R"({"a":{"a":1},"b":{"a":2},"c":[{"a":3},{"a":4}]})"));
}

TEST(CanonicalJson, SortsKeysAndLeavesNoSpace) {
  EXPECT_EQ(canonical_json(parse_json(R"({ "b" : 1, "a" : { "d" : 2, "c" : [ ] } })").value()),
            R"({"a":{"c":[],"d":2},"b":1})");
}

TEST(CanonicalJson, KeepsTheExtremesOfNumbers) {
  const std::string text = R"([9223372036854775807,-9223372036854775808,18446744073709551615,0.1])";
  EXPECT_EQ(canonical_json(parse_json(text).value()), text);
}

TEST(CanonicalJson, KeepsUtf8AndReplacesOtherBytes) {
  EXPECT_EQ(canonical_json(Json("Zürich")), "\"Zürich\"");
  EXPECT_EQ(canonical_json(Json("a\xff\xc3z")), "\"a\xef\xbf\xbd\xef\xbf\xbdz\"");
}

TEST(CanonicalJson, EscapesControlCharacters) {
  EXPECT_EQ(canonical_json(Json(std::string("\0\n\x1b\"\\", 5))), R"("\u0000\n\u001b\"\\")");
}

TEST(PrettyJson, IndentsByTwo) {
  EXPECT_EQ(pretty_json(Json{{"b", {1}}, {"a", 2}}), "{\n  \"a\": 2,\n  \"b\": [\n    1\n  ]\n}");
}

class JsonMembers : public testing::Test {
 protected:
  const Json object_ = parse_json(R"({"text": "x", "small": -5, "large": 18446744073709551615,
                                      "real": 2.5, "flag": false, "null": null})")
                           .value();
};

TEST_F(JsonMembers, AreTakenByType) {
  EXPECT_EQ(json_string(object_, "text").value(), "x");
  EXPECT_EQ(json_int(object_, "small").value(), -5);
  EXPECT_EQ(json_uint(object_, "large").value(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json_number(object_, "real").value(), 2.5);
  EXPECT_EQ(json_number(object_, "small").value(), -5.0);
  EXPECT_FALSE(json_bool(object_, "flag").value());
}

TEST_F(JsonMembers, AreRefusedWithTheKeyWhenMissingOrOfAnotherType) {
  EXPECT_EQ(json_string(object_, "none").error().to_string(), "'none' must be a string");
  EXPECT_EQ(json_string(object_, "null").error().to_string(), "'null' must be a string");
  EXPECT_EQ(json_int(object_, "real").error().to_string(), "'real' must be a whole number");
  EXPECT_EQ(json_int(object_, "large").error().to_string(),
            "'large' must be a whole number below 2^63");
  EXPECT_EQ(json_uint(object_, "small").error().to_string(),
            "'small' must be a whole number, not negative");
  EXPECT_EQ(json_number(object_, "text").error().to_string(), "'text' must be a number");
  EXPECT_EQ(json_bool(object_, "small").error().to_string(), "'small' must be true or false");
  EXPECT_EQ(json_string(object_, "none").error().code(), ErrorCode::kCorrupt);
}

TEST_F(JsonMembers, OfSomethingElseThanAnObjectAreMissing) {
  EXPECT_EQ(json_string(Json("text"), "a").error().code(), ErrorCode::kCorrupt);
  EXPECT_FALSE(json_int(Json::array({1}), "0"));
  EXPECT_FALSE(json_bool(Json(), "a"));
}

// Code puts ints into JSON; they must read back as well as parsed ones.
TEST_F(JsonMembers, MayHaveBeenPutInAsSignedNumbers) {
  const Json object = {{"n", 5}, {"minus", -5}};
  EXPECT_EQ(json_uint(object, "n").value(), 5U);
  EXPECT_FALSE(json_uint(object, "minus"));
}

}  // namespace
}  // namespace outlast
