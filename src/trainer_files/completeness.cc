#include "trainer_files/completeness.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "sys/file_system.h"
#include "trainer_files/zip_end.h"

namespace outlast::trainer_files {
namespace {

constexpr std::size_t kBeginningBytes = 128;  // more than any magic and any HDF5 superblock
constexpr std::uint64_t kHeaderBytesMax = 16U << 20U;
constexpr std::uint64_t kSafetensorsHeaderBytesMax = 100'000'000;  // the format's own limit

constexpr std::string_view kZipMagic = "PK\x03\x04";
constexpr std::string_view kEmptyZipMagic = "PK\x05\x06";
constexpr std::string_view kHdf5Magic = "\x89HDF\r\n\x1a\n";

std::uint64_t number_at(std::string_view bytes, std::size_t offset, std::size_t width) {
  return little_endian(bytes.substr(std::min(offset, bytes.size()), width));
}

Completeness whole(FileFormat format) {
  return {.wholeness = Wholeness::kWhole, .format = format, .why = "is whole"};
}
Completeness torn(FileFormat format, std::string why) {
  return {.wholeness = Wholeness::kTorn, .format = format, .why = std::move(why)};
}
Completeness unknown(FileFormat format, std::string why) {
  return {.wholeness = Wholeness::kUnknown, .format = format, .why = std::move(why)};
}

// As many as there are, up to `count`.
Result<std::string> read_some(const FileBytes& bytes, std::uint64_t offset, std::uint64_t count) {
  if (offset >= bytes.size) return std::string();
  std::string text(static_cast<std::size_t>(std::min(count, bytes.size - offset)), '\0');
  OUTLAST_TRY_ASSIGN(const std::size_t got,
                     bytes.read_at(std::as_writable_bytes(std::span(text)), offset));
  text.resize(std::min(got, text.size()));
  return text;
}

Result<Completeness> check_zip(const FileBytes& bytes) {
  OUTLAST_TRY_ASSIGN(const ZipEnd end,
                     find_zip_end(bytes.size, [&](std::uint64_t offset, std::uint64_t count) {
                       return read_some(bytes, offset, count);
                     }));
  switch (end) {
    case ZipEnd::kFits:
      return whole(FileFormat::kZip);
    case ZipEnd::kMissing:
      return torn(FileFormat::kZip, "has no end record yet");
    case ZipEnd::kShifted:
      return unknown(FileFormat::kZip, "ends as a zip that something else stands before");
  }
  return unknown(FileFormat::kZip, "");
}

// Where the last tensor ends, counted from the end of the header. nullopt if the header is none.
std::optional<std::uint64_t> end_of_tensors(const std::string& header) {
  const auto parsed = parse_json(header);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : parsed->items()) {
    if (name == "__metadata__") continue;
    if (!tensor.is_object() || !tensor.contains("data_offsets")) return std::nullopt;
    const Json& offsets = tensor.at("data_offsets");
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[1].is_number_unsigned()) {
      return std::nullopt;
    }
    end = std::max(end, offsets[1].get<std::uint64_t>());
  }
  return end;
}

Result<Completeness> check_safetensors(const FileBytes& bytes, std::uint64_t header_bytes) {
  constexpr FileFormat kFormat = FileFormat::kSafetensors;
  constexpr std::uint64_t kLengthBytes = 8;
  if (bytes.size - kLengthBytes < header_bytes) return torn(kFormat, "ends in its header");
  if (header_bytes > kHeaderBytesMax) return unknown(kFormat, "has a header too long to look at");
  OUTLAST_TRY_ASSIGN(const std::string header, read_some(bytes, kLengthBytes, header_bytes));
  if (header.size() < header_bytes) return torn(kFormat, "became shorter");
  const auto data_bytes = end_of_tensors(header);
  // It may be written last, into the place that was kept for it.
  if (!data_bytes) return torn(kFormat, "has a header that is not one of safetensors");
  const std::uint64_t there = bytes.size - kLengthBytes - header_bytes;
  if (there < *data_bytes) {
    return torn(kFormat, fmt::format("has {} of {} bytes of tensors", there, *data_bytes));
  }
  if (there > *data_bytes) return torn(kFormat, "is longer than its header says");
  return whole(kFormat);
}

Completeness check_hdf5(std::string_view beginning, std::uint64_t size) {
  constexpr FileFormat kFormat = FileFormat::kHdf5;
  // Offsets in the superblock: version, size of addresses, base address, in each version.
  struct Superblock {
    std::size_t width_at;
    std::size_t base_at;
  };
  constexpr std::array<Superblock, 4> kSuperblocks = {{{13, 24}, {13, 28}, {9, 12}, {9, 12}}};
  constexpr std::size_t kVersionAt = 8;
  constexpr std::size_t kFlagsAt = 11;  // since version 2
  if (beginning.size() <= kVersionAt) return torn(kFormat, "ends in its superblock");
  const std::uint64_t version = number_at(beginning, kVersionAt, 1);
  if (version >= kSuperblocks.size()) {
    return unknown(kFormat, fmt::format("has a superblock of the unknown version {}", version));
  }
  const Superblock& block = kSuperblocks[version];
  const std::uint64_t width = number_at(beginning, block.width_at, 1);
  if (width != 2 && width != 4 && width != 8) {
    return torn(kFormat, "has a superblock that is not written yet");
  }
  // Base address, then one other, then the end of the file.
  if (beginning.size() < block.base_at + 3 * width) return torn(kFormat, "ends in its superblock");
  if (number_at(beginning, block.base_at, width) != 0) {
    return unknown(kFormat, "does not begin at its first byte");
  }
  if (version == 3 && (number_at(beginning, kFlagsAt, 1) & 5U) != 0) {
    return torn(kFormat, "says that somebody is writing it");
  }
  const std::uint64_t end = number_at(beginning, block.base_at + 2 * width, width);
  if (end != size) {
    return torn(kFormat, fmt::format("has {} bytes and says that it has {}", size, end));
  }
  return whole(kFormat);
}

