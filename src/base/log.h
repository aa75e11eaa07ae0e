#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/time.h"

// Events with fields, not prose: log.info("checkpoint.committed", {{"job", name}, {"bytes", n}}).
// A person on a terminal reads short lines; everything else reads JSON lines.
namespace outlast {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
std::string_view to_string(LogLevel level);

// A field's value. Deliberately not constructible from Secret<T>.
class LogValue {
 public:
  LogValue(std::string_view text) : value_(std::string(text)) {}  // NOLINT: implicit, all of these
  LogValue(const char* text) : value_(std::string(text)) {}       // NOLINT
  LogValue(const std::string& text) : value_(text) {}             // NOLINT
  LogValue(std::same_as<bool> auto flag) : value_(flag) {}        // NOLINT
  LogValue(std::signed_integral auto n) : value_(std::int64_t{n}) {}  // NOLINT
  LogValue(std::unsigned_integral auto n)                             // NOLINT
    requires(!std::same_as<decltype(n), bool>)
      : value_(std::uint64_t{n}) {}
  LogValue(double number) : value_(number) {}                  // NOLINT
  LogValue(Duration duration) : value_(duration) {}            // NOLINT
  LogValue(WallTime time) : value_(format_rfc3339(time)) {}    // NOLINT
  LogValue(const Error& error) : value_(error.to_string()) {}  // NOLINT

  using Variant = std::variant<std::string, bool, std::int64_t, std::uint64_t, double, Duration>;
  const Variant& get() const { return value_; }

 private:
  Variant value_;
};

using LogField = std::pair<std::string, LogValue>;
using LogFields = std::vector<LogField>;

struct LogRecord {
  WallTime time;
  LogLevel level = LogLevel::kInfo;
  std::string event;
  LogFields fields;
};

// One line without its end, for a terminal: "08:30:00.123 warning upload.slow bytes=4096
// took=1.5s". Control characters in values are escaped, so that a value cannot forge a line.
std::string format_log_text(const LogRecord& record);
// One line without its end, for machines. Durations are seconds. A field never overwrites "time",
// "level" or "event": it then appears with "_" after its name.
std::string format_log_json(const LogRecord& record);

// Where records go; stamps the time if the record has none. Implementations are thread-safe.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogRecord record) = 0;
};

// What code logs through: a sink and the fields bound so far. Cheap to copy; thread-safe; the sink
// must outlive it.
class Logger {
 public:
  explicit Logger(LogSink& sink, LogFields bound = {}) : sink_(&sink), bound_(std::move(bound)) {}

  // A logger that adds these fields to every event.
  Logger with(LogFields fields) const;

  void debug(std::string_view event, LogFields fields = {}) const;
  void info(std::string_view event, LogFields fields = {}) const;
  void warning(std::string_view event, LogFields fields = {}) const;
  void error(std::string_view event, LogFields fields = {}) const;

 private:
  void write(LogLevel level, std::string_view event, LogFields fields) const;

  LogSink* sink_;
  LogFields bound_;
};

}  // namespace outlast
