#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"

// Files, as a crash-safe program must see them: what was written is durable after sync() of the
// file, a name is durable after sync_dir() of its folder, and nothing else is promised.
namespace outlast::sys {

enum class FileType { kFile, kDirectory, kSymlink, kOther };

struct FileInfo {
  FileType type = FileType::kFile;
  std::uint64_t size = 0;
  WallTime modified = {};
  // When its content or anything else of it changed last, by the clock of the file system, which
  // nobody can set back. It moves in steps (a hundredth of a second is usual): two changes within
  // one step leave the same time.
  WallTime changed = {};
  std::uint32_t mode = 0;    // permission bits only
  std::uint64_t device = 0;  // the file system that the inode is a number in
  std::uint64_t inode = 0;
  std::uint64_t links = 1;
};

struct DirectoryEntry {
  std::string name;
  FileType type = FileType::kFile;
  friend bool operator==(const DirectoryEntry&, const DirectoryEntry&) = default;
};

struct DiskSpace {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;  // to us, not to root
};

enum class OpenMode {
  kRead,             // must exist
  kWrite,            // must exist; read and write
  kCreate,           // created if absent, kept if present; read and write
  kCreateExclusive,  // kAlreadyExists if present; read and write
  kTruncate,         // created if absent, emptied if present; read and write
};

// The content of a file as memory, as long as this lives. Only for files that nobody else makes
// shorter meanwhile: reading what is gone kills the process (SIGBUS). May be destroyed on any
// thread.
class FileMap {
 public:
  virtual ~FileMap() = default;
  virtual BytesView bytes() const = 0;
};

// An open file. Closed when destroyed, which promises nothing: sync() first. Calls at different
// offsets may run in parallel.
class File {
 public:
  virtual ~File() = default;
  // Up to buffer.size() bytes from `offset`; less only at the end of the file. A pipe, which has no
  // offsets, gives what comes next.
  virtual Result<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t offset) = 0;
  // All of `bytes`, or an error; after an error any part of them may have been written.
  virtual Result<void> write_at(BytesView bytes, std::uint64_t offset) = 0;
  virtual Result<void> truncate(std::uint64_t size) = 0;
  virtual Result<std::uint64_t> size() = 0;
  // Of this file, whatever its name leads to by now.
  virtual Result<FileInfo> info() = 0;
  // Says when it was modified, until the next write says otherwise. The file system may round it
  // down: look at info().
  virtual Result<void> set_modified(WallTime when) = 0;
  // Begins to write this part to the disk, so that a later sync() is short. It promises nothing,
  // and waits at most for a place in the disk's queue.
  virtual void start_writeback(std::uint64_t offset, std::uint64_t length) = 0;
  // All of the file, as long as it is now, to read.
  virtual Result<std::unique_ptr<FileMap>> map() = 0;
  // What was written is on the disk when this returns. After an error nothing is known about any
  // earlier write: the kernel may have dropped them, and a second sync() may lie. Write the file
  // anew.
  virtual Result<void> sync() = 0;
  // The same for all files, names, times and permissions on the file system that this file is on,
  // whoever wrote them: much faster than one by one when they are many. Tells of all that could not
  // be written since the file was opened (on Linux before 5.8 it may not).
  virtual Result<void> sync_file_system() = 0;
};

// That a lock is held: as long as this lives, or the process or the machine that took it, if they
// end sooner. May be destroyed on any thread.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// The file system of this machine. Paths are UTF-8 or plain bytes, absolute or relative to the
// working folder, without NUL. Symlinks are followed in the middle of a path, and at its end unless
// the call says otherwise or is about the name itself (rename, link, remove). Errors name the path
// and the call. Thread-safe.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
  // Does not follow a symlink at the end of the path.
  virtual Result<FileInfo> stat(const std::string& path) = 0;
  // Sorted by name, without "." and "..".
  virtual Result<std::vector<DirectoryEntry>> list(const std::string& path) = 0;
  // One level; kAlreadyExists if anything has the name.
  virtual Result<void> make_dir(const std::string& path) = 0;
  // A symlink that leads to `target`, whatever that is or whether it is there; kAlreadyExists if
  // anything has the name.
  virtual Result<void> make_symlink(const std::string& target, const std::string& path) = 0;
  // Where it leads to, as it was made. kInvalidArgument if it is no symlink.
  virtual Result<std::string> read_symlink(const std::string& path) = 0;
  // Atomically replaces a file or a symlink at `to`; a folder replaces an empty folder.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  // A second name for a file; kAlreadyExists if `to` exists. Atomic, also over NFS.
  virtual Result<void> link(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove_file(const std::string& path) = 0;
  // Empty folders only.
  virtual Result<void> remove_dir(const std::string& path) = 0;
  // The permission bits, of what a symlink points to.
  virtual Result<void> set_mode(const std::string& path, std::uint32_t mode) = 0;
  // As File::set_modified(), also for folders; of a symlink itself.
  virtual Result<void> set_modified(const std::string& path, WallTime when) = 0;
  // Names made, removed and renamed in this folder are on the disk when this returns.
  virtual Result<void> sync_dir(const std::string& path) = 0;
  virtual Result<DiskSpace> space(const std::string& path) = 0;
  // Waits until nobody else has locked this file, be it another thread, process or machine that
  // shares the file system, and locks it; makes the file if it is absent. It keeps out only those
  // who lock it too. kCancelled or kDeadlineExceeded if `ctx` ends the wait first, which it does
  // even if the lock is free.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                 const CallContext& ctx) = 0;
};

}  // namespace outlast::sys
