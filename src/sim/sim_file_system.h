#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/disk.h"
#include "sim/kernel.h"
#include "sim/sim_threads.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

namespace outlast::sim {

// The files of a simulated machine: its Disk, with a scheduling point and a chance to fail in front
// of every call. Relative paths start at "/", and ".." is taken out
// of a path before anything is looked up.
class SimFileSystem : public sys::FileSystem {
 public:
  SimFileSystem(Kernel& kernel, SimClock& clock, Disk& disk)
      : kernel_(kernel), clock_(clock), disk_(disk) {}

  Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::OpenMode mode) override;
  Result<sys::FileInfo> stat(const std::string& path) override;
  Result<std::vector<sys::DirectoryEntry>> list(const std::string& path) override;
  Result<void> make_dir(const std::string& path) override;
  Result<void> make_symlink(const std::string& target, const std::string& path) override;
  Result<std::string> read_symlink(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> link(const std::string& from, const std::string& to) override;
  Result<void> remove_file(const std::string& path) override;
  Result<void> remove_dir(const std::string& path) override;
  Result<void> set_mode(const std::string& path, std::uint32_t mode) override;
  Result<void> set_modified(const std::string& path, WallTime when) override;
  Result<void> sync_dir(const std::string& path) override;
  Result<sys::DiskSpace> space(const std::string& path) override;
  Result<std::unique_ptr<sys::FileLock>> lock(const std::string& path,
                                              const sys::CallContext& ctx) override;

  // Called before every operation ("open", "read", "write", "truncate", "set_modified", "map",
  // "sync", "sync_file_system", "stat", "list", "make_dir", "make_symlink", "read_symlink",
  // "rename", "link", "remove_file", "remove_dir", "set_mode", "sync_dir", "space", "lock"): an
  // error makes it fail. A failing write may still write a part; a failing sync leaves the file as
  // POSIX does.
  using Fault =
      std::function<std::optional<Error>(std::string_view operation, const std::string& path)>;
  void set_fault(Fault fault) { fault_ = std::move(fault); }
  // Every operation fails with this probability, as a failing disk does.
  void fail_with_probability(double probability);

  // What those who run in `process` have open for writing, below `folder`, by the names that it has
  // now; sorted. Not a scheduling point.
  std::vector<std::string> open_for_writing(const Domain& process, const std::string& folder) const;

  // Is told of every name that changes, right after it did, by whoever did it.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void appeared(const std::string& path) = 0;
    virtual void gone(const std::string& path, sys::FileType type) = 0;
    // After it was open for writing. The name may have come to mean another file, or none.
    virtual void closed(const std::string& path, Disk::Inode file) = 0;
  };
  void set_listener(Listener* listener) { open_->listener = listener; }

 private:
  class OpenFile;
  struct OpenFiles {
    std::vector<OpenFile*> writing = {};  // in the order in which they were opened
    Listener* listener = nullptr;
  };
  class HeldLock;
  struct LockState {
    const HeldLock* holder = nullptr;
    const Domain* home = nullptr;  // of the holder; what it holds ends with it
    std::vector<Kernel::Task*> waiting;
  };

  // Tells the listener, if `done` is, and passes it on.
  Result<void> appeared(Result<void> done, const std::string& path);
  Result<void> gone(Result<void> done, const std::string& path, sys::FileType type);
  // The scheduling point, then the fault. An error ends the call.
  Result<void> enter(std::string_view operation, const std::string& path,
                     std::string_view detail = {});

  Kernel& kernel_;
  SimClock& clock_;
  Disk& disk_;
  Fault fault_;
  const std::shared_ptr<OpenFiles> open_ = std::make_shared<OpenFiles>();  // shared with its files
  std::map<std::string, LockState> locks_;  // by path; an entry stays, so that its address does
};

}  // namespace outlast::sim
