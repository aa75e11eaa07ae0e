#include "store/read_verifier.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "store/object_store.h"

namespace outlast::store {
namespace {

const ObjectInfo kObject = {
    .key = "a", .size = 5, .version = "1", .crc32c = crc32c(as_bytes("hello"))};

Result<void> verify(const GetOptions& options, std::initializer_list<std::string_view> pieces,
                    const ObjectInfo& object = kObject) {
  ReadVerifier verifier(options, "get s3://b/a");
  for (const std::string_view piece : pieces) verifier.add(as_bytes(piece));
  return verifier.check(object);
}

TEST(ReadVerifier, TakesWhatWasStoredInWhateverPieces) {
  EXPECT_TRUE(verify({}, {"hello"}));
  EXPECT_TRUE(verify({}, {"h", "ell", "o"}));
  EXPECT_TRUE(verify({}, {}, {.key = "empty", .crc32c = 0}));
  EXPECT_TRUE(verify({}, {"olleh"}, {.key = "no checksum", .size = 5}));
}

TEST(ReadVerifier, FindsAnotherByte) {
  const Result<void> verified = verify({}, {"hell", "0"});
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(verified.error().to_string().find("get s3://b/a: the bytes have the CRC-32C "),
            std::string::npos);
}

TEST(ReadVerifier, AShortReadIsABrokenOneAndALongOneIsCorrupt) {
  EXPECT_EQ(verify({}, {"hell"}).error().code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(verify({}, {"hello", "!"}).error().code(), ErrorCode::kCorrupt);
}

TEST(ReadVerifier, ARangeIsCheckedForItsLengthOnly) {
  const auto range = [](std::uint64_t offset, std::uint64_t length) {
    return GetOptions{.range = ByteRange{.offset = offset, .length = length}};
  };
  EXPECT_TRUE(verify(range(1, 3), {"ell"}));
  EXPECT_TRUE(verify(range(3, 1000), {"lo"}));
  EXPECT_TRUE(verify(range(3, ~std::uint64_t{0}), {"lo"}));
  EXPECT_EQ(verify(range(1, 3), {"el"}).error().code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(verify(range(1, 3), {"ello"}).error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace outlast::store
