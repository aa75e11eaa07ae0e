#pragma once

#include <string>

#include "sdk/own_fd.h"
#include "sdk/own_rank.h"

namespace outlast::sdk {

// As long as it lives, no other process saves this rank in this folder: two that do would remove
// each other's files, and leave some that no training has ever had. It is a flock on
// .rank-R-of-N.lock, which has the owner's pid in it, and ends with its process; a child made by
// fork() does not have it. Confined to its owner.
class FolderLock {
 public:
  // The folder must exist. Throws SnapshotError if another has it, or nothing can be written there.
  FolderLock(const std::string& folder, OwnRank own);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // False where the file system has no locks, which was said on stderr.
  bool is_held() const { return static_cast<bool>(file_); }

 private:
  static void close_in_child();
  bool is_held_here() const;
  std::string other_owner() const;

  std::string path_;
  OwnFd file_;
  FolderLock* next_ = nullptr;  // of this process
};

}  // namespace outlast::sdk
