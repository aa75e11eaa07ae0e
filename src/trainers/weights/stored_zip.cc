#include "trainers/weights/stored_zip.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "trainers/weights/weight_error.h"

namespace outlast::trainers {
namespace {

// Signatures and sizes of the format's records. Numbers that do not fit have all bits set, and
// stand in a record or an extra field of their own ("zip64").
constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kEnd64Locator = 0x07064b50;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kCentralBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::size_t kCommentMax = 0xffff;
constexpr std::uint64_t kNarrow = 0xffffffff;
constexpr std::uint64_t kNarrowCount = 0xffff;
constexpr std::uint16_t kExtra64 = 1;
constexpr std::uint64_t kPlain = 0x0800;  // the only flag: names are UTF-8
constexpr std::uint64_t kEncrypted = 1;

template <std::size_t Count>
std::uint64_t number_at(BytesView bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < Count; ++i) {
    number |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  }
  return number;
}

Error bad_zip(std::string_view what) {
  return bad_weights(fmt::format("it is not a sound zip file: {}", what));
}

struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t entries = 0;
};

// The last place where an end record fits its comment.
std::optional<std::size_t> find_end(BytesView file) {
  if (file.size() < kEndBytes) return std::nullopt;
  const std::size_t last = file.size() - kEndBytes;
  for (std::size_t at = last + 1; at-- > last - std::min(last, kCommentMax);) {
    if (number_at<4>(file, at) == kEnd && number_at<2>(file, at + 20) == last - at) return at;
  }
  return std::nullopt;
}

Result<Directory> find_directory(BytesView file) {
  const auto end = find_end(file);
  if (!end) {
    return bad_zip(fmt::format(
        "its {} bytes do not end with the record that ends a zip file: it was cut short",
        file.size()));
  }
  Directory directory = {.begin = number_at<4>(file, *end + 16),
                         .entries = number_at<2>(file, *end + 10)};
  std::uint64_t bytes = number_at<4>(file, *end + 12);
  std::size_t ends_at = *end;
  if (*end >= kLocatorBytes && number_at<4>(file, *end - kLocatorBytes) == kEnd64Locator) {
    const std::uint64_t at = number_at<8>(file, *end - kLocatorBytes + 8);
    if (at > *end - kLocatorBytes || *end - kLocatorBytes - at < kEnd64Bytes ||
        number_at<4>(file, at) != kEnd64) {
      return bad_zip(fmt::format("no zip64 record at byte {}, where one is expected", at));
    }
    directory.begin = number_at<8>(file, at + 48);
    directory.entries = number_at<8>(file, at + 32);
    bytes = number_at<8>(file, at + 40);
    ends_at = at;
  }
  if (directory.begin > ends_at || bytes > ends_at - directory.begin) {
    return bad_zip(fmt::format(
        "its directory of {} bytes at byte {} does not lie before its end record at byte {}", bytes,
        directory.begin, ends_at));
  }
  directory.end = directory.begin + bytes;
  return directory;
}

struct FoundEntry {
  std::string_view name = {};
  std::uint64_t header = 0;  // where the local one is
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
};

// The extra field says those numbers, in this order, that did not fit.
struct WideNumbers {
  std::uint64_t bytes = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t header = 0;
};
Result<void> widen(BytesView extra, WideNumbers& numbers) {
  while (extra.size() >= 4) {
    const std::uint64_t kind = number_at<2>(extra, 0);
    const std::uint64_t bytes = number_at<2>(extra, 2);
    if (bytes > extra.size() - 4) break;
    BytesView field = extra.subspan(4, bytes);
    extra = extra.subspan(4 + bytes);
    if (kind != kExtra64) continue;
    for (std::uint64_t* number : {&numbers.bytes, &numbers.packed_bytes, &numbers.header}) {
      if (*number != kNarrow) continue;
      if (field.size() < 8) return bad_zip("an entry does not say its size");
      *number = number_at<8>(field, 0);
      field = field.subspan(8);
    }
    return {};
  }
  return {};
}

