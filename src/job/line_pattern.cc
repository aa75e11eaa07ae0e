#include "job/line_pattern.h"

#include <fmt/core.h>
#include <re2/re2.h>
#include <re2/stringpiece.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace outlast::job {
namespace {

constexpr int kMemoryMax = 1 << 20;  // of what an expression becomes; {1000} makes it large

// RE2 of this age knows (?P<name> alone.
std::string with_python_names(std::string_view expression) {
  std::string text;
  bool in_class = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    text += c;
    if (c == '\\' && i + 1 < expression.size()) {
      text += expression[++i];
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A ']' that comes first is one of the characters.
      if (expression.substr(i + 1, 1) == "^") text += expression[++i];
      if (expression.substr(i + 1, 1) == "]") text += expression[++i];
    } else if (expression.substr(i, 3) == "(?<") {
      const std::string_view after = expression.substr(i + 3, 1);
      if (after != "=" && after != "!") {
        text += "?P<";
        i += 2;
      }
    }
  }
  return text;
}

Error unusable(const std::string& why) {
  return {ErrorCode::kInvalidArgument, why};
}

}  // namespace

Result<LinePattern> LinePattern::compile(std::string_view expression) {
  if (expression.size() > kLengthMax) {
    return unusable(fmt::format("it is longer than {} characters", kLengthMax));
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMemoryMax);
  LinePattern pattern;
  pattern.regex_ = std::make_shared<const re2::RE2>(with_python_names(expression), options);
  if (!pattern.regex_->ok()) return unusable(pattern.regex_->error());
  for (const auto& [number, name] : pattern.regex_->CapturingGroupNames()) {
    if (std::ranges::find(pattern.names_, name) != pattern.names_.end()) {
      return unusable(fmt::format("two groups are named '{}'", name));
    }
    pattern.numbers_.push_back(static_cast<std::size_t>(number));
    pattern.names_.push_back(name);
  }
  if (pattern.names_.size() > kNamesMax) {
    return unusable(fmt::format("it has more than {} named groups", kNamesMax));
  }
  return pattern;
}

std::optional<LinePattern::Groups> LinePattern::find(std::string_view line) const {
  std::vector<re2::StringPiece> found(static_cast<std::size_t>(regex_->NumberOfCapturingGroups()) +
                                      1);
  if (!regex_->Match(re2::StringPiece(line.data(), line.size()), 0, line.size(),
                     re2::RE2::UNANCHORED, found.data(), static_cast<int>(found.size()))) {
    return std::nullopt;
  }
  Groups groups;
  groups.reserve(numbers_.size());
  for (const std::size_t number : numbers_) {
    const re2::StringPiece& piece = found[number];
    if (piece.data() == nullptr) {
      groups.emplace_back(std::nullopt);
    } else {
      groups.emplace_back(std::string_view(piece.data(), piece.size()));
    }
  }
  return groups;
}

}  // namespace outlast::job
