#include "sim/sim_file_watch.h"

#include <fmt/core.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sim/disk.h"
#include "sim/kernel.h"
#include "sys/call_context.h"
#include "sys/file_system.h"
#include "sys/file_watch.h"
#include "sys/threads.h"

namespace outlast::sim {

class SimFileWatches::Watch : public sys::FileWatch {
 public:
  Watch(SimFileWatches& owner, std::string folder,
        std::function<bool(const std::string& path)> leave_out)
      : owner_(owner), root_(std::move(folder)), leave_out_(std::move(leave_out)) {
    owner_.watches_.push_back(this);
  }
  ~Watch() override { std::erase(owner_.watches_, this); }

  void take(const std::string& path, sys::FileType type) {
    if (path == root_ || root_.starts_with(path + "/")) return;
    const std::string start = root_ == "/" ? root_ : root_ + "/";
    if (!path.starts_with(start) || is_left_out(path, start.size(), type)) return;
    changed_.insert(path);
    wake();
  }
  void take_end_of(const std::string& path) {
    if (path != root_ && !root_.starts_with(path + "/")) return;
    failure_ =
        Error(ErrorCode::kNotFound, fmt::format("watch {}: the folder is no longer there", root_));
    wake();
  }
  void overflow() {
    overflowed_ = true;
    changed_.clear();
    wake();
  }

  Result<sys::FileChanges> wait(const sys::CallContext& ctx) override {
    if (!owner_.kernel_.step("watch.wait", root_)) return gone_error();
    while (!failure_ && !overflowed_ && changed_.empty()) {
      Kernel::Task* const self = &owner_.kernel_.current();
      waiting_.push_back(self);
      const sys::Woken woken = owner_.kernel_.block(fmt::format("changes in {}", root_), ctx);
      std::erase(waiting_, self);
      owner_.kernel_.throw_if_gone();
      if (failure_ || overflowed_ || !changed_.empty()) break;
      if (woken == sys::Woken::kStopped) return Error(ErrorCode::kCancelled, "stopped");
      if (woken == sys::Woken::kDeadline) {
        return Error(ErrorCode::kDeadlineExceeded, "nothing changed");
      }
    }
    if (failure_) return *failure_;
    sys::FileChanges changes{.overflowed = overflowed_,
                             .paths = {changed_.begin(), changed_.end()}};
    overflowed_ = false;
    changed_.clear();
    return changes;
  }

 private:
  // Whether it, or a folder above it, is: the folders end at the slashes from `at` on.
  bool is_left_out(const std::string& path, std::size_t at, sys::FileType type) const {
    if (!leave_out_) return false;
    for (std::size_t slash = path.find('/', at); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      if (leave_out_(path.substr(0, slash))) return true;
    }
    return type == sys::FileType::kDirectory && leave_out_(path);
  }
  void wake() {
    for (Kernel::Task* task : waiting_) owner_.kernel_.wake(*task);
  }

  SimFileWatches& owner_;
  const std::string root_;
  const std::function<bool(const std::string& path)> leave_out_;
  std::set<std::string> changed_;
  bool overflowed_ = false;
  std::optional<Error> failure_;
  std::vector<Kernel::Task*> waiting_;
};

Result<std::unique_ptr<sys::FileWatch>> SimFileWatches::watch(
    const std::string& folder, std::function<bool(const std::string& path)> leave_out) {
  if (!kernel_.step("watch", folder)) return gone_error();
  if (!available_) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("watch {}: nothing more can be watched; let changes be looked for "
                             "from time to time",
                             folder));
  }
  const Result<sys::FileInfo> info = disk_.stat(folder);
  if (!info || info->type != sys::FileType::kDirectory) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("watch {}: {}", folder,
                             info ? "Not a directory" : "No such file or directory"));
  }
  files_.set_listener(this);
  return std::make_unique<Watch>(*this, folder, std::move(leave_out));
}

void SimFileWatches::overflow() {
  for (Watch* watch : watches_) watch->overflow();
}

void SimFileWatches::appeared(const std::string& path) {
  const Result<sys::FileInfo> info = disk_.stat(path);
  if (!info) return;
  for (Watch* watch : watches_) watch->take(path, info->type);
  if (info->type != sys::FileType::kDirectory) return;
  // Of a folder all that is in it.
  const auto entries = disk_.list(path);
  if (!entries) return;
  for (const sys::DirectoryEntry& entry : *entries) appeared(path + "/" + entry.name);
}

void SimFileWatches::gone(const std::string& path, sys::FileType type) {
  for (Watch* watch : watches_) {
    watch->take(path, type);
    watch->take_end_of(path);
  }
}

void SimFileWatches::closed(const std::string& path, Disk::Inode file) {
  const Result<Disk::Inode> found = disk_.find(path);
  if (!found || *found != file) return;
  for (Watch* watch : watches_) watch->take(path, sys::FileType::kFile);
}

}  // namespace outlast::sim
