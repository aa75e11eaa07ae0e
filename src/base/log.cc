#include "base/log.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/json.h"
#include "base/time.h"
#include "base/units.h"

namespace outlast {
namespace {

double in_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f && c != '"' && c != '=' && c != '\\';
}

// Quotes a text that could be misread: empty, or with spaces, quotes, '=' or control characters.
std::string text_value(const std::string& text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  const std::string quoted = canonical_json(Json(text));
  // JSON lets DEL and U+0080 to U+009F through; some terminals act on them (U+009B is an escape).
  std::string safe;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    const auto byte = static_cast<unsigned char>(quoted[i]);
    const auto next = static_cast<unsigned char>(i + 1 < quoted.size() ? quoted[i + 1] : 0);
    if (byte == 0x7f) {
      safe += "\\u007f";
    } else if (byte == 0xc2 && next < 0xa0) {
      safe += fmt::format("\\u00{:02x}", next);
      ++i;
    } else {
      safe += quoted[i];
    }
  }
  return safe;
}

std::string text_value(const LogValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return text_value(v);
        } else if constexpr (std::is_same_v<T, Duration>) {
          const bool tiny = v != Duration() && std::chrono::abs(v) < std::chrono::milliseconds(1);
          return tiny ? fmt::format("{}us", static_cast<double>(v.count()) / 1000)
                      : format_duration(v);
        } else {
          return fmt::format("{}", v);
        }
      },
      value.get());
}

Json json_value(const LogValue& value) {
  return std::visit(
      [](const auto& v) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Duration>) {
          return in_seconds(v);
        } else {
          return v;
        }
      },
      value.get());
}

}  // namespace

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

std::string format_log_text(const LogRecord& record) {
  const std::string time = format_rfc3339(record.time);
  std::string line = time.substr(11, 12);  // the clock part, without the zone
  if (record.level != LogLevel::kInfo) line += fmt::format(" {}", to_string(record.level));
  line += fmt::format(" {}", record.event);
  for (const auto& [name, value] : record.fields) {
    line += fmt::format(" {}={}", name, text_value(value));
  }
  return line;
}

std::string format_log_json(const LogRecord& record) {
  Json line = {{"time", format_rfc3339(record.time)},
               {"level", to_string(record.level)},
               {"event", record.event}};
  for (const auto& [name, value] : record.fields) {
    const bool taken = name == "time" || name == "level" || name == "event";
    line[taken ? name + "_" : name] = json_value(value);
  }
  return canonical_json(line);
}

Logger Logger::with(LogFields fields) const {
  LogFields bound = bound_;
  std::move(fields.begin(), fields.end(), std::back_inserter(bound));
  return Logger(*sink_, std::move(bound));
}

void Logger::debug(std::string_view event, LogFields fields) const {
  write(LogLevel::kDebug, event, std::move(fields));
}
void Logger::info(std::string_view event, LogFields fields) const {
  write(LogLevel::kInfo, event, std::move(fields));
}
void Logger::warning(std::string_view event, LogFields fields) const {
  write(LogLevel::kWarning, event, std::move(fields));
}
void Logger::error(std::string_view event, LogFields fields) const {
  write(LogLevel::kError, event, std::move(fields));
}

void Logger::write(LogLevel level, std::string_view event, LogFields fields) const {
  LogFields all = bound_;
  std::move(fields.begin(), fields.end(), std::back_inserter(all));
  sink_->write({.time = {}, .level = level, .event = std::string(event), .fields = std::move(all)});
}

}  // namespace outlast
