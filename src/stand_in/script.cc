#include "stand_in/script.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "stand_in/happening.h"

namespace outlast::stand_in {
namespace {

constexpr std::size_t kLineBytesMax = 200;

bool is_plain(char c) {
  return (c >= ' ' && c <= '~') || c == '\t';
}

Result<ScriptLine> parse_line(std::string_view line, std::string_view cloud) {
  if (line.size() > kLineBytesMax || !std::ranges::all_of(line, is_plain)) {
    return Error(ErrorCode::kInvalidArgument,
                 "it is too long, or no plain text; is this a script?");
  }
  const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  const Result<Duration> at = parse_duration(line.substr(0, blank));
  if (!at) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("a line begins with a time such as 10s, not with '{}'", line.substr(0, blank)));
  }
  const std::string_view rest = ascii_trimmed(line.substr(blank));
  if (rest.empty()) {
    return Error(ErrorCode::kInvalidArgument, "what is to happen then? For one: 10s preempt 30s");
  }
  OUTLAST_TRY_ASSIGN(Happening happening, parse_happening(rest, cloud));
  return ScriptLine{.at = *at, .happening = std::move(happening)};
}

}  // namespace

Result<Script> parse_script(std::string_view text, std::string_view cloud) {
  Script script;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    line = ascii_trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    OUTLAST_TRY_ASSIGN(ScriptLine parsed,
                       parse_line(line, cloud).while_doing(fmt::format("line {}", number)));
    if (!script.empty() && parsed.at < script.back().at) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("line {}: {} comes before {}, which stands above: put the lines in "
                      "order of time",
                      number, format_duration(parsed.at), format_duration(script.back().at)));
    }
    script.push_back(std::move(parsed));
  }
  return script;
}

}  // namespace outlast::stand_in
