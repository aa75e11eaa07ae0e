#include "agent/beat.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/attempt_json.h"
#include "agent/attempt_record.h"
#include "agent/paper.h"
#include "agent/root_layout.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "checkpoint/read_object.h"
#include "job/progress_reader.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::agent {
namespace {

constexpr PaperKind kBeatPaper = {.name = "the beat", .bytes_max = kBeatBytesMax};
constexpr std::array<PaperWord<AgentState>, 6> kStateWords = {
    {{AgentState::kStarting, "starting"},
     {AgentState::kRestoring, "restoring"},
     {AgentState::kTraining, "training"},
     {AgentState::kWaiting, "waiting"},
     {AgentState::kLeaving, "leaving"},
     {AgentState::kEnded, "ended"}}};

Json progress_json(const job::Progress& progress) {
  Json json = {{"metrics", Json::object()}, {"not_finite", progress.not_finite}};
  if (progress.step) json["step"] = *progress.step;
  if (progress.total) json["total"] = *progress.total;
  const auto set_finite = [&](const char* key, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) json[key] = *value;
  };
  set_finite("epoch", progress.epoch);
  set_finite("epochs", progress.epochs);
  set_finite("rate", progress.rate);
  for (const auto& [name, value] : progress.metrics) {
    // JSON has no such numbers; that there was one is worth more than what it was.
    if (std::isfinite(value)) {
      json["metrics"][name] = value;
    } else if (!progress.not_finite.contains(name)) {
      json["not_finite"].push_back(name);
    }
  }
  return json;
}

Result<std::optional<double>> optional_number(const Json& json, std::string_view key) {
  if (!json.contains(key)) return std::optional<double>();
  OUTLAST_TRY_ASSIGN(const double number, json_number(json, key));
  return std::optional<double>(number);
}

Result<job::Progress> progress_from(const Json& json) {
  job::Progress progress;
  const auto metrics = json.find("metrics");
  const auto not_finite = json.find("not_finite");
  if (metrics == json.end() || !metrics->is_object() || not_finite == json.end() ||
      !not_finite->is_array()) {
    return Error(ErrorCode::kCorrupt,
                 "the progress has no metrics or no list of such as have no "
                 "finite value");
  }
  OUTLAST_TRY_ASSIGN(progress.step, json_optional_uint(json, "step"));
  OUTLAST_TRY_ASSIGN(progress.total, json_optional_uint(json, "total"));
  OUTLAST_TRY_ASSIGN(progress.epoch, optional_number(json, "epoch"));
  OUTLAST_TRY_ASSIGN(progress.epochs, optional_number(json, "epochs"));
  OUTLAST_TRY_ASSIGN(progress.rate, optional_number(json, "rate"));
  for (const auto& [name, value] : metrics->items()) {
    OUTLAST_TRY_ASSIGN(progress.metrics[name], json_number(*metrics, name));
  }
  for (const Json& name : *not_finite) {
    if (!name.is_string()) return Error(ErrorCode::kCorrupt, "the name of a metric is no text");
    progress.not_finite.insert(name.get<std::string>());
  }
  return progress;
}

Result<void> take_optional_parts(const Json& json, Beat& beat) {
  OUTLAST_TRY_ASSIGN(const Json* committed, json_optional_object(json, "committed"));
  if (committed != nullptr) {
    beat.committed = Beat::Committed{};
    Beat::Committed& to = *beat.committed;
    OUTLAST_TRY_ASSIGN(to.seq, json_uint(*committed, "seq"));
    OUTLAST_TRY_ASSIGN(to.step, json_optional_uint(*committed, "step"));
    OUTLAST_TRY_ASSIGN(to.time, json_time(*committed, "time"));
    OUTLAST_TRY_ASSIGN(to.bytes, json_uint(*committed, "bytes"));
  }
  if (json.contains("lag")) {
    OUTLAST_TRY_ASSIGN(beat.lag, json_duration(json, "lag"));
  }
  if (json.contains("margin")) {
    OUTLAST_TRY_ASSIGN(beat.margin, json_duration(json, "margin"));
  }
  OUTLAST_TRY_ASSIGN(const Json* notice, json_optional_object(json, "notice"));
  if (notice != nullptr) {
    beat.notice = Beat::Noticed{};
    Beat::Noticed& to = *beat.notice;
    OUTLAST_TRY_ASSIGN(to.source, json_string(*notice, "source"));
    OUTLAST_TRY_ASSIGN(to.ends, json_time(*notice, "ends"));
    OUTLAST_TRY_ASSIGN(to.why, json_string(*notice, "why"));
  }
  return {};
}

