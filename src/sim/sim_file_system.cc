#include "sim/sim_file_system.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/disk.h"
#include "sim/kernel.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

namespace outlast::sim {
namespace {

// "/a/b" for "a/./b/", "/a/c/../b", …
std::string normalised(std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size() == path.size() ? name.size() : name.size() + 1);
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      names.push_back(name);
    } else if (!names.empty()) {
      names.pop_back();
    }
  }
  std::string result;
  for (const std::string_view name : names) result.append("/").append(name);
  return result.empty() ? "/" : result;
}

// A map that does not see what is written later.
class CopiedFile : public sys::FileMap {
 public:
  explicit CopiedFile(Bytes content) : content_(std::move(content)) {}
  BytesView bytes() const override { return content_; }

 private:
  const Bytes content_;
};

}  // namespace

class SimFileSystem::OpenFile : public sys::File {
 public:
  OpenFile(SimFileSystem& fs, Disk::Inode inode, std::string path, bool writable)
      : fs_(fs),
        inode_(inode),
        path_(std::move(path)),
        writable_(writable),
        home_(&fs.kernel_.current_domain()),
        name_(normalised(path_)),
        open_(fs.open_) {
    if (writable_) open_->writing.push_back(this);
  }
  ~OpenFile() override {
    if (std::erase(open_->writing, this) > 0 && open_->listener != nullptr) {
      open_->listener->closed(name_, inode_);
    }
  }

  // What `from` was called, and everything below it, is now `to`.
  void renamed(const std::string& from, const std::string& to) {
    if (name_ == from || name_.starts_with(from + "/")) name_.replace(0, from.size(), to);
  }
  bool is_open_in(const Domain& process) const { return home_ == &process; }
  Disk::Inode inode() const { return inode_; }
  const std::string& name() const { return name_; }

  Result<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t offset) override {
    OUTLAST_TRY(fs_.enter("read", path_, fmt::format("{} at {}", buffer.size(), offset)));
    return fs_.disk_.read(inode_, buffer, offset);
  }

  Result<void> write_at(BytesView bytes, std::uint64_t offset) override {
    if (!writable_) return not_writable();
    Result<void> entered = fs_.enter("write", path_, fmt::format("{} at {}", bytes.size(), offset));
    if (!entered) {
      const BytesView part = bytes.first(fs_.kernel_.random().below(bytes.size() + 1));
      if (!fs_.kernel_.current_domain().dead()) {
        (void)fs_.disk_.write(inode_, part, offset, fs_.clock_.wall());
      }
      return entered;
    }
    return fs_.disk_.write(inode_, bytes, offset, fs_.clock_.wall()).while_doing("write " + path_);
  }

  Result<void> truncate(std::uint64_t size) override {
    if (!writable_) return not_writable();
    OUTLAST_TRY(fs_.enter("truncate", path_, fmt::format("to {}", size)));
    return fs_.disk_.truncate(inode_, size, fs_.clock_.wall()).while_doing("truncate " + path_);
  }

  Result<std::uint64_t> size() override {
    OUTLAST_TRY(fs_.enter("stat", path_));
    return fs_.disk_.size(inode_);
  }

  Result<sys::FileInfo> info() override {
    OUTLAST_TRY(fs_.enter("stat", path_));
    return fs_.disk_.info(inode_);
  }

  Result<void> set_modified(WallTime when) override {
    if (!writable_) return not_writable();
    OUTLAST_TRY(fs_.enter("set_modified", path_));
    fs_.disk_.set_modified(inode_, when, fs_.clock_.wall());
    return {};
  }

  // Nothing that could be seen.
  void start_writeback(std::uint64_t /*offset*/, std::uint64_t /*length*/) override {}

  Result<std::unique_ptr<sys::FileMap>> map() override {
    OUTLAST_TRY(fs_.enter("map", path_));
    Bytes content(fs_.disk_.size(inode_));
    OUTLAST_TRY(fs_.disk_.read(inode_, content, 0));
    return std::make_unique<CopiedFile>(std::move(content));
  }

  Result<void> sync() override {
    Result<void> entered = fs_.enter("sync", path_);
    if (!entered) {
      if (!fs_.kernel_.current_domain().dead()) {
        fs_.disk_.sync_in_vain(inode_, fs_.kernel_.random());
      }
      return entered;
    }
    fs_.disk_.sync(inode_);
    return {};
  }

  Result<void> sync_file_system() override {
    Result<void> entered = fs_.enter("sync_file_system", path_);
    if (!entered) {
      if (!fs_.kernel_.current_domain().dead()) {
        fs_.disk_.sync_all_in_vain(fs_.kernel_.random());
      }
      return entered;
    }
    fs_.disk_.sync_all();
    return {};
  }

 private:
  Error not_writable() const {
    return {ErrorCode::kFailed, fmt::format("write {}: Bad file descriptor", path_)};
  }

  SimFileSystem& fs_;
  const Disk::Inode inode_;
  const std::string path_;
  const bool writable_;
  const Domain* const home_;  // who opened it
  std::string name_;          // follows it when it is renamed
  const std::shared_ptr<OpenFiles> open_;
};

