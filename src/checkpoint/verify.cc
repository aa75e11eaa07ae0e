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

#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/result.h"
#include "checkpoint/codec.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/layout.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"
#include "checkpoint/pack_survey.h"
#include "checkpoint/place_reading.h"
#include "checkpoint/prune.h"
#include "checkpoint/read_object.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

// The name that ends a key.
Result<Sha256Digest> name_in(std::string_view key, std::string_view prefix) {
  return parse_sha256(key.substr(prefix.size()));
}

class Verification {
 public:
  Verification(const ReaderParts& parts, CommitLog& log, const VerifyRequest& request)
      : parts_(parts), store_(parts.store), log_(log), request_(request) {}

  Result<VerifyReport> run(const sys::CallContext& ctx) {
    OUTLAST_TRY(log_.read_all(ctx));
    OUTLAST_TRY(list_objects(ctx));
    if (request_.full) {
      OUTLAST_TRY(read_every_entry(ctx));
      const auto done = [this](std::uint64_t bytes) { note_done(bytes); };
      OUTLAST_TRY(read_packs(parts_, packs_, done, [this] { show(); }, ctx));
    }
    for (const auto& [seq, damage] : log_.history().damaged()) {
      find_damage(entry_key(seq), damage.to_string(), {});
    }
    OUTLAST_TRY(look_at_checkpoints(ctx));
    if (request_.full) OUTLAST_TRY(look_at_the_rest(ctx));
    for (const auto& [seq, is_good] : is_good_) {
      (is_good ? report_.good : report_.damaged).push_back(seq);
    }
    report_.totals = totals();
    return std::move(report_);
  }

 private:
  Result<void> list_objects(const sys::CallContext& ctx) {
    store::ListOptions options;
    do {
      OUTLAST_TRY_ASSIGN(store::ListPage page, store_.list(options, ctx));
      for (const store::ObjectInfo& object : page.objects) {
        sizes_.emplace(object.key, object.size);
        if (object.key.starts_with(kPackPrefix)) {
          const Result<Sha256Digest> name = name_in(object.key, kPackPrefix);
          if (name) packs_[*name].size = object.size;
        }
        if (!is_ours(object.key)) {
          report_.findings.push_back({.is_damage = false,
                                      .object = store_.url_of(object.key),
                                      .sentence = "does not belong here, and is left alone"});
        }
      }
      options.page_token = std::move(page.next);
    } while (!options.page_token.empty());
    const MutexLock lock(mutex_);
    totals_.objects = sizes_.size();
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
    std::set<job::Seq> places;
    std::vector<job::Seq> unread;
    for (const auto& [key, size] : sizes_) {
      const Result<job::Seq> seq = parse_entry_key(key);
      if (!seq) continue;
      places.insert(*seq);
      const bool was_read =
          log_.history().find(*seq) != nullptr || log_.history().damaged().contains(*seq);
      if (!was_read) unread.push_back(*seq);
      note_done(size);
    }
    OUTLAST_TRY_ASSIGN(const std::vector<PlaceReading> readings,
                       read_places(store_, parts_.threads, unread, ctx));
    for (const PlaceReading& reading : readings) {
      if (reading.damage) find_damage(entry_key(reading.seq), reading.damage->to_string(), {});
    }
    show();
    find_gaps(places);
    return {};
  }

