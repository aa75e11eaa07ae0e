#include "base/encoding.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace outlast {
namespace {

Bytes to_bytes(const std::vector<unsigned char>& values) {
  const BytesView view = std::as_bytes(std::span(values));
  return {view.begin(), view.end()};
}

TEST(Hex, EncodesEveryByteInLowerCase) {
  EXPECT_EQ(hex_encode({}), "");
  EXPECT_EQ(hex_encode(to_bytes({0x00, 0x0f, 0xf0, 0xab, 0xff})), "000ff0abff");
}

TEST(Hex, DecodesEitherCase) {
  EXPECT_EQ(hex_decode("").value(), Bytes{});
  EXPECT_EQ(hex_decode("00aBFf").value(), to_bytes({0x00, 0xab, 0xff}));
}

TEST(Hex, RefusesOddLengthAndOtherCharacters) {
  for (const std::string_view text : {"0", "abc", "0g", "g0", " 0", "0x10", "\xff\xff"}) {
    const auto bytes = hex_decode(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().code(), ErrorCode::kInvalidArgument);
  }
}

// RFC 4648, section 10.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kRfc4648 = {{
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
}};

TEST(Base64, MatchesRfc4648) {
  for (const auto& [plain, encoded] : kRfc4648) {
    EXPECT_EQ(base64_encode(as_bytes(plain)), encoded);
    EXPECT_EQ(as_text(base64_decode(encoded).value()), plain);
  }
}

TEST(Base64, UrlVariantHasNoPadding) {
  for (const auto& [plain, encoded] : kRfc4648) {
    const std::string_view unpadded = encoded.substr(0, encoded.find('='));
    EXPECT_EQ(base64_encode(as_bytes(plain), Base64::kUrl), unpadded);
    EXPECT_EQ(as_text(base64_decode(unpadded, Base64::kUrl).value()), plain);
  }
}

TEST(Base64, VariantsDifferInTheLastTwoDigits) {
  const Bytes bytes = to_bytes({0xfb, 0xff, 0xbf});
  EXPECT_EQ(base64_encode(bytes), "+/+/");
  EXPECT_EQ(base64_encode(bytes, Base64::kUrl), "-_-_");
  EXPECT_FALSE(base64_decode("-_-_"));
  EXPECT_FALSE(base64_decode("+/+/", Base64::kUrl));
}

TEST(Base64, RefusesWhatIsNotTheOneTextOfSomeBytes) {
  for (const std::string_view text :
       {"Z", "Zg", "Zg=", "Zm8", "Z===", "====", "=", "Zg==Zg==", "Zm=v", "Zh==", "Zm9=", "Zm9v\n",
        "Zm 9v===", "Zm9\xff", "Zm9vYmFy===="}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
  for (const std::string_view text : {"Z", "Zg==", "Zh", "Zm9", "Zm9vY"}) {
    EXPECT_FALSE(base64_decode(text, Base64::kUrl)) << text;
  }
}

RC_GTEST_PROP(HexProperty, DecodesWhatItEncoded, (const std::vector<unsigned char>& values)) {
  const Bytes bytes = to_bytes(values);
  RC_ASSERT(hex_decode(hex_encode(bytes)).value() == bytes);
}

RC_GTEST_PROP(Base64Property, DecodesWhatItEncoded,
              (const std::vector<unsigned char>& values, bool url)) {
  const Base64 variant = url ? Base64::kUrl : Base64::kStandard;
  const Bytes bytes = to_bytes(values);
  RC_ASSERT(base64_decode(base64_encode(bytes, variant), variant).value() == bytes);
}

// No two texts for the same bytes: whatever is accepted is what would have been written.
RC_GTEST_PROP(Base64Property, AcceptsOnlyWhatItWouldWrite, (bool url)) {
  const Base64 variant = url ? Base64::kUrl : Base64::kStandard;
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("AZaz09+/-_=")));
  if (const auto bytes = base64_decode(text, variant)) {
    RC_ASSERT(base64_encode(*bytes, variant) == text);
  }
}

}  // namespace
}  // namespace outlast