// Whoever waits is woken when this goes, also because its machine is gone and it unwinds.
class SimFileSystem::HeldLock : public sys::FileLock {
 public:
  HeldLock(Kernel& kernel, LockState& state) : kernel_(kernel), state_(state) {
    state_.holder = this;
    state_.home = &kernel.current_domain();
  }
  ~HeldLock() override {
    if (state_.holder == this) state_.holder = nullptr;
    for (Kernel::Task* task : state_.waiting) kernel_.wake(*task);
  }

 private:
  Kernel& kernel_;
  LockState& state_;
};

void SimFileSystem::fail_with_probability(double probability) {
  set_fault([this, probability](std::string_view operation,
                                const std::string& path) -> std::optional<Error> {
    if (!kernel_.random().chance(probability)) return std::nullopt;
    return Error(ErrorCode::kFailed, fmt::format("{} {}: Input/output error", operation, path));
  });
}

Result<void> SimFileSystem::enter(std::string_view operation, const std::string& path,
                                  std::string_view detail) {
  const std::string what = fmt::format("file.{}", operation);
  if (!kernel_.step(what, detail.empty() ? path : fmt::format("{} {}", path, detail))) {
    return gone_error();
  }
  if (!fault_) return {};
  std::optional<Error> error = fault_(operation, path);
  if (!error) return {};
  kernel_.note("fault", error->sentence());
  return *std::move(error);
}

Result<std::unique_ptr<sys::File>> SimFileSystem::open(const std::string& path,
                                                       sys::OpenMode mode) {
  OUTLAST_TRY(enter("open", path));
  const std::string name = normalised(path);
  const bool absent = open_->listener != nullptr && !disk_.find(name);
  OUTLAST_TRY_ASSIGN(const Disk::Inode inode, disk_.open(name, mode, clock_.wall()));
  if (absent) open_->listener->appeared(name);
  return std::make_unique<OpenFile>(*this, inode, path, mode != sys::OpenMode::kRead);
}

Result<sys::FileInfo> SimFileSystem::stat(const std::string& path) {
  OUTLAST_TRY(enter("stat", path));
  return disk_.stat(normalised(path)).while_doing("stat");
}

Result<std::vector<sys::DirectoryEntry>> SimFileSystem::list(const std::string& path) {
  OUTLAST_TRY(enter("list", path));
  return disk_.list(normalised(path)).while_doing("list");
}

Result<void> SimFileSystem::make_dir(const std::string& path) {
  OUTLAST_TRY(enter("make_dir", path));
  return appeared(disk_.make_dir(normalised(path), clock_.wall()).while_doing("make folder"), path);
}

Result<void> SimFileSystem::make_symlink(const std::string& target, const std::string& path) {
  OUTLAST_TRY(enter("make_symlink", path, fmt::format("to {}", target)));
  return appeared(
      disk_.make_symlink(target, normalised(path), clock_.wall()).while_doing("make symlink"),
      path);
}

Result<std::string> SimFileSystem::read_symlink(const std::string& path) {
  OUTLAST_TRY(enter("read_symlink", path));
  return disk_.read_symlink(normalised(path)).while_doing("read symlink");
}

