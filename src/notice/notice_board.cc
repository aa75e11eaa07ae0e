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
  const Notice* first = nullptr;
  const Notice* at_once = nullptr;
  for (const auto& [source, notice] : notices_) {
    const bool is_sooner = first == nullptr || notice.ends < first->ends ||
                           (notice.ends == first->ends && notice.confidence > first->confidence);
    if (is_sooner) first = &notice;
    if (notice.at_once) at_once = &notice;
  }
  if (first == nullptr) return std::nullopt;
  Notice found = at_once != nullptr ? *at_once : *first;
  found.ends = first->ends;
  return found;
}

}  // namespace outlast::notice
