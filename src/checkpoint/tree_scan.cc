#include "checkpoint/tree_scan.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/manifest.h"
#include "checkpoint/tree_names.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {
namespace {

constexpr int kLooksAgainMax = 20;  // in one scan
// More than the step of any file system's clock; FAT's is two seconds.
constexpr Duration kYoung = std::chrono::seconds(2);

bool has_vanished(const Error& error) {
  return error.code() == ErrorCode::kNotFound;
}

class Scanner {
 public:
  Scanner(sys::FileSystem& files, const sys::CallContext& ctx) : files_(files), ctx_(ctx) {}

  // Something at `path`, to be called `name`, with all that is in it.
  Result<void> add(const std::string& path, const std::string& name) {
    OUTLAST_TRY_ASSIGN(const sys::FileType type, add_itself(path, name));
    return type == sys::FileType::kDirectory ? add_contents(path, name + "/") : Result<void>();
  }

  Result<sys::FileType> add_itself(const std::string& path, const std::string& name) {
    OUTLAST_TRY_ASSIGN(const sys::FileInfo info, files_.stat(path));
    FoundItem found{.item = {.path = name}, .path = path, .info = info};
    switch (info.type) {
      case sys::FileType::kFile:
        found.item.kind = ItemKind::kFile;
        found.item.mode = info.mode;
        found.item.modified = info.modified;
        found.item.size = info.size;
        break;
      case sys::FileType::kDirectory:
        found.item.kind = ItemKind::kFolder;
        found.item.mode = info.mode;
        found.item.modified = info.modified;
        break;
      case sys::FileType::kSymlink: {
        found.item.kind = ItemKind::kSymlink;
        OUTLAST_TRY_ASSIGN(found.item.target, files_.read_symlink(path));
        break;
      }
      case sys::FileType::kOther:
        scan_.skipped.push_back(path);
        return info.type;
    }
    scan_.found.push_back(std::move(found));
    return info.type;
  }

  // Everything in a folder. What vanished between being listed and being looked at may have been
  // renamed rather than removed, and must then be found under its new name: once more from the
  // beginning.
  Result<void> add_contents(const std::string& folder, const std::string& prefix) {
    while (true) {
      const std::size_t found = scan_.found.size();
      const std::size_t skipped = scan_.skipped.size();
      const std::size_t half_restored = scan_.half_restored.size();
      OUTLAST_TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries, files_.list(folder));
      Result<void> added = add_entries(folder, prefix, entries);
      if (added) return {};
      if (!has_vanished(added.error())) return added;
      if (++looks_again_ > kLooksAgainMax) {
        return Error(ErrorCode::kConditionFailed,
                     fmt::format("things vanish from '{}' while it is looked at; save it when "
                                 "nobody works in it: {}",
                                 folder, added.error().to_string()));
      }
      scan_.found.resize(found);
      scan_.skipped.resize(skipped);
      scan_.half_restored.resize(half_restored);
    }
  }

  TreeScan finish() {
    std::ranges::sort(scan_.found, {}, [](const FoundItem& found) { return found.item.path; });
    join_names();
    return std::move(scan_);
  }

 private:
  Result<void> add_entries(const std::string& folder, const std::string& prefix,
                           const std::vector<sys::DirectoryEntry>& entries) {
    OUTLAST_TRY(check_not_stopped(ctx_, "look at what is to be saved"));
    for (const sys::DirectoryEntry& entry : entries) {
      if (entry.name == kRestoreMark) scan_.half_restored.push_back(folder);
      if (is_our_name(entry.name)) continue;
      OUTLAST_TRY(add(sys::join_path(folder, entry.name), prefix + entry.name));
    }
    return {};
  }

