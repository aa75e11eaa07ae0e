#include "agent/attempt_record.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>
#include <utility>

#include "agent/attempt_json.h"
#include "agent/paper.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "job/place_facts.h"
#include "job/retry_budget.h"

namespace outlast::agent {
namespace {

using EndKind = job::AttemptEnd::Kind;

constexpr PaperKind kAttemptPaper = {.name = "the record of the attempt",
                                     .bytes_max = kAttemptBytesMax};
constexpr std::array<PaperWord<EndKind>, 3> kEndWords = {
    {{EndKind::kPreempted, "preempted"}, {EndKind::kLeft, "left"}, {EndKind::kFailed, "failed"}}};
constexpr std::array<PaperWord<AttemptOutcome>, 6> kOutcomeWords = {
    {{AttemptOutcome::kDone, "done"},
     {AttemptOutcome::kFailed, "failed"},
     {AttemptOutcome::kLeft, "left"},
     {AttemptOutcome::kCancelled, "cancelled"},
     {AttemptOutcome::kTakenOver, "taken-over"},
     {AttemptOutcome::kBroken, "broken"}}};

Json end_json(const job::AttemptEnd& end) {
  Json json = {{"kind", word_for(kEndWords, end.kind)}, {"checkpoint", end.checkpoint}};
  if (!end.death.empty()) json["death"] = end.death;
  if (end.step) json["step"] = *end.step;
  if (end.checkpoint_step) json["checkpoint_step"] = *end.checkpoint_step;
  return json;
}

Result<job::AttemptEnd> end_from(const Json& json) {
  job::AttemptEnd end;
  OUTLAST_TRY_ASSIGN(end.kind, json_word(json, "kind", kEndWords));
  OUTLAST_TRY_ASSIGN(end.checkpoint, json_uint(json, "checkpoint"));
  if (json.contains("death")) {
    OUTLAST_TRY_ASSIGN(end.death, json_string(json, "death"));
  }
  OUTLAST_TRY_ASSIGN(end.step, json_optional_uint(json, "step"));
  OUTLAST_TRY_ASSIGN(end.checkpoint_step, json_optional_uint(json, "checkpoint_step"));
  return end;
}

// The texts of a place and how they are called.
constexpr std::array<std::pair<std::string_view, std::string job::PlaceFacts::*>, 8> kPlaceTexts = {
    {{"cloud", &job::PlaceFacts::cloud},
     {"region", &job::PlaceFacts::region},
     {"zone", &job::PlaceFacts::zone},
     {"machine", &job::PlaceFacts::machine},
     {"instance", &job::PlaceFacts::instance},
     {"name", &job::PlaceFacts::name},
     {"account", &job::PlaceFacts::account},
     {"identity", &job::PlaceFacts::identity}}};

Json place_json(const job::PlaceFacts& place) {
  Json json = Json::object();
  for (const auto& [key, member] : kPlaceTexts) {
    if (!(place.*member).empty()) json[std::string(key)] = place.*member;
  }
  if (place.spot) json["spot"] = *place.spot;
  if (!place.tags.empty()) json["tags"] = place.tags;
  return json;
}

Result<job::PlaceFacts> place_from(const Json& json) {
  job::PlaceFacts place;
  for (const auto& [key, member] : kPlaceTexts) {
    if (!json.contains(key)) continue;
    OUTLAST_TRY_ASSIGN(place.*member, json_string(json, key));
  }
  if (const auto spot = json.find("spot"); spot != json.end()) {
    if (!spot->is_boolean()) return Error(ErrorCode::kCorrupt, "'spot' must be true or false");
    place.spot = spot->get<bool>();
  }
  OUTLAST_TRY_ASSIGN(const Json* tags, json_optional_object(json, "tags"));
  if (tags == nullptr) return place;
  for (const auto& [key, value] : tags->items()) {
    OUTLAST_TRY_ASSIGN(place.tags[key], json_string(*tags, key));
  }
  return place;
}

Result<AttemptRecord> record_from(const Json& json) {
  AttemptRecord record;
  OUTLAST_TRY_ASSIGN(record.epoch, json_uint(json, "epoch"));
  OUTLAST_TRY_ASSIGN(record.agent, agent_id_from(json));
  OUTLAST_TRY_ASSIGN(record.version, json_string(json, "version"));
  OUTLAST_TRY_ASSIGN(record.began, json_time(json, "began"));
  OUTLAST_TRY_ASSIGN(record.command, json_string(json, "command"));
  OUTLAST_TRY_ASSIGN(record.folder, json_string(json, "folder"));
  OUTLAST_TRY_ASSIGN(const Json* place, json_optional_object(json, "place"));
  if (place != nullptr) {
    OUTLAST_TRY_ASSIGN(record.place, place_from(*place));
  }
  OUTLAST_TRY_ASSIGN(const Json* restored, json_optional_object(json, "restored"));
  if (restored != nullptr) {
    record.restored = AttemptRecord::Restored{};
    AttemptRecord::Restored& from = *record.restored;
    OUTLAST_TRY_ASSIGN(from.seq, json_uint(*restored, "seq"));
    OUTLAST_TRY_ASSIGN(from.step, json_optional_uint(*restored, "step"));
    OUTLAST_TRY_ASSIGN(from.bytes, json_uint(*restored, "bytes"));
  }
  const auto ends = json.find("ends");
  if (ends == json.end() || !ends->is_array()) {
    return Error(ErrorCode::kCorrupt, "'ends' must be a list");
  }
  for (const Json& end : *ends) {
    OUTLAST_TRY_ASSIGN(record.ends.emplace_back(), end_from(end));
  }
  OUTLAST_TRY_ASSIGN(const Json* ended, json_optional_object(json, "ended"));
  if (ended != nullptr) {
    record.ended = AttemptRecord::Ended{};
    AttemptRecord::Ended& how = *record.ended;
    OUTLAST_TRY_ASSIGN(how.time, json_time(*ended, "time"));
    OUTLAST_TRY_ASSIGN(how.outcome, outcome_from(*ended, "outcome"));
    OUTLAST_TRY_ASSIGN(how.why, json_string(*ended, "why"));
  }
  return record;
}

}  // namespace

std::string_view to_string(AttemptOutcome outcome) {
  return word_for(kOutcomeWords, outcome);
}

Result<AttemptOutcome> outcome_from(const Json& object, std::string_view key) {
  return json_word(object, key, kOutcomeWords);
}

Json agent_id_json(const AgentId& agent) {
  return {{"host", agent.host}, {"machine", agent.machine}, {"pid", agent.pid}};
}

Result<AgentId> agent_id_from(const Json& paper) {
  AgentId agent;
  const Json json = paper.value("agent", Json());
  OUTLAST_TRY_ASSIGN(agent.host, json_string(json, "host"));
  OUTLAST_TRY_ASSIGN(agent.machine, json_string(json, "machine"));
  OUTLAST_TRY_ASSIGN(agent.pid, json_uint(json, "pid"));
  return agent;
}

std::string encode_attempt(const AttemptRecord& record) {
  Json json = {{"format", kPaperFormat},
               {"epoch", record.epoch},
               {"agent", agent_id_json(record.agent)},
               {"version", record.version},
               {"began", paper_time(record.began)},
               {"command", record.command},
               {"folder", record.folder},
               {"ends", Json::array()}};
  const std::size_t first = record.ends.size() - std::min(record.ends.size(), kEndsMax);
  for (std::size_t i = first; i < record.ends.size(); ++i) {
    json["ends"].push_back(end_json(record.ends[i]));
  }
  if (record.place) json["place"] = place_json(*record.place);
  if (record.restored) {
    json["restored"] = {{"seq", record.restored->seq}, {"bytes", record.restored->bytes}};
    if (record.restored->step) json["restored"]["step"] = *record.restored->step;
  }
  if (record.ended) {
    json["ended"] = {{"time", paper_time(record.ended->time)},
                     {"outcome", to_string(record.ended->outcome)},
                     {"why", record.ended->why}};
  }
  return paper_text(json);
}

Result<AttemptRecord> decode_attempt(std::string_view text) {
  OUTLAST_TRY_ASSIGN(const Json json, open_paper(text, kAttemptPaper));
  Result<AttemptRecord> record = record_from(json);
  if (!record) return bad_paper(kAttemptPaper, record.error());
  return record;
}

}  // namespace outlast::agent
