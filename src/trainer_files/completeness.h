#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/file_system.h"

// Whether a file is whole, as far as its own bytes tell. Formats are known by their first bytes,
// never by a name. Only a few kilobytes are read, and the header of safetensors; whatever they are,
// the answer is one of the three.
namespace outlast::trainer_files {

enum class Wholeness {
  kWhole,    // what its format puts last is there, and fits the size
  kTorn,     // its format says that something is missing
  kUnknown,  // its bytes do not tell
};

enum class FileFormat { kZip, kSafetensors, kHdf5, kPickle, kJson, kOther };
// "zip", "safetensors", …
std::string_view to_string(FileFormat format);

struct Completeness {
  Wholeness wholeness = Wholeness::kUnknown;
  FileFormat format = FileFormat::kOther;
  std::string why = {};  // "has no end record yet": a sentence goes on with it after the name

  friend bool operator==(const Completeness&, const Completeness&) = default;
};

// The bytes of one file, wherever they are.
struct FileBytes {
  std::uint64_t size = 0;
  // As sys::File::read_at(): less than asked for only at the end.
  std::function<Result<std::size_t>(std::span<std::byte>, std::uint64_t)> read_at = {};
};

// Fails only when reading does. A file that became shorter meanwhile is torn.
//
// Pickles are never kWhole: each ends with a full stop, but so may one that was cut there.
Result<Completeness> check_bytes(const FileBytes& bytes);
Result<Completeness> check_file(sys::FileSystem& files, const std::string& path);

}  // namespace outlast::trainer_files