Result<void> SimFileSystem::rename(const std::string& from, const std::string& to) {
  OUTLAST_TRY(enter("rename", from, fmt::format("to {}", to)));
  OUTLAST_TRY(disk_.rename(normalised(from), normalised(to), clock_.wall()).while_doing("rename"));
  for (OpenFile* file : open_->writing) file->renamed(normalised(from), normalised(to));
  const Result<sys::FileInfo> moved = disk_.stat(normalised(to));
  OUTLAST_TRY(gone({}, from, moved ? moved->type : sys::FileType::kFile));
  return appeared({}, to);
}

Result<void> SimFileSystem::link(const std::string& from, const std::string& to) {
  OUTLAST_TRY(enter("link", from, fmt::format("to {}", to)));
  return appeared(disk_.link(normalised(from), normalised(to), clock_.wall()).while_doing("link"),
                  to);
}

Result<void> SimFileSystem::remove_file(const std::string& path) {
  OUTLAST_TRY(enter("remove_file", path));
  return gone(disk_.remove_file(normalised(path), clock_.wall()).while_doing("remove"), path,
              sys::FileType::kFile);
}

Result<void> SimFileSystem::set_mode(const std::string& path, std::uint32_t mode) {
  OUTLAST_TRY(enter("set_mode", path));
  return disk_.set_mode(normalised(path), mode, clock_.wall()).while_doing("set permissions");
}

Result<void> SimFileSystem::remove_dir(const std::string& path) {
  OUTLAST_TRY(enter("remove_dir", path));
  return gone(disk_.remove_dir(normalised(path), clock_.wall()).while_doing("remove folder"), path,
              sys::FileType::kDirectory);
}

Result<void> SimFileSystem::set_modified(const std::string& path, WallTime when) {
  OUTLAST_TRY(enter("set_modified", path));
  return disk_.set_modified(normalised(path), when, clock_.wall()).while_doing("set the time");
}

Result<void> SimFileSystem::sync_dir(const std::string& path) {
  OUTLAST_TRY(enter("sync_dir", path));
  return disk_.sync_dir(normalised(path)).while_doing("sync folder");
}

Result<sys::DiskSpace> SimFileSystem::space(const std::string& path) {
  OUTLAST_TRY(enter("space", path));
  return disk_.space();
}

Result<void> SimFileSystem::appeared(Result<void> done, const std::string& path) {
  if (done && open_->listener != nullptr) open_->listener->appeared(normalised(path));
  return done;
}

Result<void> SimFileSystem::gone(Result<void> done, const std::string& path, sys::FileType type) {
  if (done && open_->listener != nullptr) open_->listener->gone(normalised(path), type);
  return done;
}

std::vector<std::string> SimFileSystem::open_for_writing(const Domain& process,
                                                         const std::string& folder) const {
  std::vector<std::string> names;
  const std::string start = folder == "/" ? "/" : folder + "/";
  for (const OpenFile* file : open_->writing) {
    if (!file->is_open_in(process) || !file->name().starts_with(start)) continue;
    const Result<Disk::Inode> found = disk_.find(file->name());
    if (found && *found == file->inode()) names.push_back(file->name());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<std::unique_ptr<sys::FileLock>> SimFileSystem::lock(const std::string& path,
                                                           const sys::CallContext& ctx) {
  OUTLAST_TRY(enter("lock", path));
  const std::string name = normalised(path);
  OUTLAST_TRY(disk_.open(name, sys::OpenMode::kCreate, clock_.wall()));
  LockState& state = locks_[name];
  while (true) {
    if (ctx.stop.stop_requested()) {
      return Error(ErrorCode::kCancelled, fmt::format("stopped while waiting for {}", path));
    }
    if (kernel_.now() >= ctx.deadline) {
      return Error(ErrorCode::kDeadlineExceeded,
                   fmt::format("the deadline passed while waiting for {}", path));
    }
    if (state.holder == nullptr || state.home->dead()) break;
    Kernel::Task* const self = &kernel_.current();
    state.waiting.push_back(self);
    (void)kernel_.block(fmt::format("the lock {}", path), ctx);
    std::erase(state.waiting, self);
    kernel_.throw_if_gone();
  }
  return std::make_unique<HeldLock>(kernel_, state);
}

}  // namespace outlast::sim
