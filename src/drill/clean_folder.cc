#include "drill/clean_folder.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/units.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::drill {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;

Result<void> check_stopped(const sys::CallContext& ctx) {
  if (ctx.stop.stop_requested()) return Error(ErrorCode::kCancelled, "stopped while copying");
  return {};
}

// Goes through what a plan means, folders before what is in them.
class Walk {
 public:
  using Visit = std::function<Result<void>(const std::string& path, const sys::FileInfo& info)>;

  Walk(sys::FileSystem& files, const CopyPlan& plan, Visit visit, const sys::CallContext& ctx)
      : files_(files), plan_(plan), visit_(std::move(visit)), ctx_(ctx) {}

  Result<void> all() {
    if (plan_.files.empty()) return inside("");
    for (const std::string& path : plan_.files) {
      if (path == "." || path == "./") {
        OUTLAST_TRY(inside(""));
        continue;
      }
      // The folders above it first, each once.
      for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
        OUTLAST_TRY(one(path.substr(0, at), false));
      }
      OUTLAST_TRY(one(path, true));
    }
    return {};
  }

 private:
  Result<void> one(const std::string& path, bool is_deep) {
    OUTLAST_TRY(check_stopped(ctx_));
    OUTLAST_TRY_ASSIGN(const sys::FileInfo info, files_.stat(sys::join_path(plan_.from, path)));
    if (seen_.insert(path).second) OUTLAST_TRY(visit_(path, info));
    if (is_deep && info.type == sys::FileType::kDirectory) return inside(path);
    return {};
  }

  Result<void> inside(const std::string& folder) {
    OUTLAST_TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries,
                       files_.list(sys::join_path(plan_.from, folder)));
    for (const sys::DirectoryEntry& entry : entries) {
      const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
      if (plan_.left_out.contains(path)) continue;
      if (entry.type == sys::FileType::kDirectory && plan_.left_out_names.contains(entry.name)) {
        continue;
      }
      OUTLAST_TRY(one(path, true));
    }
    return {};
  }

  sys::FileSystem& files_;
  const CopyPlan& plan_;
  const Visit visit_;
  const sys::CallContext& ctx_;
  std::set<std::string> seen_;
};

Result<void> copy_file(sys::FileSystem& files, const std::string& from, const std::string& to,
                       const sys::FileInfo& info) {
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::File> source,
                     files.open(from, sys::OpenMode::kRead));
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::File> target,
                     files.open(to, sys::OpenMode::kCreateExclusive));
  std::vector<std::byte> buffer(kPieceBytes);
  for (std::uint64_t at = 0;;) {
    OUTLAST_TRY_ASSIGN(const std::size_t n, source->read_at(buffer, at));
    if (n == 0) break;
    OUTLAST_TRY(target->write_at(std::span(buffer).first(n), at));
    at += n;
  }
  OUTLAST_TRY(files.set_mode(to, info.mode));
  return target->set_modified(info.modified);
}

std::string moved_target(const std::string& target, const std::string& path,
                         const std::string& from) {
  const std::filesystem::path relative(target);
  if (relative.is_absolute()) return target;
  const std::filesystem::path led =
      (std::filesystem::path(path).parent_path() / relative).lexically_normal();
  const bool leads_out = !led.empty() && *led.begin() == "..";
  return leads_out ? (std::filesystem::path(from) / led).lexically_normal().string() : target;
}

}  // namespace

Result<std::uint64_t> measure_copy(sys::FileSystem& files, const CopyPlan& plan,
                                   std::uint64_t bytes_max, const sys::CallContext& ctx) {
  std::uint64_t bytes = 0;
  Walk walk(
      files, plan,
      [&](const std::string&, const sys::FileInfo& info) -> Result<void> {
        if (info.type == sys::FileType::kFile) bytes += info.size;
        if (bytes <= bytes_max) return {};
        return Error(
            ErrorCode::kInvalidArgument,
            fmt::format(
                "each machine of a drill gets a copy of {}, which is more than {}: list what "
                "the trainer needs in 'files:' of a job file, or keep the data elsewhere and "
                "refer to it by an absolute path",
                plan.from, format_bytes_short(bytes_max)));
      },
      ctx);
  OUTLAST_TRY(walk.all());
  return bytes;
}

Result<void> copy_files(sys::FileSystem& files, const CopyPlan& plan, const std::string& to,
                        const sys::CallContext& ctx) {
  Walk walk(
      files, plan,
      [&](const std::string& path, const sys::FileInfo& info) -> Result<void> {
        const std::string source = sys::join_path(plan.from, path);
        const std::string target = sys::join_path(to, path);
        switch (info.type) {
          case sys::FileType::kDirectory:
            return files.make_dir(target);
          case sys::FileType::kSymlink: {
            OUTLAST_TRY_ASSIGN(const std::string led, files.read_symlink(source));
            return files.make_symlink(moved_target(led, path, plan.from), target);
          }
          case sys::FileType::kFile:
            return copy_file(files, source, target, info);
          case sys::FileType::kOther:
            return {};  // a socket or a pipe means nothing on another machine
        }
        return {};
      },
      ctx);
  return walk.all().while_doing("copy the folder for a machine of the drill");
}

}  // namespace outlast::drill
