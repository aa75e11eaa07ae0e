#include "sys/console_log.h"

#include "base/log.h"
#include "base/time.h"

namespace outlast::sys {

void ConsoleLog::write(LogRecord record) {
  if (record.level < least_) return;
  if (record.time == WallTime()) record.time = clock_.wall_now();
  console_.err((text_ ? format_log_text(record) : format_log_json(record)) + "\n");
}

}  // namespace outlast::sys