Result<Completeness> check_pickle(const FileBytes& bytes, std::string_view beginning) {
  constexpr FileFormat kFormat = FileFormat::kPickle;
  // What PyTorch wrote before version 1.6: pickles, then the tensors as they are.
  constexpr std::string_view kOldTorch = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  if (beginning.starts_with(kOldTorch)) return unknown(kFormat, "is an old PyTorch file");
  constexpr char kFrame = '\x95';  // since protocol 4, with its length
  constexpr std::size_t kFrameBegin = 11;
  if (beginning.size() >= kFrameBegin && beginning[2] == kFrame &&
      number_at(beginning, 3, 8) > bytes.size - kFrameBegin) {
    return torn(kFormat, "ends in its first frame");
  }
  OUTLAST_TRY_ASSIGN(const std::string last, read_some(bytes, bytes.size - 1, 1));
  if (last != ".") return torn(kFormat, "does not end as a pickle does");
  return unknown(kFormat, "ends as a pickle does");
}

Result<Completeness> check_json(const FileBytes& bytes) {
  constexpr FileFormat kFormat = FileFormat::kJson;
  constexpr std::uint64_t kTailBytes = 64;
  OUTLAST_TRY_ASSIGN(const std::string end,
                     read_some(bytes, bytes.size - std::min(bytes.size, kTailBytes), kTailBytes));
  const std::size_t last = end.find_last_not_of(" \r\n\t");
  if (last == std::string::npos || end[last] != '}') return torn(kFormat, "does not end with '}'");
  return unknown(kFormat, "ends with '}'");
}

// Whether it is the beginning of the beginning of a file with this magic.
bool is_cut_magic(std::string_view beginning, std::string_view magic) {
  return beginning.size() < magic.size() && magic.starts_with(beginning);
}

std::optional<std::uint64_t> safetensors_header_bytes(std::string_view beginning) {
  constexpr std::size_t kLengthBytes = 8;
  if (beginning.size() < kLengthBytes) return std::nullopt;
  const std::uint64_t header_bytes = number_at(beginning, 0, kLengthBytes);
  if (header_bytes < 2 || header_bytes > kSafetensorsHeaderBytesMax) return std::nullopt;
  if (beginning.size() > kLengthBytes && beginning[kLengthBytes] != '{') return std::nullopt;
  return header_bytes;
}

}  // namespace

std::string_view to_string(FileFormat format) {
  switch (format) {
    case FileFormat::kZip:
      return "zip";
    case FileFormat::kSafetensors:
      return "safetensors";
    case FileFormat::kHdf5:
      return "HDF5";
    case FileFormat::kPickle:
      return "pickle";
    case FileFormat::kJson:
      return "JSON";
    case FileFormat::kOther:
      return "another format";
  }
  return "";
}

Result<Completeness> check_bytes(const FileBytes& bytes) {
  if (bytes.size == 0) return unknown(FileFormat::kOther, "is empty");
  OUTLAST_TRY_ASSIGN(const std::string beginning, read_some(bytes, 0, kBeginningBytes));
  if (beginning.size() < std::min<std::uint64_t>(kBeginningBytes, bytes.size)) {
    return torn(FileFormat::kOther, "became shorter");
  }
  if (beginning.starts_with(kZipMagic) || beginning.starts_with(kEmptyZipMagic)) {
    return check_zip(bytes);
  }
  if (beginning.starts_with(kHdf5Magic)) return check_hdf5(beginning, bytes.size);
  if (is_cut_magic(beginning, kZipMagic)) return torn(FileFormat::kZip, "ends in its beginning");
  if (is_cut_magic(beginning, kHdf5Magic)) return torn(FileFormat::kHdf5, "ends in its beginning");
  if (const auto header_bytes = safetensors_header_bytes(beginning)) {
    return check_safetensors(bytes, *header_bytes);
  }
  if (beginning[0] == '\x80' && beginning.size() > 1 && beginning[1] >= 2 && beginning[1] <= 5) {
    return check_pickle(bytes, beginning);
  }
  const std::size_t next = beginning.find_first_not_of(" \r\n\t", 1);
  if (beginning[0] == '{' && (next == std::string::npos || beginning[next] == '"' ||
                              beginning[next] == '}' || beginning[next] == 'L')) {
    return check_json(bytes);
  }
  return unknown(FileFormat::kOther, "has a format that does not say where it ends");
}

Result<Completeness> check_file(sys::FileSystem& files, const std::string& path) {
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::File> file, files.open(path, sys::OpenMode::kRead));
  OUTLAST_TRY_ASSIGN(const std::uint64_t size, file->size());
  return check_bytes(
      {.size = size, .read_at = [&](std::span<std::byte> buffer, std::uint64_t offset) {
         return file->read_at(buffer, offset);
       }});
}

}  // namespace outlast::trainer_files
