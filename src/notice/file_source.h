#pragma once

#include <optional>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"

namespace outlast::notice {

// A file that somebody makes when this machine is to be left ("preempt.txt"), by hand, by a script
// or through a mounted folder; looked for four times a second. It may say how much time is left
// ("90s") or until when ("2026-11-16T12:00:00Z"); otherwise the grace is. When it goes, the notice
// is withdrawn.
class FileSource : public NoticeSource {
 public:
  FileSource(sys::FileSystem& files, sys::Clock& clock, const Logger& log, std::string path,
             Duration grace);

  std::string name() const override { return "file:" + path_; }
  void watch(NoticeBoard& board, const sys::CallContext& ctx) override;

 private:
  Result<std::string> text();
  void look(NoticeBoard& board);
  Notice read(const std::string& text);

  sys::FileSystem& files_;
  sys::Clock& clock_;
  const Logger log_;
  const std::string path_;
  const Duration grace_;
  std::optional<std::string> said_;  // the text that was posted
  bool is_away_ = false;             // it could not be looked for, and that was said
};

}  // namespace outlast::notice
