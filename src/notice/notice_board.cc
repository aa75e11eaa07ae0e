#include "notice/notice_board.h"

#include <functional>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "job/notice_plan.h"
#include "job/place_facts.h"

namespace outlast::notice {

using job::NoticeConfidence;

void NoticeBoard::change(const std::function<void(Notices&)>& how) {
  bool is_other = false;
  {
    const MutexLock lock(mutex_);
    const std::optional<Notice> current = first(NoticeConfidence::kCertain);
    const std::optional<Notice> hint = first(NoticeConfidence::kPossible);
    how(notices_);
    is_other =
        first(NoticeConfidence::kCertain) != current || first(NoticeConfidence::kPossible) != hint;
  }
  if (is_other) changed_();
}

void NoticeBoard::post(const Notice& notice) {
  change([&](Notices& notices) { notices.insert_or_assign(notice.source, notice); });
}

void NoticeBoard::withdraw(const std::string& source) {
  change([&](Notices& notices) { notices.erase(source); });
}

std::optional<Notice> NoticeBoard::current() const {
  const MutexLock lock(mutex_);
  return first(NoticeConfidence::kCertain);
}

std::optional<Notice> NoticeBoard::hint() const {
  const MutexLock lock(mutex_);
  return first(NoticeConfidence::kPossible);
}

void NoticeBoard::set_place(const job::PlaceFacts& place) {
  {
    const MutexLock lock(mutex_);
    const job::PlaceFacts both = job::merged(place_.value_or(job::PlaceFacts()), place);
    if (place_ == both) return;
    place_ = both;
  }
  changed_();
}

std::optional<job::PlaceFacts> NoticeBoard::place() const {
  const MutexLock lock(mutex_);
  return place_;
}

std::optional<Notice> NoticeBoard::first(NoticeConfidence confidence) const {
  const Notice* first = nullptr;
  const Notice* at_once = nullptr;
  for (const auto& [source, notice] : notices_) {
    if (notice.confidence != confidence) continue;
    if (first == nullptr || notice.ends < first->ends) first = &notice;
    if (notice.at_once) at_once = &notice;
  }
  if (first == nullptr) return std::nullopt;
  Notice found = at_once != nullptr ? *at_once : *first;
  found.ends = first->ends;
  return found;
}

}  // namespace outlast::notice
