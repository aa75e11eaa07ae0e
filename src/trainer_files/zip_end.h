#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

// The end of a zip file, which is written last: with it a zip is whole, without it it is not.
namespace outlast::trainer_files {

// The number that these bytes are, at most 8, the least significant first.
std::uint64_t little_endian(std::string_view bytes);

// So many bytes from an offset, or as many as there are.
using ReadZip = std::function<Result<std::string>(std::uint64_t offset, std::uint64_t count)>;

enum class ZipEnd {
  kFits,     // all that the end record says is so: the directory lies right before it
  kMissing,  // the file ends with something else
  // It speaks of another place: something stands before the zip, as in PyTorch's .distcp files,
  // which are several in a row.
  kShifted,
};
// Of a zip file of this size. Nothing may follow the end record but its own comment.
Result<ZipEnd> find_zip_end(std::uint64_t size, const ReadZip& read);

}  // namespace outlast::trainer_files
