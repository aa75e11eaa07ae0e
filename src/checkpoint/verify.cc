#include "checkpoint/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/codec.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/layout.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"
#include "checkpoint/place_reading.h"
#include "checkpoint/prune.h"
#include "checkpoint/read_object.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

// Whether an error says something about the object, and not about the way to it.
bool speaks_of_damage(const Error& error) {
  return error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kInvalidArgument;
}

// The name that ends a key.
Result<Sha256Digest> name_in(std::string_view key, std::string_view prefix) {
  return parse_sha256(key.substr(prefix.size()));
}

class Verification {
 public:
  Verification(store::ObjectStore& store, CommitLog& log, const VerifyRequest& request)
      : store_(store), log_(log), request_(request) {}

  Result<VerifyReport> run(const sys::CallContext& ctx) {
    OUTLAST_TRY(log_.read_all(ctx));
    OUTLAST_TRY(list_objects(ctx));
    if (request_.full) OUTLAST_TRY(read_every_entry(ctx));
    for (const auto& [seq, damage] : log_.history().damaged()) {
      find_damage(entry_key(seq), damage.to_string(), {});
    }
    OUTLAST_TRY(look_at_checkpoints(ctx));
    if (request_.full) OUTLAST_TRY(look_at_the_rest(ctx));
    for (const auto& [seq, is_good] : is_good_) {
      (is_good ? report_.good : report_.damaged).push_back(seq);
    }
    return std::move(report_);
  }

 private:
  Result<void> list_objects(const sys::CallContext& ctx) {
    store::ListOptions options;
    do {
      OUTLAST_TRY_ASSIGN(store::ListPage page, store_.list(options, ctx));
      for (const store::ObjectInfo& object : page.objects) {
        sizes_.emplace(object.key, object.size);
        if (!is_ours(object.key)) {
          report_.findings.push_back({.is_damage = false,
                                      .object = store_.url_of(object.key),
                                      .sentence = "does not belong here, and is left alone"});
        }
      }
      options.page_token = std::move(page.next);
    } while (!options.page_token.empty());
    report_.totals.objects = sizes_.size();
    return {};
  }

  static bool is_ours(std::string_view key) {
    if (key.starts_with(kEntryPrefix)) return parse_entry_key(key).has_value();
    for (const std::string_view prefix : {kManifestPrefix, kPackPrefix, kCondemnedPrefix}) {
      if (key.starts_with(prefix)) return name_in(key, prefix).has_value();
    }
    // Of the other parts of a job.
    return key == "spec.json" || key.starts_with("attempts/") || key.starts_with("output/");
  }

  // Also those that a later prune has made unimportant.
  Result<void> read_every_entry(const sys::CallContext& ctx) {
    job::Seq newest = 0;
    std::set<job::Seq> places;
    for (const auto& [key, size] : sizes_) {
      const Result<job::Seq> seq = parse_entry_key(key);
      if (!seq) continue;
      places.insert(*seq);
      newest = std::max(newest, *seq);
      if (log_.history().find(*seq) == nullptr && !log_.history().damaged().contains(*seq)) {
        OUTLAST_TRY_ASSIGN(const PlaceReading reading, read_place(store_, *seq, ctx));
        if (reading.damage) find_damage(key, reading.damage->to_string(), {});
      }
      done(size);
    }
    for (job::Seq seq = 1; seq < newest; ++seq) {
      if (!places.contains(seq) && !log_.history().damaged().contains(seq)) {
        find_damage(entry_key(seq), "is missing from the log", {});
      }
    }
    return {};
  }

  Result<void> look_at_checkpoints(const sys::CallContext& ctx) {
    for (const job::Seq seq : log_.history().restorable()) {
      const job::LogEntry* entry = log_.history().find(seq);
      if (entry == nullptr) continue;
      bool& is_good = is_good_.emplace(seq, true).first->second;
      for (const Sha256Digest& name : entry->checkpoint.manifests) {
        const Result<Manifest> manifest = load_manifest(store_, name, ctx);
        manifests_seen_.insert(manifest_key(name));
        if (!manifest) {
          if (!speaks_of_damage(manifest.error())) return manifest.error();
          find_damage(manifest_key(name), manifest.error().to_string(), {seq});
          is_good = false;
          continue;
        }
        OUTLAST_TRY(look_at_packs(*manifest, seq, is_good, ctx));
      }
    }
    return {};
  }

  Result<void> look_at_packs(const Manifest& manifest, job::Seq seq, bool& is_good,
                             const sys::CallContext& ctx) {
    std::vector<std::vector<const StoredChunk*>> wanted(manifest.packs.size());
    for (const PlacedChunk& placed : manifest.chunks) {
      if (placed.chunk.codec != CodecKind::kZero) wanted[placed.pack].push_back(&placed.chunk);
    }
    for (std::size_t number = 0; number < manifest.packs.size(); ++number) {
      const Sha256Digest& name = manifest.packs[number];
      OUTLAST_TRY_ASSIGN(const PackState* const pack, look_at_pack(name, ctx));
      std::string problem = pack->damage;
      for (const StoredChunk* chunk : wanted[number]) {
        if (!problem.empty()) break;
        if (request_.full) {
          const auto stored = pack->chunks.find(chunk->offset);
          if (stored == pack->chunks.end() || stored->second != *chunk) {
            problem = "does not have the chunks that a manifest names";
          }
        } else if (chunk->offset + chunk->stored_bytes > pack->size) {
          problem = "is cut short";
        }
      }
      if (problem.empty()) continue;
      find_damage(pack_key(name), problem, {seq});
      is_good = false;
    }
    return {};
  }

