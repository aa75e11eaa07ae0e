#include "checkpoint/codec.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "checkpoint/planes.h"

namespace outlast::checkpoint {
namespace {
namespace codec_test {

constexpr std::array kAllKinds = {CodecKind::kNone, CodecKind::kZstd, CodecKind::kPlanes2,
                                  CodecKind::kPlanes4, CodecKind::kPlanes8};

Bytes noise(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

// As weights are: of either sign, around zero, with exponents that are alike.
template <typename Float>
Bytes floats(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Float> numbers(count);
  for (Float& number : numbers) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.unit();
    number = static_cast<Float>(sum * 0.02);
  }
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

Bytes of_text(std::string_view text) {
  const BytesView bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

Bytes words(std::size_t size) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < size; ++i) {
    text += "line " + std::to_string(i * i % 97) + " of a log that says much the same\n";
  }
  text.resize(size);
  return of_text(text);
}

Bytes encoded(CodecKind kind, BytesView chunk) {
  Bytes stored;
  const std::size_t count = Codec().encode(kind, chunk, stored);
  EXPECT_EQ(count, stored.size());
  return stored;
}

Result<Bytes> decoded(CodecKind kind, BytesView stored, std::size_t size) {
  static Codec codec;
  Bytes chunk(size, std::byte{0xee});
  if (auto done = codec.decode(kind, stored, chunk); !done) return done.error();
  return chunk;
}

Bytes framed(BytesView content, bool with_size = true) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, with_size ? 1 : 0);
  Bytes frame(ZSTD_compressBound(content.size()));
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), content.data(), content.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

TEST(Codec, WhatWasEncodedIsDecoded) {
  Codec codec;
  for (const std::size_t size : {1, 2, 3, 7, 8, 9, 100, 4095, 65536, 65537, 300'003}) {
    for (const Bytes& chunk : {noise(size, size), Bytes(size), words(size)}) {
      for (const CodecKind kind : kAllKinds) {
        Bytes stored = of_text("before");
        const std::size_t count = codec.encode(kind, chunk, stored);
        ASSERT_EQ(stored.size(), 6 + count);
        ASSERT_EQ(as_text(BytesView(stored).first(6)), "before");
        Bytes back(size);
        const auto done = codec.decode(kind, BytesView(stored).subspan(6), back);
        ASSERT_TRUE(done) << to_string(kind) << size << done.error().to_string();
        ASSERT_EQ(back, chunk) << to_string(kind) << size;
      }
    }
  }
}

TEST(Codec, ZerosAreStoredAsNothing) {
  EXPECT_TRUE(encoded(CodecKind::kZero, Bytes(1000)).empty());
  EXPECT_EQ(*decoded(CodecKind::kZero, {}, 1000), Bytes(1000));
  EXPECT_EQ(decoded(CodecKind::kZero, Bytes(1), 1000).error().code(), ErrorCode::kCorrupt);
}

TEST(Codec, KnowsZerosOfAnyLengthAndPlace) {
  EXPECT_TRUE(is_zero({}));
  Bytes bytes(300);
  EXPECT_TRUE(is_zero(bytes));
  for (std::byte& byte : bytes) {
    byte = std::byte{1};
    EXPECT_FALSE(is_zero(bytes));
    byte = std::byte{0};
  }
}

TEST(Codec, ChoosesWhatMakesItSmaller) {
  Codec codec;
  const std::size_t size = 1U << 20U;
  EXPECT_EQ(codec.choose(Bytes(size), 4), CodecKind::kZero);
  for (const unsigned width : {0U, 1U, 2U, 4U, 8U}) {
    EXPECT_EQ(codec.choose(noise(size, 1), width), CodecKind::kNone) << width;
    EXPECT_EQ(codec.choose(words(size), width), CodecKind::kZstd) << width;
  }
  EXPECT_EQ(codec.choose(floats<float>(size / 4, 2), 4), CodecKind::kPlanes4);
  EXPECT_EQ(codec.choose(floats<float>(size / 4, 3), 0), CodecKind::kPlanes4);
  EXPECT_EQ(codec.choose(floats<double>(size / 8, 4), 8), CodecKind::kPlanes8);
  EXPECT_EQ(codec.choose(noise(1, 5), 4), CodecKind::kNone);
}

TEST(Codec, ShrinksTrainedFloatsAndLeavesTheirNoiseAlone) {
  const Bytes chunk = floats<float>(1U << 18U, 7);
  const std::size_t stored = encoded(CodecKind::kPlanes4, chunk).size();
  EXPECT_LT(stored, chunk.size() * 100 / 117);
  // Three of four planes are as they were.
  EXPECT_GT(stored, chunk.size() * 3 / 4);
}

TEST(Codec, ThePlanesOfSmallNumbersAreStoredInAlmostNothing) {
  Bytes chunk(80'000);
  for (std::size_t i = 0; i < chunk.size(); i += 8) chunk[i] = static_cast<std::byte>(i / 8 % 251);
  EXPECT_LT(encoded(CodecKind::kPlanes8, chunk).size(), chunk.size() / 7);
}

TEST(Codec, HasTheBytesThatTheFormatSays) {
  Bytes chunk;
  for (const int number : {0x03020100, 0x13121110}) {
    for (unsigned i = 0; i < 4; ++i) chunk.push_back(static_cast<std::byte>(number >> (8 * i)));
  }
  chunk.push_back(std::byte{0x77});
  EXPECT_EQ(hex_encode(encoded(CodecKind::kPlanes4, chunk)),
            "02000000020000000200000002000000"  // the length of each plane
            "0010"
            "0111"
            "0212"
            "0313"
            "77");
  EXPECT_EQ(hex_encode(encoded(CodecKind::kPlanes2, BytesView(chunk).first(1))),
            "000000000000000000");
}

TEST(Codec, NothingBesidesTheStoredBytesIsTakenForThem) {
  const Bytes chunk = words(5000);
  for (const CodecKind kind : kAllKinds) {
    Bytes stored = encoded(kind, chunk);
    for (std::size_t size = 0; size < stored.size(); ++size) {
      ASSERT_FALSE(decoded(kind, BytesView(stored).first(size), chunk.size())) << to_string(kind);
    }
    for (const std::size_t size : {0, 1, 4999, 5001, 10000}) {
      EXPECT_FALSE(decoded(kind, stored, size == 0 ? 2500 : size)) << to_string(kind) << size;
    }
    stored.push_back(std::byte{0});
    EXPECT_FALSE(decoded(kind, stored, chunk.size())) << to_string(kind);
  }
}

TEST(Codec, DamagedBytesNeverBreakOut) {
  const Bytes chunk = words(600);
  for (const CodecKind kind : kAllKinds) {
    Bytes stored = encoded(kind, chunk);
    for (std::size_t at = 0; at < stored.size(); ++at) {
      for (const unsigned flip : {1U, 0x80U, 0xffU}) {
        const std::byte before = stored[at];
        stored[at] ^= static_cast<std::byte>(flip);
        (void)decoded(kind, stored,
                      chunk.size());  // an error or other bytes, as long as they are so many
        stored[at] = before;
      }
    }
  }
}

TEST(Codec, OddFramesAreRefused) {
  const Bytes chunk = words(1000);
  EXPECT_TRUE(decoded(CodecKind::kZstd, framed(chunk), 1000));
  EXPECT_FALSE(decoded(CodecKind::kZstd, framed(chunk, false), 1000)) << "does not say its size";
  Bytes two = framed(BytesView(chunk).first(500));
  const Bytes second = framed(BytesView(chunk).subspan(500));
  two.insert(two.end(), second.begin(), second.end());
  EXPECT_FALSE(decoded(CodecKind::kZstd, two, 1000)) << "two frames";
  Bytes skipped = *hex_decode("502a4d1804000000aabbccdd");
  const Bytes whole = framed(chunk);
  skipped.insert(skipped.end(), whole.begin(), whole.end());
  EXPECT_FALSE(decoded(CodecKind::kZstd, skipped, 1000)) << "a frame to be skipped before it";
  EXPECT_FALSE(decoded(CodecKind::kZstd, {}, 1000));
}

TEST(Codec, NamesAreReadAsWhatTheyAreNamesOf) {
  for (const CodecKind kind : kAllKinds) EXPECT_EQ(*parse_codec(to_string(kind)), kind);
  EXPECT_EQ(*parse_codec("zero"), CodecKind::kZero);
  EXPECT_EQ(parse_codec("lzma").error().code(), ErrorCode::kInvalidArgument);
}

TEST(Planes, AreTheBytesOfTheNumbersInOrder) {
  for (const unsigned width : {2U, 4U, 8U}) {
    for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 2047U, 2048U, 2049U, 10'001U}) {
      const Bytes numbers = noise(count * width, count);
      Bytes planes(numbers.size());
      split_planes(width, numbers, planes);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        ASSERT_EQ(planes[i % width * count + i / width], numbers[i]) << width << ' ' << count;
      }
      Bytes back(numbers.size());
      join_planes(width, planes, back);
      ASSERT_EQ(back, numbers);
    }
  }
}

}  // namespace codec_test
}  // namespace
}  // namespace outlast::checkpoint
