#include "checkpoint/prune.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/layout.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/read_object.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "job/retention.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

constexpr int kFormat = 1;
constexpr std::uint64_t kListBytesMax = 1U << 30U;
// A writer that commits while we look makes us look again; but not forever.
constexpr int kPruneTriesMax = 10;

using Objects = std::map<std::string, store::ObjectInfo>;  // by key

Result<Objects> list_all(store::ObjectStore& store, const sys::CallContext& ctx) {
  Objects objects;
  for (const std::string_view prefix : {kManifestPrefix, kPackPrefix, kCondemnedPrefix}) {
    store::ListOptions options = {.prefix = std::string(prefix)};
    do {
      OUTLAST_TRY_ASSIGN(store::ListPage page, store.list(options, ctx));
      for (store::ObjectInfo& object : page.objects) {
        std::string key = object.key;
        objects.emplace(std::move(key), std::move(object));
      }
      options.page_token = std::move(page.next);
    } while (!options.page_token.empty());
  }
  return objects;
}

// Adds the keys of everything that a checkpoint needs.
Result<void> add_needs(store::ObjectStore& store, const job::LogEntry& entry,
                       std::set<std::string>& keys, const sys::CallContext& ctx) {
  for (const Sha256Digest& name : entry.checkpoint.manifests) {
    keys.insert(manifest_key(name));
    OUTLAST_TRY_ASSIGN(const Manifest manifest, load_manifest(store, name, ctx));
    for (const Sha256Digest& pack : manifest.packs) keys.insert(pack_key(pack));
  }
  return {};
}

// One attempt at pruning, from what the log says now.
class Pruning {
 public:
  Pruning(store::ObjectStore& store, CommitLog& log, const PruneRequest& request)
      : store_(store), log_(log), request_(request) {}

  // False if somebody else has added a checkpoint meanwhile: look again.
  Result<bool> run(const sys::CallContext& ctx) {
    OUTLAST_TRY(log_.read_all(ctx));
    OUTLAST_TRY_ASSIGN(now_, store_.server_time(ctx));
    OUTLAST_TRY(choose(ctx));
    OUTLAST_TRY_ASSIGN(objects_, list_all(store_, ctx));
    OUTLAST_TRY(remove_condemned(ctx));
    condemn();
    if (request_.dry_run) return true;
    if (summary.dropped.empty() && summary.objects_condemned == 0) return true;
    return commit(ctx);
  }

  PruneSummary summary;

 private:
  Result<void> choose(const sys::CallContext& ctx) {
    const job::History& history = log_.history();
    if (!history.damaged().empty() && !request_.drop_damaged) {
      const auto& [seq, damage] = *history.damaged().begin();
      return damage.while_doing(
          fmt::format("nothing was removed: entry {} of the log cannot be "
                      "read, and so nobody knows what it needs",
                      seq));
    }
    std::vector<job::LogEntry> checkpoints;
    for (const job::Seq seq : history.restorable()) {
      if (const job::LogEntry* entry = history.find(seq)) checkpoints.push_back(*entry);
    }
    const std::set<job::Seq> kept =
        job::choose_kept(request_.retention, checkpoints, history.pinned());
    for (const job::LogEntry& entry : checkpoints) {
      bool keep = kept.contains(entry.seq);
      const Result<void> known = add_needs(store_, entry, keep ? needed_ : dropped_, ctx);
      // What a dropped one needed, and cannot say any more, goes when it is old enough.
      if (!known && keep) {
        if (known.error().code() != ErrorCode::kCorrupt || !request_.drop_damaged) {
          return known.error().while_doing(fmt::format(
              "nothing was removed: checkpoint {} is kept, but cannot be read", entry.seq));
        }
        keep = false;
      }
      (keep ? summary.kept : summary.dropped).push_back(entry.seq);
    }
    return {};
  }

  // What was condemned before, and long enough ago, goes now: its entry is in the log.
  Result<void> remove_condemned(const sys::CallContext& ctx) {
    const std::optional<Sha256Digest> list = newest_list();
    if (!list) return {};
    OUTLAST_TRY_ASSIGN(const Condemned before, load_condemned(store_, *list, ctx));
    for (const auto& [key, since] : before.objects) {
      if (needed_.contains(key)) continue;  // no writer of ours does that
      const bool is_there = objects_.contains(key);
      if (is_there && since + request_.grace <= now_) {
        if (!request_.dry_run) OUTLAST_TRY(store_.remove(key, ctx));
        ++summary.objects_removed;
        objects_.erase(key);
      } else if (is_there) {
        condemned_.objects.emplace(key, since);
      }
    }
    // The list itself is read by those who commit meanwhile, so that it goes as they go.
    condemned_.objects.emplace(condemned_key(*list), now_);
    return {};
  }

  std::optional<Sha256Digest> newest_list() const {
    const job::History& history = log_.history();
    for (job::Seq seq = history.next() - 1; seq >= history.oldest() && seq > 0; --seq) {
      const job::LogEntry* entry = history.find(seq);
      if (entry != nullptr && entry->kind == job::EntryKind::kPrune && history.counts(seq)) {
        return entry->prune.condemned;
      }
    }
    return std::nullopt;
  }

  void condemn() {
    for (const auto& [key, object] : objects_) {
      if (needed_.contains(key) || condemned_.objects.contains(key)) continue;
      // Of what nobody knows: it may be of a save that goes on right now.
      if (!dropped_.contains(key) && object.modified + request_.grace > now_) continue;
      condemned_.objects.emplace(key, now_);
      ++summary.objects_condemned;
      summary.bytes_condemned += object.size;
    }
  }

