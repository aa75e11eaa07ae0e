#pragma once

#include "base/log.h"
#include "sys/clock.h"
#include "sys/console.h"

namespace outlast::sys {

// Log records on standard error: text if that is a terminal, JSON lines otherwise. Records below
// `least` are dropped. Thread-safe.
class ConsoleLog : public LogSink {
 public:
  ConsoleLog(Console& console, Clock& clock, LogLevel least)
      : console_(console), clock_(clock), least_(least), text_(console.err_is_terminal()) {}

  void write(LogRecord record) override;

 private:
  Console& console_;
  Clock& clock_;
  const LogLevel least_;
  const bool text_;
};

}  // namespace outlast::sys
