#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sdk/own_fd.h"

namespace outlast::sdk {

// Throws SnapshotError: what could not be done to which file, and why.
[[noreturn]] void fail_file(std::string_view what, const std::string& path, int error_number);

// A file that is written from its beginning to its end, in large pieces; an older one of that name
// is replaced. Every function throws SnapshotError if it fails, and removes the file first.
class FileWriter {
 public:
  explicit FileWriter(std::string path);
  void write(std::string_view bytes);
  // All of it is on the disk.
  void sync();

 private:
  void put(std::string_view bytes);
  [[noreturn]] void fail(std::string_view what, int error_number);

  std::string path_;
  OwnFd file_;
  std::string waiting_;  // small pieces
};

// The names in a folder are on the disk. Throws as above.
void sync_folder(const std::string& folder);

}  // namespace outlast::sdk
