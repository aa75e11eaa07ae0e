#include "notice/notice_board.h"

#include <optional>
#include <string>

#include "base/mutex.h"

namespace outlast::notice {

void NoticeBoard::post(const Notice& notice) {
  bool is_other = false;
  {
    const MutexLock lock(mutex_);
    const std::optional<Notice> before = first();
    notices_.insert_or_assign(notice.source, notice);
    is_other = first() != before;
  }
  if (is_other) changed_();
}

void NoticeBoard::withdraw(const std::string& source) {
  bool is_other = false;
  {
    const MutexLock lock(mutex_);
    const std::optional<Notice> before = first();
    notices_.erase(source);
    is_other = first() != before;
  }
  if (is_other) changed_();
}

std::optional<Notice> NoticeBoard::current() const {
  const MutexLock lock(mutex_);
  return first();
}

std::optional<Notice> NoticeBoard::first() const {
  const Notice* found = nullptr;
  for (const auto& [source, notice] : notices_) {
    const bool is_better = found == nullptr || notice.ends < found->ends ||
                           (notice.ends == found->ends && notice.confidence > found->confidence);
    if (is_better) found = &notice;
  }
  return found == nullptr ? std::nullopt : std::optional<Notice>(*found);
}

}  // namespace outlast::notice
