#pragma once

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

// What happened to an attempt: one line of its event stream, one line on the user's screen.
namespace outlast::agent {

// How it concerns a person.
enum class EventLevel { kNote, kGood, kWarning, kBad };
std::string_view to_string(EventLevel level);

struct Event {
  WallTime time = {};  // in whole milliseconds
  EventLevel level = EventLevel::kNote;
  std::string kind = {};      // a word for programs: "resumed", "saved", "notice", …
  std::string sentence = {};  // for a person, complete by itself, without a full stop
  Json facts = {};            // an object with what programs may want; null if there is nothing
};

// One line of JSON with its end: time, level, event, text, and the facts beside them (one that has
// such a name gets "_" behind it).
std::string encode_event(const Event& event);
// Of a line without its end. kCorrupt if it is none. Facts that are not known are kept; a level
// that is not known is a note.
Result<Event> decode_event(std::string_view line);

}  // namespace outlast::agent
