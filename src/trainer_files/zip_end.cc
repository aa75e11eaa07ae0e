#include "trainer_files/zip_end.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace outlast::trainer_files {
namespace {

constexpr std::string_view kEntry = "PK\x01\x02";  // of the directory
constexpr std::string_view kEnd = "PK\x05\x06";
constexpr std::string_view kEnd64 = "PK\x06\x06";
constexpr std::string_view kLocator64 = "PK\x06\x07";  // where kEnd64 is
constexpr std::uint64_t kEntryBytes = 46;              // at least
constexpr std::uint64_t kEndBytes = 22;                // and a comment
constexpr std::uint64_t kEnd64Bytes = 56;              // at least
constexpr std::uint64_t kLocator64Bytes = 20;
constexpr std::uint64_t kCommentBytesMax = 0xFFFF;

struct ZipDirectory {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // where the next record begins, so where the directory has to end
};

// Where the end record begins: the one whose comment is as long as what follows it.
Result<std::optional<std::uint64_t>> find_end(std::uint64_t size, const ReadZip& read) {
  // Hardly any has a comment: so a look at where it is without one spares the long read.
  for (const std::uint64_t tail_bytes : {kEndBytes, kEndBytes + kCommentBytesMax}) {
    const std::uint64_t begin = size - std::min(size, tail_bytes);
    OUTLAST_TRY_ASSIGN(const std::string tail, read(begin, size - begin));
    if (tail.size() != size - begin) return std::optional<std::uint64_t>();  // became shorter
    for (std::size_t at = tail.rfind(kEnd); at != std::string::npos;
         at = at == 0 ? std::string::npos : tail.rfind(kEnd, at - 1)) {
      const std::string_view record = std::string_view(tail).substr(at);
      if (record.size() >= kEndBytes &&
          record.size() == kEndBytes + little_endian(record.substr(kEndBytes - 2, 2))) {
        return std::optional<std::uint64_t>(begin + at);
      }
    }
  }
  return std::optional<std::uint64_t>();
}

ZipDirectory directory_of(std::string_view record, std::uint64_t at) {
  return {.entries = little_endian(record.substr(10, 2)),
          .bytes = little_endian(record.substr(12, 4)),
          .begin = little_endian(record.substr(16, 4)),
          .end = at};
}

// As the larger record has it, if there is one before the end record. PyTorch writes one always.
Result<std::optional<ZipDirectory>> find_directory64(std::uint64_t end_at, const ReadZip& read) {
  if (end_at < kLocator64Bytes + kEnd64Bytes) return std::optional<ZipDirectory>();
  const std::uint64_t locator_at = end_at - kLocator64Bytes;
  OUTLAST_TRY_ASSIGN(const std::string locator, read(locator_at, kLocator64Bytes));
  if (locator.size() != kLocator64Bytes || !locator.starts_with(kLocator64)) {
    return std::optional<ZipDirectory>();
  }
  const std::uint64_t at = little_endian(std::string_view(locator).substr(8, 8));
  if (at > locator_at - kEnd64Bytes) return std::optional<ZipDirectory>();
  OUTLAST_TRY_ASSIGN(const std::string text, read(at, kEnd64Bytes));
  const std::string_view record = text;
  // Its own length leaves out the first twelve bytes.
  if (record.size() != kEnd64Bytes || !record.starts_with(kEnd64) ||
      little_endian(record.substr(4, 8)) != locator_at - at - 12) {
    return std::optional<ZipDirectory>();
  }
  return std::optional(ZipDirectory{.entries = little_endian(record.substr(32, 8)),
                                    .bytes = little_endian(record.substr(40, 8)),
                                    .begin = little_endian(record.substr(48, 8)),
                                    .end = at});
}

bool fits(const ZipDirectory& directory) {
  return directory.begin <= directory.end && directory.bytes == directory.end - directory.begin &&
         directory.entries <= directory.bytes / kEntryBytes;
}

}  // namespace

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size() && i < sizeof number; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return number;
}

Result<ZipEnd> find_zip_end(std::uint64_t size, const ReadZip& read) {
  OUTLAST_TRY_ASSIGN(const std::optional<std::uint64_t> end_at, find_end(size, read));
  if (!end_at) return ZipEnd::kMissing;
  OUTLAST_TRY_ASSIGN(const std::string record, read(*end_at, kEndBytes));
  if (record.size() != kEndBytes) return ZipEnd::kMissing;  // became shorter
  OUTLAST_TRY_ASSIGN(const std::optional<ZipDirectory> large, find_directory64(*end_at, read));
  const ZipDirectory directory = large ? *large : directory_of(record, *end_at);
  if (!fits(directory)) return ZipEnd::kShifted;
  if (directory.entries == 0) return ZipEnd::kFits;
  OUTLAST_TRY_ASSIGN(const std::string first, read(directory.begin, kEntry.size()));
  return first == kEntry ? ZipEnd::kFits : ZipEnd::kShifted;
}

}  // namespace outlast::trainer_files
