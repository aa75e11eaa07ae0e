#include "agent/paper.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/utf8.h"

namespace outlast::agent {
namespace {

std::string utf8_text(const std::string& text) {
  if (is_utf8(text)) return text;
  // The one place that knows how such bytes are replaced is canonical_json().
  const Result<Json> replaced = parse_json(canonical_json(text));
  return replaced ? replaced->get<std::string>() : "?";
}

Json with_utf8_keys(const Json& json) {
  if (!json.is_structured()) return json;
  Json made = json.is_array() ? Json::array() : Json::object();
  if (json.is_array()) {
    for (const Json& element : json) made.push_back(with_utf8_keys(element));
    return made;
  }
  for (const auto& [key, value] : json.items()) {
    made.emplace(utf8_text(key), with_utf8_keys(value));
  }
  return made;
}

}  // namespace

std::string paper_text(const Json& json) {
  return canonical_json(with_utf8_keys(json));
}

Error bad_paper(const PaperKind& kind, const Error& why) {
  return {ErrorCode::kCorrupt, fmt::format("{} cannot be read: {}", kind.name, why.to_string())};
}

Result<Json> open_paper(std::string_view text, const PaperKind& kind) {
  Result<Json> json = parse_json(text, {.bytes_max = kind.bytes_max});
  if (!json) return bad_paper(kind, json.error());
  const Result<std::uint64_t> format = json_uint(*json, "format");
  if (!format) return bad_paper(kind, format.error());
  if (*format > kPaperFormat) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} is of format {} and this outlast knows formats up to {}; use a "
                             "newer outlast for this job",
                             kind.name, *format, kPaperFormat));
  }
  return json;
}

std::string paper_time(WallTime time) {
  // What parse_rfc3339() reads: whole years that 64 bits of nanoseconds hold.
  constexpr auto kFarthest = std::chrono::hours(24 * 365 * 290);
  return format_rfc3339(std::clamp(time, WallTime(-kFarthest), WallTime(kFarthest)));
}

double paper_duration(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

Result<WallTime> json_time(const Json& object, std::string_view key) {
  OUTLAST_TRY_ASSIGN(const std::string text, json_string(object, key));
  const Result<WallTime> time = parse_rfc3339(text);
  if (time) return *time;
  return Error(ErrorCode::kCorrupt, fmt::format("'{}': {}", key, time.error().to_string()));
}

Result<Duration> json_duration(const Json& object, std::string_view key) {
  OUTLAST_TRY_ASSIGN(const double seconds, json_number(object, key));
  constexpr double kSecondsMax = 9.2e9;  // a little less than 64 bits of nanoseconds hold
  if (!(std::abs(seconds) <= kSecondsMax)) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' is no number of seconds that can be", key));
  }
  return Duration(std::llround(seconds * 1e9));
}

Result<std::optional<std::uint64_t>> json_optional_uint(const Json& object, std::string_view key) {
  if (!object.contains(key)) return std::optional<std::uint64_t>();
  OUTLAST_TRY_ASSIGN(const std::uint64_t number, json_uint(object, key));
  return std::optional<std::uint64_t>(number);
}

Result<const Json*> json_optional_object(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return static_cast<const Json*>(nullptr);
  if (found->is_object()) return &*found;
  return Error(ErrorCode::kCorrupt, fmt::format("'{}' must be an object", key));
}

}  // namespace outlast::agent
