#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"

// Zip files whose entries are stored as they are, not compressed: PyTorch's files are such.
namespace outlast::trainers {

// Names and contents, as views of `file`. Every entry that has a checksum is compared to it: 0
// stands for none, as PyTorch writes it when it is told to sum nothing. kCorrupt if the end is not
// there, an entry is compressed, encrypted or not within the file, two overlap or have one name.
Result<std::map<std::string_view, BytesView>> read_stored_zip(BytesView file);

struct ZipEntry {
  std::string name = {};
  BytesView content = {};
};

inline constexpr std::size_t kZipAlignment = 64;  // of contents, as PyTorch wants it

// What stands before the content of each entry, and at the end: headers[0], contents[0],
// headers[1], …, end are the file. It has no times in it: equal contents are equal files.
struct ZipPlan {
  std::vector<Bytes> headers = {};
  Bytes end = {};
};
ZipPlan plan_stored_zip(const std::vector<ZipEntry>& entries);

}  // namespace outlast::trainers
