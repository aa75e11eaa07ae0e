#include "checkpoint/tree_target.h"

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

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/result.h"
#include "checkpoint/codec.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"
#include "checkpoint/tree_names.h"
#include "checkpoint/tree_plan.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {
namespace {

constexpr std::size_t kWritebackBytesMin = 256U << 10U;  // less is synced as quickly
constexpr std::uint32_t kOnlyOwner = 0600;

bool is_zeros(const StoredChunk& chunk) {
  return chunk.codec == CodecKind::kZero;
}

// The chunk as it is in a file, if it is there; in `buffer`, which grows to the largest and stays.
// What cannot be read is not there.
std::optional<BytesView> find_in(sys::File& file, const StoredChunk& chunk, std::uint64_t offset,
                                 Bytes& buffer) {
  if (buffer.size() < chunk.raw_bytes) buffer.resize(chunk.raw_bytes);
  const std::span<std::byte> bytes(buffer.data(), chunk.raw_bytes);
  const Result<std::size_t> got = file.read_at(bytes, offset);
  if (!got || *got != bytes.size()) return std::nullopt;
  const bool same = is_zeros(chunk) ? is_zero(bytes) : sha256(bytes) == chunk.name;
  return same ? std::optional<BytesView>(bytes) : std::nullopt;
}

std::string restoring(const std::string& path) {
  return fmt::format("restore '{}'", path);
}

}  // namespace

// A plain file, or none.
struct TreeTarget::Existing {
  std::unique_ptr<sys::File> file = {};
  sys::FileInfo info = {};
  std::vector<bool> right = {};  // by chunk of the item
  bool is_right() const { return std::ranges::find(right, false) == right.end(); }
};

TreeTarget::TreeTarget(sys::FileSystem& files, std::span<const Manifest> manifests, TreePlan plan,
                       std::string root, const Options& options)
    : files_(files),
      manifests_(manifests),
      plan_(std::move(plan)),
      root_(std::move(root)),
      options_(options),
      parts_(files),
      done_(plan_.files.size()) {}

std::string TreeTarget::path_of(std::string_view item) const {
  return sys::join_path(root_, item);
}

std::string TreeTarget::mark_path() const {
  return sys::join_path(root_, kRestoreMark);
}

bool TreeTarget::sync_each() const {
  return plan_.files.size() + plan_.folders.size() <= options_.sync_each_max;
}

Result<std::vector<MissingChunk>> TreeTarget::prepare(std::size_t index,
                                                      const sys::CallContext& ctx) {
  const PlannedFile& file = plan_.files[index];
  const std::string path = path_of(file.item->path);
  const auto run = [&]() -> Result<std::vector<MissingChunk>> {
    OUTLAST_TRY_ASSIGN(const Existing existing, look_at(file, path, ctx));
    if (existing.file && existing.is_right() && existing.info.size == file.item->size) {
      OUTLAST_TRY_ASSIGN(const bool only_ours, is_only_ours(file, existing.info));
      if (only_ours) {
        OUTLAST_TRY(keep(index, path, existing));
        return std::vector<MissingChunk>();
      }
    }
    return begin_part(index, path, existing, ctx);
  };
  return run().while_doing(restoring(path));
}