  struct PackState {
    std::uint64_t size = 0;
    std::map<std::uint64_t, StoredChunk> chunks = {};  // by offset; when every byte is looked at
    std::string damage = {};                           // what is wrong with it; "" if nothing is
  };

  // Each pack is looked at once, however many checkpoints need it.
  Result<const PackState*> look_at_pack(const Sha256Digest& name, const sys::CallContext& ctx) {
    const std::string key = pack_key(name);
    const auto [at, is_new] = packs_.try_emplace(key);
    PackState& state = at->second;
    if (!is_new) return &state;
    const auto size = sizes_.find(key);
    if (size == sizes_.end()) {
      state.damage = "is missing";
      return &state;
    }
    state.size = size->second;
    if (!request_.full) return &state;
    const Result<std::string> bytes = read_object(store_, key, kPackBytesMax, ctx);
    if (!bytes && bytes.error().code() == ErrorCode::kNotFound) {
      state.damage = "is missing";  // since it was listed
      return &state;
    }
    if (!bytes) {
      if (!speaks_of_damage(bytes.error())) return bytes.error();
      state.damage = bytes.error().to_string();
      return &state;
    }
    done(bytes->size());
    const Result<void> right = check_every_chunk(name, as_bytes(*bytes), state);
    if (!right) state.damage = right.error().to_string();
    return &state;
  }

  Result<void> check_every_chunk(const Sha256Digest& name, BytesView bytes, PackState& state) {
    OUTLAST_TRY_ASSIGN(const std::vector<StoredChunk> chunks, check_pack(name, bytes));
    for (const StoredChunk& chunk : chunks) {
      raw_.resize(chunk.raw_bytes);
      OUTLAST_TRY(
          codec_.decode(chunk.codec, bytes.subspan(chunk.offset, chunk.stored_bytes), raw_));
      if (sha256(raw_) != chunk.name) {
        return Error(ErrorCode::kCorrupt,
                     fmt::format("the chunk at {} is not what its name says", chunk.offset));
      }
      state.chunks.emplace(chunk.offset, chunk);
    }
    return {};
  }

  // What no checkpoint needs: left by broken saves, or waiting to be removed.
  Result<void> look_at_the_rest(const sys::CallContext& ctx) {
    for (const auto& [key, size] : sizes_) {
      if (key.starts_with(kPackPrefix) && !packs_.contains(key)) {
        const Result<Sha256Digest> name = name_in(key, kPackPrefix);
        if (!name) continue;
        OUTLAST_TRY_ASSIGN(const PackState* const pack, look_at_pack(*name, ctx));
        if (!pack->damage.empty()) find_damage(key, pack->damage, {});
      } else if (key.starts_with(kManifestPrefix) && !manifests_seen_.contains(key)) {
        const Result<Sha256Digest> name = name_in(key, kManifestPrefix);
        if (!name) continue;
        OUTLAST_TRY(look_at(key, load_manifest(store_, *name, ctx)));
      } else if (key.starts_with(kCondemnedPrefix)) {
        const Result<Sha256Digest> name = name_in(key, kCondemnedPrefix);
        if (!name) continue;
        OUTLAST_TRY(look_at(key, load_condemned(store_, *name, ctx)));
      }
    }
    return {};
  }

  template <typename T>
  Result<void> look_at(const std::string& key, const Result<T>& loaded) {
    if (loaded) return {};
    if (!speaks_of_damage(loaded.error())) return loaded.error();
    find_damage(key, loaded.error().to_string(), {});
    return {};
  }

  // The same damage, met again for another checkpoint, is one finding.
  void find_damage(const std::string& key, const std::string& sentence,
                   const std::vector<job::Seq>& checkpoints) {
    const std::string url = store_.url_of(key);
    const auto known = std::ranges::find(report_.findings, url, &Finding::object);
    if (known != report_.findings.end() && known->sentence == sentence) {
      known->checkpoints.insert(known->checkpoints.end(), checkpoints.begin(), checkpoints.end());
      return;
    }
    report_.findings.push_back(
        {.is_damage = true, .object = url, .sentence = sentence, .checkpoints = checkpoints});
  }

  void done(std::uint64_t bytes) {
    ++report_.totals.objects_done;
    report_.totals.bytes_done += bytes;
    if (request_.watch) request_.watch(report_.totals);
  }

  store::ObjectStore& store_;
  CommitLog& log_;
  const VerifyRequest& request_;
  VerifyReport report_;
  std::map<std::string, std::uint64_t> sizes_;  // of every object there is, by key
  std::map<job::Seq, bool> is_good_;
  std::set<std::string> manifests_seen_;
  std::map<std::string, PackState> packs_;  // by key
  Codec codec_;
  Bytes raw_;
};

}  // namespace

bool VerifyReport::has_damage() const {
  return std::ranges::any_of(findings, &Finding::is_damage);
}

Result<VerifyReport> verify(store::ObjectStore& store, CommitLog& log, const VerifyRequest& request,
                            const sys::CallContext& ctx) {
  return Verification(store, log, request).run(ctx);
}

}  // namespace outlast::checkpoint
