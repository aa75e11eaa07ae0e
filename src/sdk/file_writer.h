#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sdk/own_fd.h"

namespace outlast::sdk {

// Throws SnapshotError: what could not be done to which file, and why.
[[noreturn]] void fail_file(std::string_view what, const std::string& path, int error_number);

// A new file that is written from its beginning to its end, in large pieces, under a name that is
// not its last: what did not come to that is removed again. Every function throws SnapshotError if
// it fails, the first also if there is such a file already. Confined to its owner.
class FileWriter {
 public:
  explicit FileWriter(std::string path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  void write(std::string_view bytes);
  // All of it is on the disk, and then has this name, instead of any older file.
  void finish(const std::string& name);

 private:
  void put(std::string_view bytes);

  std::string path_;
  OwnFd file_;
  bool is_finished_ = false;
  std::string waiting_;  // small pieces
};

// The names in a folder are on the disk. Throws as above.
void sync_folder(const std::string& folder);

}  // namespace outlast::sdk
