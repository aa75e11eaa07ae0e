#include "job/progress_reader.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "job/line_pattern.h"
#include "job/progress_values.h"

namespace outlast::job {
namespace {

bool take_by_regex(const LinePattern& regex, std::string_view line, Progress& progress) {
  const auto groups = regex.find(line);
  if (!groups) return false;
  bool taken = false;
  for (std::size_t i = 0; i < groups->size(); ++i) {
    const auto& group = (*groups)[i];
    if (!group) continue;
    std::string_view text = *group;
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const auto value = take_progress_number(text);
    if (value && set_progress(regex.names()[i], *value, progress)) taken = true;
  }
  return taken;
}

}  // namespace

Result<LinePattern> compile_progress_regex(std::string_view expression) {
  OUTLAST_TRY_ASSIGN(LinePattern pattern, LinePattern::compile(expression));
  if (pattern.names().empty()) {
    return Error(ErrorCode::kInvalidArgument, "no group has a name");
  }
  return pattern;
}

ProgressReader::ProgressReader(std::optional<LinePattern> regex) : regex_(std::move(regex)) {}

void ProgressReader::feed(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = piece.find_first_of("\n\r");
    const std::string_view part = piece.substr(0, end);
    line_ += part.substr(0, kProgressLineMax - line_.size());
    if (end == std::string_view::npos) return;
    end_line();
    piece.remove_prefix(end + 1);
  }
}

void ProgressReader::end_line() {
  const bool said =
      regex_ ? take_by_regex(*regex_, line_, latest_) : take_known_format(line_, latest_);
  if (said) ++updates_;
  line_.clear();
}

}  // namespace outlast::job