// The entry at `at` of the directory, which is moved behind it.
Result<FoundEntry> read_entry(BytesView file, const Directory& directory, std::uint64_t& at) {
  if (directory.end - at < kCentralBytes || number_at<4>(file, at) != kCentralHeader) {
    return bad_zip(fmt::format("no entry of its directory at byte {}", at));
  }
  const std::uint64_t name_bytes = number_at<2>(file, at + 28);
  const std::uint64_t extra_bytes = number_at<2>(file, at + 30);
  const std::uint64_t all = kCentralBytes + name_bytes + extra_bytes + number_at<2>(file, at + 32);
  if (all > directory.end - at) {
    return bad_zip(fmt::format("the entry at byte {} is longer than its directory", at));
  }
  FoundEntry entry = {.name = as_text(file.subspan(at + kCentralBytes, name_bytes)),
                      .crc = static_cast<std::uint32_t>(number_at<4>(file, at + 16))};
  const auto wrong = [&](std::string_view what) {
    return bad_zip(fmt::format("entry {} {}", shown_name(entry.name), what));
  };
  WideNumbers numbers = {.bytes = number_at<4>(file, at + 24),
                         .packed_bytes = number_at<4>(file, at + 20),
                         .header = number_at<4>(file, at + 42)};
  OUTLAST_TRY(widen(file.subspan(at + kCentralBytes + name_bytes, extra_bytes), numbers));
  entry.bytes = numbers.bytes;
  entry.header = numbers.header;
  if ((number_at<2>(file, at + 8) & kEncrypted) != 0) return wrong("is encrypted");
  if (number_at<2>(file, at + 10) != 0 || numbers.packed_bytes != entry.bytes) {
    return wrong("is compressed, and only stored ones are expected: save it again with torch.save");
  }
  if (entry.header > directory.begin || directory.begin - entry.header < kLocalBytes ||
      number_at<4>(file, entry.header) != kLocalHeader) {
    return wrong(fmt::format("does not begin at byte {}, as its directory says", entry.header));
  }
  entry.begin = entry.header + kLocalBytes + number_at<2>(file, entry.header + 26) +
                number_at<2>(file, entry.header + 28);
  if (entry.begin > directory.begin || entry.bytes > directory.begin - entry.begin) {
    return wrong(fmt::format("has {} bytes at byte {}, and its directory begins at byte {}",
                             entry.bytes, entry.begin, directory.begin));
  }
  at += all;
  return entry;
}

template <std::size_t Count>
void put(Bytes& out, std::uint64_t number) {
  for (std::size_t i = 0; i < Count; ++i) out.push_back(static_cast<std::byte>(number >> (8 * i)));
}

void put_text(Bytes& out, std::string_view text) {
  const BytesView bytes = as_bytes(text);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// What both headers of an entry have in common, from the version that is needed on.
void put_facts(Bytes& out, const ZipEntry& entry, std::uint32_t crc, bool wide) {
  const std::uint64_t bytes = wide ? kNarrow : entry.content.size();
  put<2>(out, wide ? 45 : 20);
  put<2>(out, kPlain);
  put<2>(out, 0);       // stored
  put<2>(out, 0);       // time
  put<2>(out, 0x0021);  // date: the first there is, 1 January 1980
  put<4>(out, crc);
  put<4>(out, bytes);
  put<4>(out, bytes);
  put<2>(out, entry.name.size());
}

}  // namespace

Result<std::map<std::string_view, BytesView>> read_stored_zip(BytesView file) {
  OUTLAST_TRY_ASSIGN(const Directory directory, find_directory(file));
  std::vector<FoundEntry> entries;
  std::uint64_t at = directory.begin;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    OUTLAST_TRY_ASSIGN(const FoundEntry entry, read_entry(file, directory, at));
    entries.push_back(entry);
  }
  // So that each byte is looked at once, however many entries claim it.
  std::ranges::sort(entries, {}, &FoundEntry::header);
  std::map<std::string_view, BytesView> contents;
  std::uint64_t end = 0;
  for (const FoundEntry& entry : entries) {
    if (entry.header < end) {
      return bad_zip(fmt::format("entry {} overlaps the one before it at byte {}",
                                 shown_name(entry.name), entry.header));
    }
    end = entry.begin + entry.bytes;
    const BytesView content = file.subspan(entry.begin, entry.bytes);
    if (entry.crc != 0 && crc32(content) != entry.crc) {
      return bad_zip(
          fmt::format("entry {} at byte {} does not have the checksum that it had when "
                      "it was written",
                      shown_name(entry.name), entry.begin));
    }
    if (!contents.emplace(entry.name, content).second) {
      return bad_zip(fmt::format("two entries are called {}", shown_name(entry.name)));
    }
  }
  return contents;
}

