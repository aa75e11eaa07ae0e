#include "checkpoint/pack.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "checkpoint/codec.h"

namespace outlast::checkpoint {
namespace {
namespace pack_test {

PackSalt salt(unsigned fill) {
  PackSalt bytes;
  bytes.fill(static_cast<std::byte>(fill));
  return bytes;
}

PackBuilder::Pack small_pack() {
  Codec codec;
  PackBuilder builder(salt(7));
  for (const std::string& text :
       {std::string("a"), std::string("some bytes"), std::string(300, 'x')}) {
    builder.add(sha256(as_bytes(text)), as_bytes(text), CodecKind::kZstd, codec);
  }
  return builder.finish();
}

// The pack under the name that its table has now.
Sha256Digest renamed(BytesView pack, std::size_t table_bytes) {
  return sha256(pack.subspan(pack.size() - 4 - table_bytes, table_bytes));
}

constexpr std::size_t kTableBytes = 40 + 3 * 45;

TEST(Pack, HoldsWhatWasAdded) {
  Codec codec;
  PackBuilder builder(salt(1));
  EXPECT_TRUE(builder.empty());
  const std::string words(5000, 'w');
  const StoredChunk first =
      builder.add(sha256(as_bytes("abc")), as_bytes("abc"), CodecKind::kNone, codec);
  const StoredChunk second =
      builder.add(sha256(as_bytes(words)), as_bytes(words), CodecKind::kZstd, codec);
  EXPECT_EQ(first.offset, 0U);
  EXPECT_EQ(second.offset, 3U);
  EXPECT_LT(second.stored_bytes, 100U);
  EXPECT_EQ(builder.bytes(), 3U + second.stored_bytes);

  const PackBuilder::Pack pack = builder.finish();
  EXPECT_EQ(pack.chunks, (std::vector{first, second}));
  const auto checked = check_pack(pack.name, pack.bytes);
  ASSERT_TRUE(checked) << checked.error().to_string();
  EXPECT_EQ(*checked, pack.chunks);
  Bytes raw(5000);
  const auto stored = BytesView(pack.bytes).subspan(second.offset, second.stored_bytes);
  ASSERT_TRUE(codec.decode(second.codec, stored, raw));
  EXPECT_EQ(as_text(raw), words);
}

TEST(Pack, WhatDoesNotShrinkIsStoredAsItIs) {
  Codec codec;
  PackBuilder builder(salt(1));
  for (const CodecKind kind : {CodecKind::kZstd, CodecKind::kPlanes2, CodecKind::kPlanes8}) {
    const StoredChunk chunk = builder.add(sha256(as_bytes("x")), as_bytes("x"), kind, codec);
    EXPECT_EQ(chunk.codec, CodecKind::kNone);
    EXPECT_EQ(chunk.stored_bytes, 1U);
  }
  const PackBuilder::Pack pack = builder.finish();
  EXPECT_EQ(as_text(BytesView(pack.bytes).first(3)), "xxx");
  EXPECT_TRUE(check_pack(pack.name, pack.bytes));
}

TEST(Pack, TheBuilderStartsOver) {
  Codec codec;
  PackBuilder builder(salt(1));
  builder.add(sha256(as_bytes("a")), as_bytes("a"), CodecKind::kNone, codec);
  PackBuilder::Pack first = builder.finish();
  EXPECT_TRUE(builder.empty());
  EXPECT_EQ(builder.bytes(), 0U);
  const Sha256Digest name = first.name;
  const std::byte* const memory = first.bytes.data();
  builder.reuse(std::move(first));
  EXPECT_EQ(builder.bytes(), 0U);
  builder.add(sha256(as_bytes("b")), as_bytes("b"), CodecKind::kNone, codec);
  const PackBuilder::Pack second = builder.finish();
  EXPECT_NE(second.name, name);
  EXPECT_EQ(second.bytes.data(), memory);
  ASSERT_TRUE(check_pack(second.name, second.bytes));
  EXPECT_EQ(check_pack(second.name, second.bytes)->size(), 1U);
}

TEST(Pack, OfAnotherSaltHasAnotherName) {
  Codec codec;
  std::vector<Sha256Digest> names;
  for (const unsigned fill : {1U, 2U}) {
    PackBuilder builder(salt(fill));
    builder.add(sha256(as_bytes("a")), as_bytes("a"), CodecKind::kNone, codec);
    names.push_back(builder.finish().name);
  }
  EXPECT_NE(names[0], names[1]);
}

TEST(Pack, HasTheBytesThatTheFormatSays) {
  Codec codec;
  PackBuilder builder(salt(0xab));
  builder.add(sha256(as_bytes("a")), as_bytes("a"), CodecKind::kNone, codec);
  const PackBuilder::Pack pack = builder.finish();
  const std::string table =
      "6f75746c617374207061636b0a1a0d0a"                                  // "outlast pack", …
      "01000000"                                                          // format
      "abababababababababababababababab"                                  // salt
      "01000000"                                                          // chunks
      "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"  // SHA-256
      "01000000"                                                          // stored bytes
      "01000000"                                                          // raw bytes
      "3043d0c1"                                                          // CRC-32C
      "00";                                                               // codec
  EXPECT_EQ(hex_encode(pack.bytes), "61" + table + "55000000");
  EXPECT_EQ(pack.name, sha256(*hex_decode(table)));
}

TEST(Pack, EverySingleChangedByteIsNoticed) {
  PackBuilder::Pack pack = small_pack();
  ASSERT_TRUE(check_pack(pack.name, pack.bytes));
  for (std::byte& byte : pack.bytes) {
    const std::byte before = byte;
    for (unsigned value = 0; value < 256; ++value) {
      byte = static_cast<std::byte>(value);
      if (byte == before) continue;
      const auto checked = check_pack(pack.name, pack.bytes);
      ASSERT_FALSE(checked) << "byte " << &byte - pack.bytes.data() << " as " << value;
      ASSERT_EQ(checked.error().code(), ErrorCode::kCorrupt);
    }
    byte = before;
  }
}

TEST(Pack, EveryMissingByteIsNoticed) {
  const PackBuilder::Pack pack = small_pack();
  const BytesView bytes = pack.bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(check_pack(pack.name, bytes.first(size))) << size;
    ASSERT_FALSE(check_pack(pack.name, bytes.last(size))) << size;
  }
  Bytes longer = pack.bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(check_pack(pack.name, longer));
  longer = pack.bytes;
  longer.insert(longer.begin(), std::byte{0});
  EXPECT_FALSE(check_pack(pack.name, longer));
}

// Somebody can make a table that is wrong and name the pack after it.
TEST(Pack, AWrongTableUnderItsOwnNameIsRefused) {
  const PackBuilder::Pack pack = small_pack();
  const std::size_t begin = pack.bytes.size() - 4 - kTableBytes;
  ASSERT_EQ(renamed(pack.bytes, kTableBytes), pack.name);
  const auto is_refused_with = [&](std::size_t at, unsigned char value) {
    Bytes bytes = pack.bytes;
    bytes[begin + at] = std::byte{value};
    const auto checked = check_pack(renamed(bytes, kTableBytes), bytes);
    return !checked && checked.error().code() == ErrorCode::kCorrupt;
  };
  EXPECT_TRUE(is_refused_with(0, 'O'));  // magic
  EXPECT_TRUE(is_refused_with(16, 0));   // format
  EXPECT_FALSE(is_refused_with(20, 9));  // another salt is another pack, and no worse
  EXPECT_TRUE(is_refused_with(36, 2));   // count
  EXPECT_TRUE(is_refused_with(36, 4));
  EXPECT_TRUE(is_refused_with(40 + 32, 2));  // stored bytes
  EXPECT_TRUE(is_refused_with(40 + 32, 0));
  EXPECT_TRUE(is_refused_with(40 + 36, 0));  // raw bytes
  EXPECT_TRUE(is_refused_with(40 + 39, 1));  // more than a chunk can have
  EXPECT_TRUE(is_refused_with(40 + 40, 0));  // CRC-32C
  EXPECT_TRUE(is_refused_with(40 + 44, 1));  // zeros are in no pack
  EXPECT_TRUE(is_refused_with(40 + 44, 2));  // compressed, yet not smaller
  EXPECT_TRUE(is_refused_with(40 + 44, 6));  // no codec
}

TEST(Pack, ANewerFormatIsSaidToBeOne) {
  PackBuilder::Pack pack = small_pack();
  pack.bytes[pack.bytes.size() - 4 - kTableBytes + 16] = std::byte{2};
  const auto checked = check_pack(renamed(pack.bytes, kTableBytes), pack.bytes);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(checked.error().to_string(),
            "the pack has format 2, and this outlast knows formats up to 1: use a newer outlast");
}

}  // namespace pack_test
}  // namespace
}  // namespace outlast::checkpoint
