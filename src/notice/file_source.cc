#include "notice/file_source.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "notice/notice_board.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::notice {
namespace {

constexpr Duration kLookEvery = std::chrono::milliseconds(250);
constexpr std::size_t kTextMax = 4096;

}  // namespace

FileSource::FileSource(sys::FileSystem& files, sys::Clock& clock, const Logger& log,
                       std::string path, Duration grace)
    : files_(files), clock_(clock), log_(log), path_(std::move(path)), grace_(grace) {}

void FileSource::watch(NoticeBoard& board, const sys::CallContext& ctx) {
  do {
    look(board);
  } while (clock_.sleep_for(kLookEvery, ctx));
}

// What it says; nothing, if it is something that cannot be read or is no text.
Result<std::string> FileSource::text() {
  OUTLAST_TRY_ASSIGN(const sys::FileInfo info, files_.stat(path_));
  const bool may_be_text =
      info.type == sys::FileType::kFile || info.type == sys::FileType::kSymlink;  // no pipe
  if (!may_be_text) return std::string();
  Result<std::string> text = sys::read_file(files_, path_, kTextMax);
  const bool says_nothing = !text && (text.error().code() == ErrorCode::kInvalidArgument ||
                                      text.error().code() == ErrorCode::kPermissionDenied);
  return says_nothing ? std::string() : std::move(text);
}

void FileSource::look(NoticeBoard& board) {
  const Result<std::string> text = this->text();
  if (text) {
    is_away_ = false;
    if (said_ == *text) return;  // the time runs from when it was seen first
    said_ = *text;
    board.post(read(std::string(ascii_trimmed(*text))));
  } else if (text.error().code() == ErrorCode::kNotFound) {
    is_away_ = false;
    if (said_) board.withdraw(name());
    said_.reset();
  } else if (!is_away_) {
    is_away_ = true;  // what was said before still holds
    log_.warning("notice.file_unreadable", {{"path", path_}, {"error", text.error()}});
  }
}

Notice FileSource::read(const std::string& text) {
  const MonoTime now = clock_.mono_now();
  Notice notice = {.source = name(), .ends = saturating_add(now, grace_)};
  if (const Result<Duration> left = parse_duration(text)) {
    notice.ends = saturating_add(now, *left);
    notice.why = fmt::format("'{}' says {}", path_, text);
  } else if (const Result<WallTime> end = parse_rfc3339(text)) {
    notice.ends = saturating_add(now, *end - clock_.wall_now());
    notice.why = fmt::format("'{}' says {}", path_, text);
  } else {
    notice.why =
        fmt::format("'{}' is there, which leaves {}", path_, format_duration_short(grace_));
  }
  return notice;
}

}  // namespace outlast::notice
