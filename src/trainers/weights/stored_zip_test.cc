#include "trainers/weights/stored_zip.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "trainers/weights/testing/made_weights.h"

namespace outlast::trainers::testing {
namespace {
namespace stored_zip_test {

Bytes two_entries() {
  return zip_of({{.name = "a/one", .content = as_bytes("first")},
                 {.name = "a/two", .content = as_bytes("")}});
}

// The place of a record that begins with "PK" and these two bytes.
std::size_t record(const Bytes& file, std::string_view kind) {
  return as_text(file).rfind(std::string("PK").append(kind));
}

std::string zip_refusal(const Bytes& file) {
  const auto read = read_stored_zip(file);
  return read ? "accepted" : read.error().to_string();
}

TEST(StoredZip, WhatIsWrittenIsReadAndAligned) {
  const Bytes file = two_entries();
  const auto entries = read_stored_zip(file);
  ASSERT_TRUE(entries) << entries.error().to_string();
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ(as_text(entries->at("a/one")), "first");
  EXPECT_EQ(as_text(entries->at("a/two")), "");
  EXPECT_EQ((entries->at("a/one").data() - file.data()) % 64, 0);
}

TEST(StoredZip, ACommentAtTheEndIsPassedOver) {
  Bytes file = two_entries();
  file[file.size() - 2] = std::byte{3};
  for (const char letter : {'a', 'b', 'c'}) file.push_back(static_cast<std::byte>(letter));
  EXPECT_TRUE(read_stored_zip(file));
}

TEST(StoredZip, MoreEntriesThanTheOldFormatCountsAreRead) {
  std::vector<ZipEntry> many(65'600);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].name = std::to_string(i);
  const Bytes file = zip_of(many);
  const auto entries = read_stored_zip(file);
  ASSERT_TRUE(entries) << entries.error().to_string();
  EXPECT_EQ(entries->size(), many.size());
}

TEST(StoredZip, AFileThatWasCutShortSaysSo) {
  Bytes file = two_entries();
  file.pop_back();
  EXPECT_EQ(zip_refusal(file),
            "it is not a sound zip file: its 251 bytes do not end with the record that ends a zip "
            "file: it was cut short");
}

TEST(StoredZip, CompressedAndEncryptedEntriesAreRefusedByName) {
  Bytes file = two_entries();
  const std::size_t central = record(file, "\x01\x02");
  file[central + 10] = std::byte{8};
  EXPECT_EQ(zip_refusal(file),
            "it is not a sound zip file: entry \"a/two\" is compressed, and only stored ones are "
            "expected: save it again with torch.save");
  file[central + 8] = std::byte{1};
  EXPECT_EQ(zip_refusal(file), "it is not a sound zip file: entry \"a/two\" is encrypted");
}

TEST(StoredZip, AChangedByteIsNoticedByTheChecksum) {
  Bytes file = two_entries();
  file[64] ^= std::byte{1};
  EXPECT_EQ(zip_refusal(file),
            "it is not a sound zip file: entry \"a/one\" at byte 64 does not have the checksum "
            "that it had when it was written");
  // PyTorch can be told to sum nothing, and writes 0 then.
  const std::size_t central = as_text(file).find("PK\x01\x02");
  for (std::size_t i = 0; i < 4; ++i) file[central + 16 + i] = std::byte{0};
  EXPECT_TRUE(read_stored_zip(file));
}

TEST(StoredZip, EntriesThatOverlapOrShareANameAreRefused) {
  Bytes file = two_entries();
  const std::size_t central = record(file, "\x01\x02");
  for (std::size_t i = 0; i < 4; ++i) file[central + 42 + i] = std::byte{0};
  EXPECT_EQ(zip_refusal(file),
            "it is not a sound zip file: entry \"a/two\" overlaps the one before it at byte 0");
  EXPECT_EQ(zip_refusal(zip_of({{.name = "a"}, {.name = "a"}})),
            "it is not a sound zip file: two entries are called \"a\"");
}

}  // namespace stored_zip_test
}  // namespace
}  // namespace outlast::trainers::testing
