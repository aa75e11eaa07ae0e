#include "cli/event_text.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>

#include "agent/attempts.h"
#include "agent/event.h"
#include "base/json.h"
#include "cli/ckpt_access.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"

namespace outlast::cli {

std::string event_text(const agent::AttemptEvent& one, const Terminal& terminal) {
  std::string sentence = printable_whole(one.event.sentence);
  switch (one.event.level) {
    case agent::EventLevel::kNote:
      break;
    case agent::EventLevel::kGood:
      sentence = terminal.paint(Colour::kGreen, sentence);
      break;
    case agent::EventLevel::kWarning:
      sentence = terminal.paint(Colour::kYellow, sentence);
      break;
    case agent::EventLevel::kBad:
      sentence = terminal.paint(Colour::kRed, sentence);
      break;
  }
  return fmt::format("{}  attempt {}  {}", format_time(one.event.time), one.epoch, sentence);
}

Json event_json(const agent::AttemptEvent& one) {
  Json json = parse_json(agent::encode_event(one.event)).value_or(Json::object());
  json["attempt"] = one.epoch;
  return json;
}

}  // namespace outlast::cli