Result<TreeTarget::Existing> TreeTarget::look_at(const PlannedFile& file, const std::string& path,
                                                 const sys::CallContext& ctx) {
  OUTLAST_TRY(check_not_stopped(ctx, "compare"));
  Existing existing;
  const Result<sys::FileInfo> info = files_.stat(path);
  if (!info && info.error().code() == ErrorCode::kNotFound) return existing;
  OUTLAST_TRY(info);
  if (info->type == sys::FileType::kDirectory) {
    OUTLAST_TRY(remove_folder_in_the_way(path, ctx));
    const MutexLock lock(mutex_);
    ++summary_.removed;
    return existing;
  }
  if (info->type != sys::FileType::kFile) return existing;  // goes when the file gets its name
  Result<std::unique_ptr<sys::File>> opened = files_.open(path, sys::OpenMode::kRead);
  if (!opened && opened.error().code() == ErrorCode::kPermissionDenied) return existing;
  if (!opened) return opened.error();
  existing.file = *std::move(opened);
  existing.info = *info;
  Bytes buffer;
  std::uint64_t offset = 0;
  for (const std::uint32_t number : file.item->chunks) {
    OUTLAST_TRY(check_not_stopped(ctx, "compare"));
    const StoredChunk& chunk = manifests_[file.manifest].chunks[number].chunk;
    const std::uint64_t end = offset + chunk.raw_bytes;
    existing.right.push_back(end <= info->size &&
                             find_in(*existing.file, chunk, offset, buffer).has_value());
    offset = end;
  }
  return existing;
}

// Whether no name elsewhere leads to it: what is changed of it is changed here only.
Result<bool> TreeTarget::is_only_ours(const PlannedFile& file, const sys::FileInfo& info) {
  std::uint64_t ours = 1;
  if (info.links == ours) return true;
  for (const Item* name : file.other_names) {
    const Result<sys::FileInfo> other = files_.stat(path_of(name->path));
    if (!other && other.error().code() == ErrorCode::kNotFound) continue;
    OUTLAST_TRY(other);
    if (other->device == info.device && other->inode == info.inode) ++ours;
  }
  return info.links == ours;
}

// Synced although nothing may have changed: whoever wrote it may not have done so.
Result<void> TreeTarget::keep(std::size_t index, const std::string& path,
                              const Existing& existing) {
  const Item& item = *plan_.files[index].item;
  if (existing.info.mode != item.mode) OUTLAST_TRY(files_.set_mode(path, item.mode));
  if (existing.info.modified != item.modified) {
    OUTLAST_TRY(files_.set_modified(path, item.modified));
  }
  if (sync_each()) OUTLAST_TRY(existing.file->sync());
  note_done(index, false);
  return {};
}

// The part that an unfinished restore has left, to go on with; nullptr if there is none that can
// be.
Result<std::shared_ptr<sys::File>> TreeTarget::open_left_part(const PlannedFile& planned,
                                                              const std::string& part,
                                                              const sys::CallContext& ctx) {
  const Result<sys::FileInfo> info = files_.stat(part);
  const bool is_ours = was_restoring_ && info && info->type == sys::FileType::kFile &&
                       info->links == 1;  // no symlink, and nobody else's file
  if (!is_ours) return nullptr;
  Result<std::unique_ptr<sys::File>> opened = files_.open(part, sys::OpenMode::kWrite);
  if (!opened) return nullptr;
  std::shared_ptr<sys::File> file = *std::move(opened);  // with parts_
  OUTLAST_TRY(files_.set_mode(part, kOnlyOwner));
  OUTLAST_TRY(file->truncate(planned.item->size));
  // Holes stay holes, which it may not have if it was of another checkpoint.
  Bytes buffer;
  std::uint64_t offset = 0;
  for (const std::uint32_t number : planned.item->chunks) {
    const StoredChunk& chunk = manifests_[planned.manifest].chunks[number].chunk;
    OUTLAST_TRY(check_not_stopped(ctx, "compare"));
    if (is_zeros(chunk) && !find_in(*file, chunk, offset, buffer)) return nullptr;
    offset += chunk.raw_bytes;
  }
  return file;
}