ZipPlan plan_stored_zip(const std::vector<ZipEntry>& entries) {
  ZipPlan plan;
  Bytes directory;
  std::uint64_t at = 0;
  for (const ZipEntry& entry : entries) {
    const std::uint64_t size = entry.content.size();
    const bool wide = size >= kNarrow;
    const bool far = at >= kNarrow;
    const std::uint32_t crc = crc32(entry.content);

    Bytes header;
    put<4>(header, kLocalHeader);
    put_facts(header, entry, crc, wide);
    const std::size_t wide_bytes = wide ? 20 : 0;
    // A field of our own, which readers pass over, fills up to the alignment.
    const std::uint64_t unpadded = at + kLocalBytes + entry.name.size() + wide_bytes + 4;
    const std::size_t padding = (kZipAlignment - unpadded % kZipAlignment) % kZipAlignment;
    put<2>(header, wide_bytes + 4 + padding);
    put_text(header, entry.name);
    if (wide) {
      put<2>(header, kExtra64);
      put<2>(header, 16);
      put<8>(header, size);
      put<8>(header, size);
    }
    put_text(header, "FB");
    put<2>(header, padding);
    header.resize(header.size() + padding, std::byte{'Z'});

    put<4>(directory, kCentralHeader);
    put<2>(directory, 45);  // made by this version
    put_facts(directory, entry, crc, wide);
    const std::size_t extra = (wide ? 16U : 0U) + (far ? 8U : 0U);
    put<2>(directory, extra == 0 ? 0 : extra + 4);
    put<2>(directory, 0);  // no comment
    put<2>(directory, 0);  // first disk
    put<2>(directory, 0);
    put<4>(directory, 0);
    put<4>(directory, far ? kNarrow : at);
    put_text(directory, entry.name);
    if (extra != 0) {
      put<2>(directory, kExtra64);
      put<2>(directory, extra);
    }
    if (wide) {
      put<8>(directory, size);
      put<8>(directory, size);
    }
    if (far) put<8>(directory, at);

    at += header.size() + size;
    plan.headers.push_back(std::move(header));
  }
  const std::uint64_t directory_bytes = directory.size();
  plan.end = std::move(directory);
  if (at >= kNarrow || directory_bytes >= kNarrow || entries.size() >= kNarrowCount) {
    put<4>(plan.end, kEnd64);
    put<8>(plan.end, kEnd64Bytes - 12);
    put<2>(plan.end, 45);
    put<2>(plan.end, 45);
    put<8>(plan.end, 0);  // first disk
    put<8>(plan.end, entries.size());
    put<8>(plan.end, entries.size());
    put<8>(plan.end, directory_bytes);
    put<8>(plan.end, at);
    put<4>(plan.end, kEnd64Locator);
    put<4>(plan.end, 0);
    put<8>(plan.end, at + directory_bytes);
    put<4>(plan.end, 1);
  }
  put<4>(plan.end, kEnd);
  put<4>(plan.end, 0);  // first disk
  put<2>(plan.end, std::min<std::uint64_t>(entries.size(), kNarrowCount));
  put<2>(plan.end, std::min<std::uint64_t>(entries.size(), kNarrowCount));
  put<4>(plan.end, std::min(directory_bytes, kNarrow));
  put<4>(plan.end, std::min(at, kNarrow));
  put<2>(plan.end, 0);  // no comment
  return plan;
}

}  // namespace outlast::trainers
