#include "notice/announcements.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "job/notice_plan.h"
#include "notice/metadata_service.h"
#include "notice/notice_board.h"
#include "sys/clock.h"

namespace outlast::notice {
namespace {

// An end that was so long ago and did not come is a failed one.
constexpr Duration kOverAfter = std::chrono::minutes(5);
// A Date has whole seconds: the same end seems to move by as much.
constexpr Duration kDateGrain = std::chrono::seconds(1);

}  // namespace

TimeLeft time_left(std::optional<WallTime> at, const ServiceTime& now, Duration longest) {
  if (!at) return {};
  const Duration left = *at - now.at;
  if (now.is_theirs) {
    if (left < -kOverAfter) return {.kind = TimeLeft::Kind::kOver};
    return {.kind = TimeLeft::Kind::kKnown, .left = std::clamp(left, Duration::zero(), longest)};
  }
  if (left < Duration::zero() || left > longest) return {};
  return {.kind = TimeLeft::Kind::kKnown, .left = left};
}

Announcements::Announcements(std::string source, sys::Clock& clock, const Logger& log)
    : source_(std::move(source)), clock_(clock), log_(log) {}

void Announcements::tell(NoticeBoard& board, const News& news) {
  const MonoTime now = clock_.mono_now();
  std::map<std::string, Known> known;
  for (const Announcement& announcement : news.announced) {
    const auto before = known_.find(announcement.id);
    if (announcement.is_reminder) {
      if (before != known_.end()) known.insert(*before);
      continue;
    }
    Known heard = {.announcement = announcement, .ends = saturating_add(now, announcement.left)};
    if (before != known_.end()) {
      const bool is_sooner = heard.ends < before->second.ends - kDateGrain;
      if (!is_sooner) heard.ends = before->second.ends;
      // Its words hold numbers that change from look to look.
      if (!is_sooner && announcement.confidence == before->second.announcement.confidence) {
        heard = before->second;
      }
    }
    known.insert_or_assign(announcement.id, std::move(heard));
  }
  known_ = std::move(known);
  say_once(news.not_believed);
  post(board, source_, job::NoticeConfidence::kCertain);
  post(board, source_ + "-hint", job::NoticeConfidence::kPossible);
}

void Announcements::say_once(const std::vector<std::string>& not_believed) {
  for (const std::string& sentence : not_believed) {
    if (!said_.contains(sentence)) log_.warning("notice.not_believed", {{"what", sentence}});
  }
  said_ = std::set(not_believed.begin(), not_believed.end());
}

void Announcements::post(NoticeBoard& board, const std::string& source,
                         job::NoticeConfidence confidence) const {
  const Known* first = nullptr;
  for (const auto& [id, known] : known_) {
    if (known.announcement.confidence != confidence) continue;
    if (first == nullptr || known.ends < first->ends) first = &known;
  }
  if (first == nullptr) {
    board.withdraw(source);
    return;
  }
  board.post({.source = source,
              .ends = first->ends,
              .confidence = confidence,
              .why = first->announcement.why});
}

}  // namespace outlast::notice
