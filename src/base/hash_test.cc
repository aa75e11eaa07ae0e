#include "base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"

namespace outlast {
namespace {

constexpr std::string_view kSha256OfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view kSha256OfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::string sha256_hex(std::string_view text) {
  return sha256(as_bytes(text)).hex();
}

// FIPS 180-4 examples.
TEST(Sha256, MatchesPublishedDigests) {
  EXPECT_EQ(sha256_hex(""), kSha256OfNothing);
  EXPECT_EQ(sha256_hex("abc"), kSha256OfAbc);
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesHashLikeTheWhole) {
  const std::string text(1000, 'x');
  for (const std::size_t size : {1U, 63U, 64U, 65U, 999U}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += size) {
      hash.update(as_bytes(std::string_view(text).substr(at, size)));
    }
    EXPECT_EQ(hash.finish(), sha256(as_bytes(text))) << size;
  }
}

TEST(Sha256, FinishStartsOver) {
  Sha256 hash;
  hash.update(as_bytes("something else"));
  (void)hash.finish();
  hash.update(as_bytes("abc"));
  EXPECT_EQ(hash.finish().hex(), kSha256OfAbc);
  EXPECT_EQ(hash.finish().hex(), kSha256OfNothing);
}

TEST(Sha256, MovesInTheMiddleOfAMessage) {
  Sha256 first;
  first.update(as_bytes("ab"));
  Sha256 second = std::move(first);
  second.update(as_bytes("c"));
  EXPECT_EQ(second.finish().hex(), kSha256OfAbc);
}

TEST(Sha256Digest, ParsesItsOwnHex) {
  const Sha256Digest digest = sha256(as_bytes("abc"));
  EXPECT_EQ(parse_sha256(digest.hex()).value(), digest);
}

TEST(Sha256Digest, RefusesOtherLengthsAndCharacters) {
  std::string bad_digit(kSha256OfAbc);
  bad_digit.back() = 'x';
  const std::string too_long = std::string(kSha256OfAbc) + "00";
  for (const std::string_view hex :
       {std::string_view(), kSha256OfAbc.substr(1), kSha256OfAbc.substr(2),
        std::string_view(too_long), std::string_view(bad_digit)}) {
    const auto digest = parse_sha256(hex);
    ASSERT_FALSE(digest) << hex;
    EXPECT_EQ(digest.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(Sha256Digest, OrdersLikeItsHex) {
  const auto a = parse_sha256(kSha256OfAbc).value();
  const auto b = parse_sha256(kSha256OfNothing).value();
  EXPECT_LT(a, b);
  EXPECT_NE(a, b);
}

// RFC 4231, cases 1, 2 and 6 (a key longer than a block).
TEST(HmacSha256, MatchesPublishedValues) {
  EXPECT_EQ(hmac_sha256(as_bytes(std::string(20, '\x0b')), as_bytes("Hi There")).hex(),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac_sha256(as_bytes("Jefe"), as_bytes("what do ya want for nothing?")).hex(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_sha256(as_bytes(std::string(131, '\xaa')),
                        as_bytes("Test Using Larger Than Block-Size Key - Hash Key First"))
                .hex(),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

// RFC 1321, A.5.
TEST(Md5, OfAStreamIsThatOfTheWhole) {
  Md5 hash;
  hash.update(as_bytes("message "));
  hash.update({});
  hash.update(as_bytes("digest"));
  EXPECT_EQ(hash.finish(), md5(as_bytes("message digest")));
}

TEST(Md5, MatchesPublishedValues) {
  EXPECT_EQ(hex_encode(md5({})), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex_encode(md5(as_bytes("message digest"))), "f96b697d7cb7938d525a2f31aaf161d0");
}

// RFC 3720, appendix B.4, and the check value of the CRC catalogues.
TEST(Crc32c, MatchesPublishedValues) {
  std::string rising;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i);
  std::string falling = rising;
  std::reverse(falling.begin(), falling.end());
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(as_bytes(std::string(32, '\0'))), 0x8a9136aaU);
  EXPECT_EQ(crc32c(as_bytes(std::string(32, '\xff'))), 0x62a8ab43U);
  EXPECT_EQ(crc32c(as_bytes(rising)), 0x46dd794eU);
  EXPECT_EQ(crc32c(as_bytes(falling)), 0x113fdb5cU);
  EXPECT_EQ(crc32c({}), 0U);
}

// At every split and alignment: the library switches methods by length and address.
TEST(Crc32c, GoesOnWhereItStopped) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += static_cast<char>(i * 7);
  const BytesView bytes = as_bytes(text);
  const std::uint32_t whole = crc32c(bytes);
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    ASSERT_EQ(crc32c(bytes.subspan(at), crc32c(bytes.first(at))), whole) << at;
  }
}

TEST(Crc32, MatchesPublishedValuesAndGoesOnWhereItStopped) {
  EXPECT_EQ(crc32(as_bytes("123456789")), 0xcbf43926U);
  EXPECT_EQ(crc32(as_bytes("a")), 0xe8b7be43U);
  EXPECT_EQ(crc32({}), 0U);
  const std::string text(700, 'x');
  const BytesView bytes = as_bytes(text);
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    ASSERT_EQ(crc32(bytes.subspan(at), crc32(bytes.first(at))), crc32(bytes)) << at;
  }
}

TEST(Crc32c, JoinsParts) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += static_cast<char>(i * 31);
  const BytesView bytes = as_bytes(text);
  const std::uint32_t whole = crc32c(bytes);
  for (std::size_t at = 0; at <= bytes.size(); at += 7) {
    const BytesView rest = bytes.subspan(at);
    ASSERT_EQ(crc32c_joined(crc32c(bytes.first(at)), crc32c(rest), rest.size()), whole) << at;
  }
}

}  // namespace
}  // namespace outlast