  // Several names of one file.
  void join_names() {
    std::map<std::pair<std::uint64_t, std::uint64_t>, const std::string*> first;
    for (FoundItem& found : scan_.found) {
      if (found.item.kind != ItemKind::kFile || found.info.links < 2) continue;
      const auto [known, added] =
          first.try_emplace({found.info.device, found.info.inode}, &found.item.path);
      if (added) continue;
      found.item = {.kind = ItemKind::kHardlink,
                    .path = std::move(found.item.path),
                    .target = *known->second};
    }
  }

  sys::FileSystem& files_;
  const sys::CallContext& ctx_;
  TreeScan scan_;
  int looks_again_ = 0;
};

Result<void> add_one(sys::FileSystem& files, const std::string& given, Scanner& scanner) {
  OUTLAST_TRY_ASSIGN(const std::string path, follow_given_path(files, given));
  OUTLAST_TRY_ASSIGN(const sys::FileInfo info, files.stat(path));
  switch (info.type) {
    case sys::FileType::kDirectory:
      return scanner.add_contents(path, "");
    case sys::FileType::kFile:
      return scanner.add(path, std::string(sys::base_name(given)));
    default:
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("'{}' is neither a file nor a folder", given));
  }
}

Result<void> add_several(sys::FileSystem& files, const std::vector<std::string>& given,
                         Scanner& scanner) {
  std::map<std::string, std::string> path_of;
  for (const std::string& path : given) {
    const std::string name(sys::base_name(path));
    if (!is_safe_path(name) || name.find('/') != std::string::npos) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("'{}' has no name of its own to be saved by; give the path that ends "
                      "with its name",
                      path));
    }
    const auto [other, added] = path_of.try_emplace(name, path);
    if (!added) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("'{}' and '{}' would both be saved as '{}'; save the folder that "
                               "they are in, or each by itself",
                               other->second, path, name));
    }
  }
  for (const auto& [name, path] : path_of) {
    OUTLAST_TRY_ASSIGN(const std::string followed, follow_given_path(files, path));
    OUTLAST_TRY(scanner.add(followed, name));
  }
  return {};
}

}  // namespace

Result<TreeScan> scan_tree(sys::FileSystem& files, const std::vector<std::string>& paths,
                           const sys::CallContext& ctx) {
  if (paths.empty()) return Error(ErrorCode::kInvalidArgument, "there is nothing to save: no path");
  Scanner scanner(files, ctx);
  OUTLAST_TRY((paths.size() == 1 ? add_one(files, paths.front(), scanner)
                                 : add_several(files, paths, scanner))
                  .while_doing("look at what is to be saved"));
  return scanner.finish();
}

Result<TreeScan> scan_paths(sys::FileSystem& files, const std::string& folder,
                            const std::vector<std::string>& paths, const sys::CallContext& ctx) {
  Scanner scanner(files, ctx);
  for (const std::string& path : paths) {
    OUTLAST_TRY(check_not_stopped(ctx, "look at what is to be saved"));
    OUTLAST_TRY(scanner.add_itself(sys::join_path(folder, path), path)
                    .while_doing("look at what is to be saved"));
  }
  return scanner.finish();
}

std::optional<FileIdentity> identity_of(const sys::FileInfo& info, WallTime now) {
  if (info.changed > now - kYoung) return std::nullopt;
  return FileIdentity{.inode = info.inode, .modified = info.modified, .changed = info.changed};
}

std::string origin_of(sys::FileSystem& files, std::span<const FoundItem> found) {
  constexpr std::uint64_t kIdBytesMax = 4096;
  const Result<std::string> id = sys::read_file(files, "/etc/machine-id", kIdBytesMax);
  if (!id || id->find_first_not_of(" \n") == std::string::npos) return "";
  std::set<std::uint64_t> devices;
  for (const FoundItem& item : found) devices.insert(item.info.device);
  std::string text = "outlast origin\n" + *id;
  for (const std::uint64_t device : devices) text += fmt::format("\n{}", device);
  return sha256(as_bytes(text)).hex().substr(0, 32);
}

}  // namespace outlast::checkpoint