Result<Beat> beat_from(const Json& json) {
  Beat beat;
  OUTLAST_TRY_ASSIGN(beat.epoch, json_uint(json, "epoch"));
  OUTLAST_TRY_ASSIGN(beat.agent, agent_id_from(json));
  OUTLAST_TRY_ASSIGN(beat.time, json_time(json, "time"));
  OUTLAST_TRY_ASSIGN(beat.state, json_word(json, "state", kStateWords));
  if (json.contains("outcome")) {
    OUTLAST_TRY_ASSIGN(beat.outcome, outcome_from(json, "outcome"));
  }
  OUTLAST_TRY_ASSIGN(beat.progress, progress_from(json.value("progress", Json())));
  OUTLAST_TRY_ASSIGN(beat.next_save, json_string(json, "next_save"));
  OUTLAST_TRY_ASSIGN(beat.trouble, json_string(json, "trouble"));
  OUTLAST_TRY(take_optional_parts(json, beat));
  return beat;
}

}  // namespace

std::string_view to_string(AgentState state) {
  return word_for(kStateWords, state);
}

std::string encode_beat(const Beat& beat) {
  Json json = {{"format", kPaperFormat},
               {"epoch", beat.epoch},
               {"agent", agent_id_json(beat.agent)},
               {"time", paper_time(beat.time)},
               {"state", to_string(beat.state)},
               {"progress", progress_json(beat.progress)},
               {"next_save", beat.next_save},
               {"trouble", beat.trouble}};
  if (beat.outcome) json["outcome"] = to_string(*beat.outcome);
  if (beat.committed) {
    json["committed"] = {{"seq", beat.committed->seq},
                         {"time", paper_time(beat.committed->time)},
                         {"bytes", beat.committed->bytes}};
    if (beat.committed->step) json["committed"]["step"] = *beat.committed->step;
  }
  if (beat.lag) json["lag"] = paper_duration(*beat.lag);
  if (beat.margin) json["margin"] = paper_duration(*beat.margin);
  if (beat.notice) {
    json["notice"] = {{"source", beat.notice->source},
                      {"ends", paper_time(beat.notice->ends)},
                      {"why", beat.notice->why}};
  }
  return paper_text(json);
}

Result<Beat> decode_beat(std::string_view text) {
  OUTLAST_TRY_ASSIGN(const Json json, open_paper(text, kBeatPaper));
  Result<Beat> beat = beat_from(json);
  if (!beat) return bad_paper(kBeatPaper, beat.error());
  return beat;
}

Result<std::optional<FoundBeat>> find_beat(store::ObjectStore& root, const std::string& job,
                                           const sys::CallContext& ctx) {
  Result<checkpoint::WholeObject> object =
      checkpoint::read_whole_object(root, beat_key(job), kBeatBytesMax, ctx);
  if (!object && object.error().code() == ErrorCode::kNotFound) return std::optional<FoundBeat>();
  OUTLAST_TRY(object);
  OUTLAST_TRY_ASSIGN(Beat beat, decode_beat(object->bytes));
  return std::optional(FoundBeat{.beat = std::move(beat),
                                 .version = std::move(object->info.version),
                                 .modified = object->info.modified});
}

}  // namespace outlast::agent