Result<std::vector<MissingChunk>> TreeTarget::begin_part(std::size_t index, const std::string& path,
                                                         const Existing& existing,
                                                         const sys::CallContext& ctx) {
  const PlannedFile& planned = plan_.files[index];
  const std::string part = part_path(path);
  std::shared_ptr<sys::File> file;  // with parts_
  Result<std::unique_ptr<sys::File>> made = files_.open(part, sys::OpenMode::kCreateExclusive);
  if (!made && made.error().code() == ErrorCode::kAlreadyExists) {
    OUTLAST_TRY_ASSIGN(file, open_left_part(planned, part, ctx));
    if (!file) {
      OUTLAST_TRY(remove_whatever_is_at(files_, part, ctx));
      made = files_.open(part, sys::OpenMode::kCreateExclusive);
    }
  }
  const bool goes_on = file != nullptr;
  if (!goes_on) {
    if (!made) return made.error();
    file = *std::move(made);
    OUTLAST_TRY(files_.set_mode(part, kOnlyOwner));
    OUTLAST_TRY(file->truncate(planned.item->size));
  }

  std::vector<MissingChunk> missing;
  Bytes buffer;
  std::uint64_t offset = 0;
  std::uint64_t reused = 0;
  for (std::size_t i = 0; i < planned.item->chunks.size(); ++i) {
    const std::uint32_t number = planned.item->chunks[i];
    const StoredChunk& chunk = manifests_[planned.manifest].chunks[number].chunk;
    if (!is_zeros(chunk)) {
      OUTLAST_TRY(check_not_stopped(ctx, "copy what is the same"));
      const bool is_there = goes_on && find_in(*file, chunk, offset, buffer);
      std::optional<BytesView> found;  // compared again, because it is read again
      if (!is_there && existing.file && existing.right[i]) {
        found = find_in(*existing.file, chunk, offset, buffer);
      }
      if (found) OUTLAST_TRY(file->write_at(*found, offset));
      if (is_there || found) {
        reused += chunk.raw_bytes;
      } else {
        missing.push_back({.manifest = planned.manifest, .chunk = number, .offset = offset});
      }
    }
    offset += chunk.raw_bytes;
  }
  parts_.add(index, file);
  {
    const MutexLock lock(mutex_);
    summary_.bytes_reused += reused;
  }
  if (missing.empty()) OUTLAST_TRY(finish_file(index));
  return missing;
}

Result<void> TreeTarget::write(std::size_t index, std::uint64_t offset, BytesView bytes) {
  const Item& item = *plan_.files[index].item;
  OUTLAST_CHECK(offset <= item.size && bytes.size() <= item.size - offset,
                "{} bytes at {} of '{}', which has {}", bytes.size(), offset, item.path, item.size);
  const std::string path = path_of(item.path);
  const auto run = [&]() -> Result<void> {
    OUTLAST_TRY_ASSIGN(const std::shared_ptr<sys::File> file, parts_.open(index, part_path(path)));
    OUTLAST_TRY(file->write_at(bytes, offset));
    if (bytes.size() >= kWritebackBytesMin) file->start_writeback(offset, bytes.size());
    return {};
  };
  OUTLAST_TRY(run().while_doing(restoring(path)));
  const MutexLock lock(mutex_);
  summary_.bytes_written += bytes.size();
  return {};
}

Result<void> TreeTarget::finish_file(std::size_t index) {
  const Item& item = *plan_.files[index].item;
  const std::string path = path_of(item.path);
  const std::string part = part_path(path);
  const auto run = [&]() -> Result<void> {
    OUTLAST_TRY_ASSIGN(const std::shared_ptr<sys::File> file, parts_.open(index, part));
    OUTLAST_TRY(files_.set_mode(part, item.mode));
    OUTLAST_TRY(file->set_modified(item.modified));
    if (sync_each()) OUTLAST_TRY(file->sync());
    return files_.rename(part, path);
  };
  OUTLAST_TRY(run().while_doing(restoring(path)));
  parts_.close(index);
  note_done(index, true);
  return {};
}

void TreeTarget::note_done(std::size_t index, bool written) {
  const Item& item = *plan_.files[index].item;
  const MutexLock lock(mutex_);
  OUTLAST_CHECK(!done_[index], "'{}' was finished twice", item.path);
  done_[index] = true;
  ++done_count_;
  if (written) {
    ++summary_.files_written;
  } else {
    ++summary_.files_kept;
    summary_.bytes_reused += item.size;
  }
}

}  // namespace outlast::checkpoint
