#include "drill/agent_lines.h"

#include <cstddef>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace outlast::drill {
namespace {

std::optional<AgentEvent> read_event(std::string_view text) {
  const Result<Json> json = parse_json(text);
  if (!json) return std::nullopt;
  const Result<std::string> time = json_string(*json, "time");
  Result<std::string> kind = json_string(*json, "event");
  Result<std::string> sentence = json_string(*json, "text");
  Result<std::string> level = json_string(*json, "level");
  if (!time || !kind || !sentence || !level) return std::nullopt;
  const Result<WallTime> when = parse_rfc3339(*time);
  if (!when) return std::nullopt;
  AgentEvent event = {.time = *when,
                      .kind = *std::move(kind),
                      .level = *std::move(level),
                      .sentence = *std::move(sentence)};
  for (const auto& [name, value] : json->items()) {
    if (value.is_string()) event.texts[name] = value.get<std::string>();
    if (value.is_number()) event.numbers[name] = value.get<double>();
  }
  return event;
}

}  // namespace

void AgentLines::feed(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = piece.find_first_of("\r\n");
    line_ += piece.substr(0, end);
    if (end == std::string_view::npos) {
      if (line_.size() > kLineMax) end_line('\n');
      return;
    }
    end_line(piece[end]);
    piece.remove_prefix(end + 1);
  }
}

void AgentLines::finish() {
  if (!line_.empty()) end_line('\n');
}

void AgentLines::end_line(char end) {
  const std::string line = std::exchange(line_, {});
  // An event is the rest of its line, and begins with what sorts first of its keys.
  for (std::size_t at = line.find("{\""); at != std::string::npos; at = line.find("{\"", at + 1)) {
    if (!line.ends_with('}')) break;
    const std::optional<AgentEvent> found = read_event(std::string_view(line).substr(at));
    if (!found) continue;
    if (at > 0) other(std::string_view(line).substr(0, at));
    event(*found);
    return;
  }
  other(line + end);
}

}  // namespace outlast::drill
