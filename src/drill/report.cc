#include "drill/report.h"

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/time.h"

namespace outlast::drill {
namespace {

template <typename T>
Json maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Save& save) {
  return {{"at", save.at},
          {"checkpoint", save.checkpoint},
          {"step", maybe(save.step)},
          {"bytes", save.bytes},
          {"stored_bytes", save.stored_bytes},
          {"seconds", save.seconds},
          {"written", maybe(save.written)},
          {"why", save.why}};
}

Json to_json(const Injection& injection) {
  return {{"trouble", to_string(injection.trouble)},
          {"at", injection.at},
          {"notice_time", injection.notice_time},
          {"heard", maybe(injection.heard)},
          {"asked", maybe(injection.asked)},
          {"committed", maybe(injection.committed)},
          {"notice_to_committed", maybe(injection.notice_to_committed)}};
}

Json to_json(const Life& life) {
  Json json = {{"number", life.number},
               {"began", life.began},
               {"training", maybe(life.training)},
               {"progress", maybe(life.progress)},
               {"left", maybe(life.left)},
               {"ended", life.ended},
               {"injections", Json::array()},
               {"saves", Json::array()},
               {"restored", nullptr},
               {"first_step", maybe(life.first_step)},
               {"last_step", maybe(life.last_step)},
               {"outcome", life.outcome},
               {"lost_steps", maybe(life.lost_steps)},
               {"lost_seconds", maybe(life.lost_seconds)},
               {"recovery", maybe(life.recovery)}};
  for (const Injection& injection : life.injections) {
    json["injections"].push_back(to_json(injection));
  }
  for (const Save& save : life.saves) json["saves"].push_back(to_json(save));
  if (life.restored) {
    json["restored"] = {{"checkpoint", life.restored->checkpoint},
                        {"step", maybe(life.restored->step)},
                        {"bytes", life.restored->bytes},
                        {"fetched_bytes", life.restored->fetched_bytes}};
  }
  return json;
}

Json to_json(const Run& run) {
  Json json = {{"lives", Json::array()},
               {"seconds", run.seconds},
               {"training_seconds", run.training_seconds},
               {"stored_bytes", run.stored_bytes},
               {"outcome", run.outcome}};
  for (const Life& life : run.lives) json["lives"].push_back(to_json(life));
  return json;
}

Json to_json(const Comparison& comparison) {
  return {{"identical", comparison.is_identical},
          {"files", comparison.files},
          {"differences", comparison.differences},
          {"repeatable", maybe(comparison.is_repeatable)},
          {"first_other_step", maybe(comparison.first_other_step)}};
}

}  // namespace

std::string_view to_string(Trouble trouble) {
  switch (trouble) {
    case Trouble::kNone:
      return "none";
    case Trouble::kNotice:
      return "notice";
    case Trouble::kWithdrawn:
      return "withdrawn";
    case Trouble::kTooLate:
      return "too-late";
    case Trouble::kKill:
      return "kill";
    case Trouble::kMidSave:
      return "mid-save";
  }
  return "";
}

std::optional<double> overhead(const Report& report) {
  if (!report.undisturbed || report.undisturbed->seconds <= 0) return std::nullopt;
  if (report.disturbed.outcome != "done") return std::nullopt;
  return report.disturbed.seconds / report.undisturbed->seconds - 1;
}

Json to_json(const Report& report) {
  Json json = {{"version", report.version},
               {"job", report.job},
               {"command", report.command},
               {"source", report.source},
               {"notice_time", report.notice_time},
               {"planned", report.planned},
               {"began", format_rfc3339(report.began)},
               {"undisturbed", nullptr},
               {"disturbed", to_json(report.disturbed)},
               {"overhead", maybe(overhead(report))},
               {"comparison", nullptr},
               {"findings", Json::array()},
               {"expectations", Json::array()},
               {"passed", report.is_passed}};
  if (report.undisturbed) json["undisturbed"] = to_json(*report.undisturbed);
  if (report.comparison) json["comparison"] = to_json(*report.comparison);
  for (const Finding& finding : report.findings) {
    json["findings"].push_back({{"id", finding.id},
                                {"sentence", finding.sentence},
                                {"advice", finding.advice},
                                {"evidence", finding.evidence}});
  }
  for (const Expectation& expectation : report.expectations) {
    json["expectations"].push_back(
        {{"text", expectation.text}, {"met", expectation.is_met}, {"found", expectation.found}});
  }
  return json;
}

}  // namespace outlast::drill
