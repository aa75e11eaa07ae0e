#include "base/log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace outlast {
namespace {

using std::chrono::milliseconds;

LogRecord record_with(LogFields fields) {
  return {.time = parse_rfc3339("2026-11-15T08:30:00.123Z").value(),
          .level = LogLevel::kWarning,
          .event = "upload.slow",
          .fields = std::move(fields)};
}

std::string as_text_line(LogFields fields) {
  return format_log_text(record_with(std::move(fields)));
}
std::string as_json_line(LogFields fields) {
  return format_log_json(record_with(std::move(fields)));
}

constexpr std::string_view kTextStart = "08:30:00.123 warning upload.slow";

TEST(LogText, IsAShortLine) {
  EXPECT_EQ(as_text_line({{"bytes", 4096}, {"took", Duration(milliseconds(1500))}}),
            "08:30:00.123 warning upload.slow bytes=4096 took=1.5s");
}

TEST(LogText, LeavesOutTheLevelInfo) {
  LogRecord record = record_with({});
  record.level = LogLevel::kInfo;
  EXPECT_EQ(format_log_text(record), "08:30:00.123 upload.slow");
}

TEST(LogText, ShowsEveryKindOfValue) {
  EXPECT_EQ(as_text_line({{"a", "word"},
                          {"b", true},
                          {"c", std::numeric_limits<std::int64_t>::min()},
                          {"d", std::numeric_limits<std::uint64_t>::max()},
                          {"e", 0.5},
                          {"f", parse_rfc3339("2026-11-15T00:00:00Z").value()},
                          {"g", Error(ErrorCode::kFailed, "no").while_doing("try")}}),
            std::string(kTextStart) +
                " a=word b=true c=-9223372036854775808 d=18446744073709551615 e=0.5"
                " f=2026-11-15T00:00:00.000Z g=\"try: no\"");
}

TEST(LogText, QuotesWhatCouldBeMisread) {
  const auto shown = [](std::string_view value) {
    return as_text_line({{"v", value}}).substr(kTextStart.size() + 3);
  };
  EXPECT_EQ(shown(""), R"("")");
  EXPECT_EQ(shown("two words"), R"("two words")");
  EXPECT_EQ(shown("a=b"), R"("a=b")");
  EXPECT_EQ(shown("say \"hi\""), R"("say \"hi\"")");
  EXPECT_EQ(shown("back\\slash"), R"("back\\slash")");
  EXPECT_EQ(shown("Zürich"), "\"Zürich\"");
}

// What an attacker names a file must not become a line, nor drive the terminal.
TEST(LogText, EscapesEverythingATerminalActsOn) {
  const auto shown = [](std::string_view value) {
    return as_text_line({{"v", value}}).substr(kTextStart.size() + 3);
  };
  EXPECT_EQ(shown("x\n08:30:00.124 all.fine"), R"("x\n08:30:00.124 all.fine")");
  EXPECT_EQ(shown("\r\x1b[2J"), R"("\r\u001b[2J")");
  EXPECT_EQ(shown("\x7f"), R"("\u007f")");
  EXPECT_EQ(shown("\xc2\x9b"
                  "2J"),
            R"("\u009b2J")");
  EXPECT_EQ(shown("\xff"), "\"\xef\xbf\xbd\"");
}

TEST(LogJson, IsOneObject) {
  EXPECT_EQ(as_json_line({{"bytes", 4096}, {"took", Duration(milliseconds(1500))}, {"ok", false}}),
            R"({"bytes":4096,"event":"upload.slow","level":"warning","ok":false,)"
            R"("time":"2026-11-15T08:30:00.123Z","took":1.5})");
}

TEST(LogJson, KeepsAForgedLineInsideItsValue) {
  const std::string line = as_json_line({{"v", "x\n{\"event\":\"all.fine\"}"}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(LogJson, NeverLetsAFieldReplaceTheRecordsOwn) {
  EXPECT_EQ(as_json_line({{"event", "e"}, {"level", "l"}, {"time", "t"}}),
            R"({"event":"upload.slow","event_":"e","level":"warning","level_":"l",)"
            R"("time":"2026-11-15T08:30:00.123Z","time_":"t"})");
}

TEST(LogJson, WritesNumbersThatJsonLacksAsNull) {
  EXPECT_NE(as_json_line({{"v", std::nan("")}}).find("\"v\":null"), std::string::npos);
}

TEST(LogLevel, HasAWordForEach) {
  EXPECT_EQ(to_string(LogLevel::kDebug), "debug");
  EXPECT_EQ(to_string(LogLevel::kInfo), "info");
  EXPECT_EQ(to_string(LogLevel::kWarning), "warning");
  EXPECT_EQ(to_string(LogLevel::kError), "error");
}

class RecordingSink : public LogSink {
 public:
  void write(LogRecord record) override { records.push_back(std::move(record)); }
  std::vector<LogRecord> records;
};

TEST(Logger, PassesLevelEventAndFields) {
  RecordingSink sink;
  const Logger log(sink);
  log.debug("a");
  log.info("b", {{"n", 1}});
  log.warning("c");
  log.error("d");
  ASSERT_EQ(sink.records.size(), 4U);
  EXPECT_EQ(sink.records[0].level, LogLevel::kDebug);
  EXPECT_EQ(sink.records[1].level, LogLevel::kInfo);
  EXPECT_EQ(sink.records[2].level, LogLevel::kWarning);
  EXPECT_EQ(sink.records[3].level, LogLevel::kError);
  EXPECT_EQ(sink.records[1].event, "b");
  ASSERT_EQ(sink.records[1].fields.size(), 1U);
  EXPECT_EQ(sink.records[1].fields[0].first, "n");
}

TEST(Logger, PutsBoundFieldsFirstAndLeavesItsParentAlone) {
  RecordingSink sink;
  const Logger log(sink, {{"job", "cifar10"}});
  const Logger child = log.with({{"attempt", 3}});
  child.info("saved", {{"step", 40}});
  log.info("done");
  ASSERT_EQ(sink.records.size(), 2U);
  EXPECT_EQ(format_log_text(sink.records[0]), "00:00:00.000 saved job=cifar10 attempt=3 step=40");
  EXPECT_EQ(format_log_text(sink.records[1]), "00:00:00.000 done job=cifar10");
}

}  // namespace
}  // namespace outlast
