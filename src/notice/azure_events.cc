#include "notice/azure_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "cloud/http_date.h"
#include "job/notice_plan.h"
#include "notice/announcements.h"

namespace outlast::notice {
namespace {

// Reboots and chosen terminations are announced a quarter of an hour before, evictions half a
// minute.
constexpr Duration kAzureNoticeMax = std::chrono::minutes(15);
// An event that has begun: nobody says what is left, and it is little.
constexpr Duration kStartedLeft = std::chrono::seconds(10);
constexpr std::array<std::string_view, 4> kEndingTypes = {"Preempt", "Reboot", "Redeploy",
                                                          "Terminate"};

struct AzureEvent {
  std::string id = {};
  std::string type = {};
  bool has_started = false;
  std::string not_before = {};
  std::vector<std::string> machines = {};  // lower case: Azure's names are alike in both
};

AzureEvent parse_event(const Json& json) {
  AzureEvent event = {.id = json_string(json, "EventId").value_or(""),
                      .type = json_string(json, "EventType").value_or(""),
                      .has_started = json_string(json, "EventStatus").value_or("") == "Started",
                      .not_before = json_string(json, "NotBefore").value_or("")};
  const auto resources = json.find("Resources");
  if (resources != json.end() && resources->is_array()) {
    for (const Json& machine : *resources) {
      if (machine.is_string()) event.machines.push_back(ascii_lower(machine.get<std::string>()));
    }
  }
  return event;
}

TimeLeft event_left(const AzureEvent& event, const AzureAnswer& answer) {
  if (event.has_started) {
    return {.kind = TimeLeft::Kind::kKnown, .left = std::min(kStartedLeft, answer.grace)};
  }
  const Result<WallTime> at = cloud::parse_http_date(event.not_before);
  return time_left(at ? std::optional(*at) : std::nullopt, answer.now, kAzureNoticeMax);
}

std::string event_words(const AzureEvent& event, const TimeLeft& left, Duration grace) {
  const bool is_known_word =
      event.type == "Freeze" ||
      std::find(kEndingTypes.begin(), kEndingTypes.end(), event.type) != kEndingTypes.end();
  const std::string type = is_known_word ? event.type : "an event of an unknown kind";
  if (event.has_started) return fmt::format("Azure has begun with {}", type);
  if (left.kind == TimeLeft::Kind::kUnknown) {
    return fmt::format("Azure has scheduled {}, which leaves {}", type,
                       format_duration_short(grace));
  }
  return fmt::format("Azure has scheduled {} for {}", type, event.not_before);
}

}  // namespace

Result<AzureNews> read_azure_events(const AzureAnswer& answer) {
  const Result<Json> json = parse_json(answer.body);
  const bool is_document =
      json && json->is_object() && json->contains("Events") && (*json)["Events"].is_array();
  if (!is_document) {
    return Error(ErrorCode::kFailed,
                 "the answer is not a list of scheduled events; is this the right service?");
  }
  const std::string own = ascii_lower(answer.machine);
  AzureNews read;
  for (const Json& element : (*json)["Events"]) {
    if (!element.is_object()) continue;
    const AzureEvent event = parse_event(element);
    const bool names_us =
        std::find(event.machines.begin(), event.machines.end(), own) != event.machines.end();
    const bool is_clear = !own.empty() && !event.machines.empty();
    if (is_clear && !names_us) continue;
    const TimeLeft left = event_left(event, answer);
    const std::string words = event_words(event, left, answer.grace);
    if (left.kind == TimeLeft::Kind::kOver) {
      read.news.not_believed.push_back(words + ", which is past: it did not come to that");
      continue;
    }
    const bool is_end = is_clear && std::find(kEndingTypes.begin(), kEndingTypes.end(),
                                              event.type) != kEndingTypes.end();
    read.news.announced.push_back(
        {.id = fmt::format("{} {}", event.id, event.type),
         .confidence = is_end ? job::NoticeConfidence::kCertain : job::NoticeConfidence::kPossible,
         .left = left.kind == TimeLeft::Kind::kKnown ? left.left : answer.grace,
         .why = words});
    const bool is_ours_alone = event.machines.size() == 1 && !event.id.empty();
    if (is_end && is_ours_alone && !event.has_started) read.ours_alone.push_back(event.id);
  }
  return read;
}

}  // namespace outlast::notice