  // A name far ahead, which anybody can put there, must not make this long.
  void find_gaps(const std::set<job::Seq>& places) {
    job::Seq expected = 1;
    for (const job::Seq place : places) {
      const bool is_known = place == expected + 1 && log_.history().damaged().contains(expected);
      if (place > expected && !is_known) {
        const std::string others =
            place == expected + 1 ? "" : fmt::format(", with all up to entry {}", place - 1);
        find_damage(entry_key(expected), "is missing from the log" + others, {});
      }
      expected = place + 1;
    }
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
          if (!is_damage(manifest.error())) return manifest.error();
          find_damage(manifest_key(name), manifest.error().to_string(), {seq});
          is_good = false;
          continue;
        }
        look_at_packs(*manifest, seq, is_good);
      }
    }
    return {};
  }

  void look_at_packs(const Manifest& manifest, job::Seq seq, bool& is_good) {
    std::vector<std::vector<const StoredChunk*>> wanted(manifest.packs.size());
    for (const PlacedChunk& placed : manifest.chunks) {
      if (placed.chunk.codec != CodecKind::kZero) wanted[placed.pack].push_back(&placed.chunk);
    }
    for (std::size_t number = 0; number < manifest.packs.size(); ++number) {
      const Sha256Digest& name = manifest.packs[number];
      packs_needed_.insert(name);
      const auto pack = packs_.find(name);
      std::string problem = pack == packs_.end() ? "is missing" : pack->second.damage;
      for (const StoredChunk* chunk : wanted[number]) {
        if (!problem.empty()) break;
        if (request_.full) {
          const auto stored = pack->second.chunks.find(chunk->offset);
          if (stored == pack->second.chunks.end() || stored->second != *chunk) {
            problem = "does not have the chunks that a manifest names";
          }
        } else if (chunk->offset + chunk->stored_bytes > pack->second.size) {
          problem = "is cut short";
        }
      }
      if (problem.empty()) continue;
      find_damage(pack_key(name), problem, {seq});
      is_good = false;
    }
  }

  // What no checkpoint needs: left by broken saves, or waiting to be removed.
  Result<void> look_at_the_rest(const sys::CallContext& ctx) {
    for (const auto& [name, pack] : packs_) {
      // What nobody needs may go at any time.
      if (pack.damage.empty() || pack.is_gone || packs_needed_.contains(name)) continue;
      find_damage(pack_key(name), pack.damage, {});
    }
    for (const auto& [key, size] : sizes_) {
      if (key.starts_with(kManifestPrefix) && !manifests_seen_.contains(key)) {
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
    if (!is_damage(loaded.error())) return loaded.error();
    find_damage(key, loaded.error().to_string(), {});
    return {};
  }

  // The same damage, met again for another checkpoint, is one finding.
  void find_damage(const std::string& key, const std::string& sentence,
                   const std::vector<job::Seq>& checkpoints) {
    const std::string url = store_.url_of(key);
    const auto [at, is_new] = damages_.try_emplace({url, sentence}, report_.findings.size());
    if (!is_new) {
      std::vector<job::Seq>& known = report_.findings[at->second].checkpoints;
      known.insert(known.end(), checkpoints.begin(), checkpoints.end());
      return;
    }
    report_.findings.push_back(
        {.is_damage = true, .object = url, .sentence = sentence, .checkpoints = checkpoints});
  }

  void note_done(std::uint64_t bytes) {
    const MutexLock lock(mutex_);
    ++totals_.objects_done;
    totals_.bytes_done += bytes;
  }

  VerifyProgress totals() {
    const MutexLock lock(mutex_);
    return totals_;
  }

  void show() {
    if (request_.watch) request_.watch(totals());
  }

  const ReaderParts parts_;
  store::ObjectStore& store_;
  CommitLog& log_;
  const VerifyRequest& request_;
  VerifyReport report_;
  std::map<std::string, std::uint64_t> sizes_;  // of every object there is, by key
  std::map<std::pair<std::string, std::string>, std::size_t>
      damages_;  // in findings, by what they say
  std::map<job::Seq, bool> is_good_;
  std::set<std::string> manifests_seen_;
  std::map<Sha256Digest, PackState> packs_;  // that there are
  std::set<Sha256Digest> packs_needed_;
  Mutex mutex_;
  VerifyProgress totals_ OUTLAST_GUARDED_BY(mutex_);
};

}  // namespace

bool VerifyReport::has_damage() const {
  return std::ranges::any_of(findings, &Finding::is_damage);
}

Result<VerifyReport> verify(const ReaderParts& parts, CommitLog& log, const VerifyRequest& request,
                            const sys::CallContext& ctx) {
  return Verification(parts, log, request).run(ctx);
}

}  // namespace outlast::checkpoint