  Result<bool> commit(const sys::CallContext& ctx) {
    job::LogEntry entry = {.kind = job::EntryKind::kPrune, .why = request_.why};
    entry.prune.kept = summary.kept;
    for (const job::Seq seq : log_.history().pinned()) entry.prune.pinned.push_back(seq);
    if (!condemned_.objects.empty()) {
      const std::string text = encode_condemned(condemned_);
      entry.prune.condemned = sha256(as_bytes(text));
      OUTLAST_TRY(store_.put(condemned_key(*entry.prune.condemned), as_bytes(text),
                             store::WriteIf::always(), ctx));
    }
    bool overtaken = false;
    const CommitLog::Objection objection = [&](const job::LogEntry& theirs) -> Result<void> {
      // A fence or an ending changes nothing about what is needed.
      if (theirs.kind != job::EntryKind::kCheckpoint && theirs.kind != job::EntryKind::kPrune &&
          theirs.kind != job::EntryKind::kPin && theirs.kind != job::EntryKind::kUnpin) {
        return {};
      }
      overtaken = true;
      return Error(ErrorCode::kConditionFailed, "somebody else has added to the log");
    };
    const Result<job::Seq> appended = log_.append(std::move(entry), objection, ctx);
    if (appended) return true;
    if (overtaken) return false;
    return appended.error();
  }

  store::ObjectStore& store_;
  CommitLog& log_;
  const PruneRequest& request_;
  WallTime now_;
  std::set<std::string> needed_;   // by the checkpoints that are kept
  std::set<std::string> dropped_;  // needed by those that are not
  Objects objects_;
  Condemned condemned_;  // what the new entry's list will say
};

}  // namespace

std::string encode_condemned(const Condemned& condemned) {
  Json objects = Json::array();
  for (const auto& [key, since] : condemned.objects) {
    objects.push_back(Json::array({key, since.time_since_epoch().count()}));
  }
  return canonical_json({{"format", kFormat}, {"objects", std::move(objects)}});
}

Result<Condemned> decode_condemned(std::string_view text) {
  const auto corrupt = [](const char* what) {
    return Error(ErrorCode::kCorrupt, fmt::format("not a list of condemned objects: {}", what));
  };
  OUTLAST_TRY_ASSIGN(const Json json, parse_json(text, {.bytes_max = kListBytesMax}));
  OUTLAST_TRY_ASSIGN(const std::uint64_t format, json_uint(json, "format"));
  if (format > kFormat) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the list of condemned objects is of format {}; this outlast reads {}: "
                    "use a newer one",
                    format, kFormat));
  }
  const auto objects = json.find("objects");
  if (objects == json.end() || !objects->is_array()) return corrupt("it has no objects");
  Condemned condemned;
  for (const Json& row : *objects) {
    if (!row.is_array() || row.size() != 2 || !row[0].is_string() || !row[1].is_number_integer()) {
      return corrupt("an object without key and time");
    }
    const auto& key = row[0].get_ref<const std::string&>();
    if (!key.starts_with(kPackPrefix) && !key.starts_with(kManifestPrefix) &&
        !key.starts_with(kCondemnedPrefix)) {
      return corrupt("an object that is none of ours");
    }
    condemned.objects.emplace(key, WallTime(std::chrono::nanoseconds(row[1].get<std::int64_t>())));
  }
  if (encode_condemned(condemned) != text) return corrupt("it is not in its canonical form");
  return condemned;
}

Result<Condemned> load_condemned(store::ObjectStore& store, const Sha256Digest& name,
                                 const sys::CallContext& ctx) {
  const std::string key = condemned_key(name);
  OUTLAST_TRY_ASSIGN(const std::string text, read_object(store, key, kListBytesMax, ctx));
  if (sha256(as_bytes(text)) != name) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{} has other bytes than were stored", store.url_of(key)));
  }
  return decode_condemned(text).while_doing(fmt::format("read {}", store.url_of(key)));
}

Result<PruneSummary> prune(store::ObjectStore& store, CommitLog& log, const PruneRequest& request,
                           const sys::CallContext& ctx) {
  for (int tries = 0; tries < kPruneTriesMax; ++tries) {
    Pruning pruning(store, log, request);
    OUTLAST_TRY_ASSIGN(const bool done, pruning.run(ctx));
    if (done) return std::move(pruning.summary);
  }
  return Error(ErrorCode::kUnavailable,
               "others added to the log each time it was looked at; prune again later");
}

Result<void> check_not_condemned(store::ObjectStore& store, const job::LogEntry& theirs,
                                 const std::set<std::string>& needed, const sys::CallContext& ctx) {
  if (theirs.kind != job::EntryKind::kPrune || !theirs.prune.condemned) return {};
  Result<Condemned> condemned = load_condemned(store, *theirs.prune.condemned, ctx);
  // A list that is gone was there long ago: who has not committed since must begin again.
  if (!condemned && condemned.error().code() != ErrorCode::kNotFound) return condemned.error();
  bool is_hit = !condemned;
  if (condemned) {
    for (const std::string& key : needed) is_hit |= condemned->objects.contains(key);
  }
  if (!is_hit) return {};
  return Error(ErrorCode::kConditionFailed,
               fmt::format("what this checkpoint builds on was pruned meanwhile (entry {}); save "
                           "again",
                           theirs.seq));
}

}  // namespace outlast::checkpoint
