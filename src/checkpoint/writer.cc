#include "checkpoint/writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/result.h"
#include "checkpoint/chunk_table.h"
#include "checkpoint/compression_policy.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"
#include "checkpoint/save_pipeline.h"
#include "checkpoint/save_source.h"
#include "checkpoint/tree_scan.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

// What a folder on a disk takes in a second, until it has been measured: more than can be
// compressed meanwhile.
constexpr double kLocalRate = 2e9;

PackSalt make_salt(Random& random) {
  PackSalt salt{};
  for (std::size_t at = 0; at < salt.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t draw = random.next();
    std::memcpy(salt.data() + at, &draw, sizeof draw);
  }
  return salt;
}

// Files of the base that can be known again without being read.
class KnownFiles {
 public:
  KnownFiles(const std::vector<Manifest>& base, const std::string& origin) {
    if (origin.empty()) return;
    for (std::size_t number = 0; number < base.size(); ++number) {
      if (base[number].origin != origin) continue;
      for (const Item& item : base[number].items) {
        if (item.identity) files_.try_emplace(item.path, Known{.manifest = number, .item = &item});
      }
    }
  }

  struct Known {
    std::size_t manifest = 0;
    const Item* item = nullptr;
  };
  // Only if nothing of it has changed, as far as the file system tells.
  std::optional<Known> find(const FoundItem& found) const {
    const auto known = files_.find(found.item.path);
    if (known == files_.end()) return std::nullopt;
    const Item& item = *known->second.item;
    const FileIdentity now = {
        .inode = found.info.inode, .modified = found.info.modified, .changed = found.info.changed};
    if (item.identity != now || item.size != found.info.size) return std::nullopt;
    return known->second;
  }

 private:
  std::map<std::string_view, Known> files_;
};

Result<void> check_names(const std::vector<Item>& items) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (items[i - 1].path == items[i].path) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("'{}' would be saved twice; give one of them another name", items[i].path));
    }
  }
  return {};
}

}  // namespace

Result<SavedPart> save_part(const WriterParts& parts, const State& state,
                            const std::vector<Manifest>& base, const SaveOptions& options,
                            LinkRate& rate, const sys::CallContext& ctx) {
  ChunkTable table(base);
  const KnownFiles known_files(base, state.origin);
  SavedPart saved;
  SaveProgress progress;
  std::vector<Item> items;
  items.reserve(state.files.size() + state.regions.size());  // tasks point into it
  std::vector<SaveTask> tasks;
  for (const FoundItem& found : state.files) {
    Item& item = items.emplace_back(found.item);
    if (item.kind != ItemKind::kFile) continue;
    ++saved.files;
    progress.bytes += found.info.size;
    if (const auto known = known_files.find(found)) {
      item.size = found.info.size;
      item.identity = known->item->identity;
      item.chunks = table.ids_of(known->manifest, *known->item);
      progress.bytes_known += item.size;
      progress.bytes_same += item.size;
      continue;
    }
    tasks.push_back({.item = &item, .open = [&parts, &found] {
                       return open_file_to_save(parts.files, parts.clock, found.path);
                     }});
  }
  for (const Region& region : state.regions) {
    if (!is_safe_path(region.name)) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("'{}' cannot name a region: it must be a relative path", region.name));
    }
    Item& item = items.emplace_back(Item{.kind = ItemKind::kRegion, .path = region.name});
    progress.bytes += region.bytes.size();
    tasks.push_back({.item = &item, .open = [&region]() -> Result<std::unique_ptr<SaveSource>> {
                       return make_region_to_save(region);
                     }});
  }

  if (rate.bytes_per_second == 0 && parts.store.properties().kind == "directory") {
    rate.bytes_per_second = kLocalRate;
  }
  CompressionPolicy compression(options.compression, rate, options.workers);
  const PackSalt salt = make_salt(parts.random);
  SavePipeline pipeline(parts, options, salt, table, compression);
  OUTLAST_TRY_ASSIGN(saved.totals, pipeline.run(std::move(tasks), progress, ctx));
  rate = compression.rate();

  std::ranges::sort(items, {}, &Item::path);
  OUTLAST_TRY(check_names(items));
  saved.manifest = table.assemble(std::move(items));
  saved.manifest.salt = hex_encode(salt);
  saved.manifest.rank = state.rank;
  saved.manifest.origin = state.origin;
  const std::string text = encode_manifest(saved.manifest);
  saved.name = sha256(as_bytes(text));
  OUTLAST_TRY(
      parts.store.put(manifest_key(saved.name), as_bytes(text), store::WriteIf::always(), ctx));
  saved.totals.bytes_stored += text.size();
  return saved;
}

}  // namespace outlast::checkpoint
