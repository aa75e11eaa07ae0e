#include "agent/event.h"

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>
#include <utility>

#include "agent/paper.h"
#include "base/check.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"

namespace outlast::agent {
namespace {

constexpr std::array<PaperWord<EventLevel>, 4> kLevelWords = {{{EventLevel::kNote, "note"},
                                                               {EventLevel::kGood, "good"},
                                                               {EventLevel::kWarning, "warning"},
                                                               {EventLevel::kBad, "bad"}}};
constexpr std::array<std::string_view, 4> kOwnKeys = {"time", "level", "event", "text"};

Result<Event> event_from(Json json) {
  Event event;
  OUTLAST_TRY_ASSIGN(event.time, json_time(json, "time"));
  OUTLAST_TRY(json_string(json, "level"));
  event.level = json_word(json, "level", kLevelWords).value_or(EventLevel::kNote);
  OUTLAST_TRY_ASSIGN(event.kind, json_string(json, "event"));
  OUTLAST_TRY_ASSIGN(event.sentence, json_string(json, "text"));
  for (const std::string_view key : kOwnKeys) json.erase(std::string(key));
  if (!json.empty()) event.facts = std::move(json);
  return event;
}

}  // namespace

std::string_view to_string(EventLevel level) {
  return word_for(kLevelWords, level);
}

std::string encode_event(const Event& event) {
  OUTLAST_CHECK(event.facts.is_null() || event.facts.is_object(), "facts of event '{}': {}",
                event.kind, canonical_json(event.facts));
  Json json = {{"time", paper_time(event.time)},
               {"level", to_string(event.level)},
               {"event", event.kind},
               {"text", event.sentence}};
  for (const auto& [name, value] : event.facts.items()) {
    std::string key = name;
    while (json.contains(key)) key += '_';
    json[key] = value;
  }
  return paper_text(json) + "\n";
}

Result<Event> decode_event(std::string_view line) {
  Result<Json> json = parse_json(line);
  Result<Event> event = json ? event_from(std::move(*json)) : Result<Event>(json.error());
  if (event) return event;
  return Error(ErrorCode::kCorrupt,
               fmt::format("this is no line about an event: {}", event.error().to_string()));
}

}  // namespace outlast::agent
