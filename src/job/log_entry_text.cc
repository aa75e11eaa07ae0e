#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "job/log_entry.h"

namespace outlast::job {
namespace {

constexpr std::uint64_t kFormat = 1;
constexpr std::size_t kSumDigits = 32;

Json entry_json(const CheckpointFacts& facts) {
  Json manifests = Json::array();
  for (const Sha256Digest& name : facts.manifests) manifests.push_back(name.hex());
  Json json = {{"manifests", std::move(manifests)},
               {"metrics", Json::object()},
               {"files", facts.files},
               {"bytes", facts.bytes},
               {"stored_bytes", facts.stored_bytes}};
  for (const auto& [name, value] : facts.metrics) json["metrics"][name] = value;
  if (facts.step) json["step"] = *facts.step;
  return json;
}

Json entry_json(const PruneFacts& facts) {
  Json json = {{"kept", facts.kept}, {"pinned", facts.pinned}};
  if (facts.condemned) json["condemned"] = facts.condemned->hex();
  return json;
}

Json entry_json(const LogEntry& entry) {
  Json json = {{"format", kFormat},
               {"seq", entry.seq},
               {"epoch", entry.epoch},
               {"floor", entry.floor},
               {"kind", to_string(entry.kind)},
               {"nonce", entry.nonce},
               {"time", format_rfc3339(entry.time)},
               {"writer", entry.writer},
               {"why", entry.why}};
  if (entry.ended != 0) json["ended"] = entry.ended;
  if (entry.kind == EntryKind::kCheckpoint) json["checkpoint"] = entry_json(entry.checkpoint);
  if (entry.kind == EntryKind::kPrune) json["prune"] = entry_json(entry.prune);
  if (has_target(entry.kind)) json["target"] = entry.target;
  return json;
}

// `"sum"` is never the first key, and quotes within a text are escaped: there is no second place
// that looks like this.
constexpr std::string_view kBeforeSum = ",\"sum\":\"";

Result<Sha256Digest> digest_from(const Json& json) {
  if (!json.is_string()) return Error(ErrorCode::kCorrupt, "a hash is no text");
  return parse_sha256(json.get_ref<const std::string&>());
}

Result<CheckpointFacts> checkpoint_from(const Json& json) {
  CheckpointFacts facts;
  OUTLAST_TRY_ASSIGN(facts.files, json_uint(json, "files"));
  OUTLAST_TRY_ASSIGN(facts.bytes, json_uint(json, "bytes"));
  OUTLAST_TRY_ASSIGN(facts.stored_bytes, json_uint(json, "stored_bytes"));
  if (json.contains("step")) {
    OUTLAST_TRY_ASSIGN(facts.step, json_uint(json, "step"));
  }
  const auto manifests = json.find("manifests");
  const auto metrics = json.find("metrics");
  if (manifests == json.end() || !manifests->is_array() || metrics == json.end() ||
      !metrics->is_object()) {
    return Error(ErrorCode::kCorrupt, "the checkpoint has no manifests or no metrics");
  }
  for (const Json& name : *manifests) {
    OUTLAST_TRY_ASSIGN(facts.manifests.emplace_back(), digest_from(name));
  }
  for (const auto& [name, value] : metrics->items()) {
    OUTLAST_TRY_ASSIGN(facts.metrics[name], json_number(*metrics, name));
  }
  return facts;
}

Result<std::vector<Seq>> seqs_from(const Json& json, std::string_view key) {
  const auto found = json.find(key);
  std::vector<Seq> seqs;
  if (found != json.end() && found->is_array()) {
    for (const Json& seq : *found) {
      if (!seq.is_number_unsigned()) break;
      seqs.push_back(seq.get<Seq>());
    }
    if (seqs.size() == found->size()) return seqs;
  }
  return Error(ErrorCode::kCorrupt, fmt::format("'{}' must be a list of places", key));
}

Result<PruneFacts> prune_from(const Json& json) {
  PruneFacts facts;
  if (!json.is_object()) return Error(ErrorCode::kCorrupt, "'prune' must be an object");
  OUTLAST_TRY_ASSIGN(facts.kept, seqs_from(json, "kept"));
  OUTLAST_TRY_ASSIGN(facts.pinned, seqs_from(json, "pinned"));
  if (const auto condemned = json.find("condemned"); condemned != json.end()) {
    OUTLAST_TRY_ASSIGN(facts.condemned, digest_from(*condemned));
  }
  return facts;
}

Result<LogEntry> entry_from(const Json& json) {
  LogEntry entry;
  OUTLAST_TRY_ASSIGN(entry.seq, json_uint(json, "seq"));
  OUTLAST_TRY_ASSIGN(entry.epoch, json_uint(json, "epoch"));
  OUTLAST_TRY_ASSIGN(entry.floor, json_uint(json, "floor"));
  if (json.contains("ended")) {
    OUTLAST_TRY_ASSIGN(entry.ended, json_uint(json, "ended"));
  }
  OUTLAST_TRY_ASSIGN(const std::string kind, json_string(json, "kind"));
  OUTLAST_TRY_ASSIGN(entry.kind, parse_entry_kind(kind));
  OUTLAST_TRY_ASSIGN(entry.nonce, json_string(json, "nonce"));
  OUTLAST_TRY_ASSIGN(const std::string time, json_string(json, "time"));
  OUTLAST_TRY_ASSIGN(entry.time, parse_rfc3339(time));
  OUTLAST_TRY_ASSIGN(entry.writer, json_string(json, "writer"));
  OUTLAST_TRY_ASSIGN(entry.why, json_string(json, "why"));
  if (entry.kind == EntryKind::kCheckpoint) {
    OUTLAST_TRY_ASSIGN(entry.checkpoint, checkpoint_from(json.value("checkpoint", Json())));
  }
  if (entry.kind == EntryKind::kPrune) {
    OUTLAST_TRY_ASSIGN(entry.prune, prune_from(json.value("prune", Json())));
  }
  if (has_target(entry.kind)) {
    OUTLAST_TRY_ASSIGN(entry.target, json_uint(json, "target"));
  }
  return entry;
}

Result<void> check_sum(std::string_view text) {
  const std::size_t at = text.find(kBeforeSum);
  const std::size_t sum_at = at + kBeforeSum.size();
  if (at != std::string_view::npos && text.size() > sum_at + kSumDigits) {
    Sha256 rest;
    rest.update(as_bytes(text.substr(0, at)));
    rest.update(as_bytes(text.substr(sum_at + kSumDigits + 1)));  // and without its last quote
    if (rest.finish().hex().starts_with(text.substr(sum_at, kSumDigits))) return {};
  }
  return Error(ErrorCode::kCorrupt, "its checksum does not fit");
}

Result<LogEntry> checked_entry(const Json& json, std::string_view text, Seq seq) {
  OUTLAST_TRY_ASSIGN(LogEntry entry, entry_from(json));
  OUTLAST_TRY(check_entry(entry));
  if (entry.seq != seq) {
    return Error(ErrorCode::kCorrupt, fmt::format("it is entry {}", entry.seq));
  }
  // Whatever was not looked at (unknown keys, another spelling of a value) is missing here.
  if (encode_entry(entry) != text) {
    return Error(ErrorCode::kCorrupt, "it says more than an entry does, or in another form");
  }
  return entry;
}

Error unreadable(ErrorCode code, Seq seq, const std::string& why) {
  return {code, fmt::format("entry {} of the commit log cannot be read: {}", seq, why)};
}

}  // namespace

std::string encode_entry(const LogEntry& entry) {
  const auto fine = check_entry(entry);
  OUTLAST_CHECK(fine.has_value(), "entry {}: {}", entry.seq, fine.error().to_string());
  Json json = entry_json(entry);
  json["sum"] = sha256(as_bytes(canonical_json(json))).hex().substr(0, kSumDigits);
  return canonical_json(json);
}

Result<LogEntry> decode_entry(std::string_view text, Seq seq) {
  // The checksum first: a changed byte must not be taken for a newer format.
  if (const auto fits = check_sum(text); !fits) {
    return unreadable(ErrorCode::kCorrupt, seq, fits.error().to_string());
  }
  const Result<Json> json = parse_json(text, {.bytes_max = kEntryBytesMax, .depth_max = 4});
  if (!json) return unreadable(ErrorCode::kCorrupt, seq, json.error().to_string());
  const Result<std::uint64_t> format = json_uint(*json, "format");
  if (format && *format > kFormat) {
    return unreadable(ErrorCode::kInvalidArgument, seq,
                      fmt::format("it is of format {} and this outlast knows formats up to {}; use "
                                  "a newer outlast for this job",
                                  *format, kFormat));
  }
  Result<LogEntry> entry = checked_entry(*json, text, seq);
  if (!entry) return unreadable(ErrorCode::kCorrupt, seq, entry.error().to_string());
  return entry;
}

}  // namespace outlast::job
