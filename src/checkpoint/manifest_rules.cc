#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/codec.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"

// What a manifest must be to be believed.
namespace outlast::checkpoint {
namespace {

constexpr std::size_t kPathBytesMax = 4095;
constexpr std::uint64_t kSizeMax = std::numeric_limits<std::int64_t>::max();

Error broken_rule(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("not a sound manifest: {}", what)};
}

std::string shown_path(std::string_view path) {
  return canonical_json(Json(path));
}

bool has_duplicates(std::vector<Sha256Digest> names) {
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

Result<void> check_chunks(const Manifest& manifest) {
  if (has_duplicates(manifest.packs)) return broken_rule("a pack is listed twice");
  std::vector<bool> used(manifest.packs.size());
  std::vector<Sha256Digest> names;
  for (const auto& [pack, chunk] : manifest.chunks) {
    names.push_back(chunk.name);
    if (!is_plausible(chunk)) {
      return broken_rule(fmt::format("chunk {} has {} bytes and is stored in {} as '{}'",
                                     chunk.name.hex(), chunk.raw_bytes, chunk.stored_bytes,
                                     to_string(chunk.codec)));
    }
    if (chunk.codec == CodecKind::kZero) {
      if (pack == 0 && chunk.offset == 0 && chunk.crc32c == 0) continue;
      return broken_rule(fmt::format("chunk {} is zero and in a pack", chunk.name.hex()));
    }
    if (pack >= manifest.packs.size()) {
      return broken_rule(fmt::format("chunk {} is in a pack that is not listed", chunk.name.hex()));
    }
    if (chunk.offset > kPackBytesMax - chunk.stored_bytes) {
      return broken_rule(fmt::format("chunk {} ends behind its pack", chunk.name.hex()));
    }
    used[pack] = true;
  }
  if (has_duplicates(std::move(names))) return broken_rule("a chunk is listed twice");
  if (std::ranges::find(used, false) != used.end()) {
    return broken_rule("a pack is listed and has no chunk");
  }
  return {};
}

const Item* find_item(const Manifest& manifest, std::string_view path) {
  const auto found = std::ranges::lower_bound(manifest.items, path, {}, &Item::path);
  return found != manifest.items.end() && found->path == path ? &*found : nullptr;
}

// Wants the items to be in order.
Result<void> check_surroundings(const Manifest& manifest, const Item& item) {
  for (std::size_t slash = item.path.find('/'); slash != std::string::npos;
       slash = item.path.find('/', slash + 1)) {
    const Item* above = find_item(manifest, std::string_view(item.path).substr(0, slash));
    if (above != nullptr && above->kind != ItemKind::kFolder) {
      return broken_rule(fmt::format("{} would be in {}, which is a {}", shown_path(item.path),
                                     shown_path(above->path), to_string(above->kind)));
    }
  }
  if (item.kind != ItemKind::kHardlink) return {};
  const Item* file = find_item(manifest, item.target);
  if (file == nullptr || file->kind != ItemKind::kFile) {
    return broken_rule(fmt::format("{} is a second name of {}, which is no file of it",
                                   shown_path(item.path), shown_path(item.target)));
  }
  return {};
}

// What its kind does not have must not be there.
Result<void> check_fields(const Item& item) {
  const bool has_content = item.kind == ItemKind::kFile || item.kind == ItemKind::kRegion;
  const bool has_mode = item.kind == ItemKind::kFile || item.kind == ItemKind::kFolder;
  const bool has_target = item.kind == ItemKind::kSymlink || item.kind == ItemKind::kHardlink;
  const auto refused = [&](std::string_view why) {
    return broken_rule(fmt::format("{}: {}", shown_path(item.path), why));
  };
  if (item.mode > 07777) return refused(fmt::format("mode {:o} is none", item.mode));
  if (has_target != !item.target.empty()) return refused("its target is missing, or too much");
  if (item.target.size() > kPathBytesMax || item.target.find('\0') != std::string::npos) {
    return refused("its target is no path");
  }
  if ((!has_content && (item.size != 0 || !item.chunks.empty())) ||
      (!has_mode && (item.mode != 0 || item.modified != WallTime())) ||
      (item.kind != ItemKind::kFile && item.identity)) {
    return refused(fmt::format("it has what a {} has not", to_string(item.kind)));
  }
  return {};
}

Result<std::uint64_t> sum_of_chunks(const Manifest& manifest, const Item& item,
                                    std::vector<bool>& used) {
  std::uint64_t sum = 0;
  for (const std::uint32_t index : item.chunks) {
    if (index >= manifest.chunks.size()) {
      return broken_rule(fmt::format("{} has a chunk that is not listed", shown_path(item.path)));
    }
    used[index] = true;
    sum += manifest.chunks[index].chunk.raw_bytes;
    if (sum > kSizeMax) return broken_rule(fmt::format("{} is too large", shown_path(item.path)));
  }
  return sum;
}

Result<void> check_items(const Manifest& manifest) {
  std::vector<bool> used(manifest.chunks.size());
  std::uint64_t total = 0;
  const Item* before = nullptr;
  for (const Item& item : manifest.items) {
    if (!is_safe_path(item.path)) {
      return broken_rule(fmt::format("the path {} would lead elsewhere", shown_path(item.path)));
    }
    if (before != nullptr && before->path >= item.path) {
      return broken_rule(
          fmt::format("{} comes after {}", shown_path(item.path), shown_path(before->path)));
    }
    before = &item;
    OUTLAST_TRY(check_fields(item));
    OUTLAST_TRY_ASSIGN(const std::uint64_t size, sum_of_chunks(manifest, item, used));
    if (size != item.size) {
      return broken_rule(fmt::format("{} has {} bytes, and its chunks have {}",
                                     shown_path(item.path), item.size, size));
    }
    total += size;
    if (total > kSizeMax) return broken_rule("all together it is too large");
  }
  for (const Item& item : manifest.items) OUTLAST_TRY(check_surroundings(manifest, item));
  if (std::ranges::find(used, false) != used.end()) return broken_rule("a chunk is in no file");
  return {};
}

}  // namespace

bool is_safe_path(std::string_view path) {
  if (path.size() > kPathBytesMax || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (segment.empty() || segment == "." || segment == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

Result<void> check_manifest(const Manifest& manifest) {
  if (manifest.origin.size() > kPathBytesMax) return broken_rule("its origin is too long");
  if (manifest.salt.size() > kPathBytesMax) return broken_rule("its salt is too long");
  OUTLAST_TRY(check_chunks(manifest));
  return check_items(manifest);
}

}  // namespace outlast::checkpoint
