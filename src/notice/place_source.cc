#include "notice/place_source.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/time.h"
#include "job/place_facts.h"
#include "notice/cloud_places.h"
#include "notice/notice_board.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::notice {
namespace {

constexpr Duration kReadAgainMin = std::chrono::seconds(1);
constexpr Duration kReadAgainMax = std::chrono::minutes(1);
// What was refused so often will be the next time, too.
constexpr int kReadingsMax = 6;

bool says_something(const job::PlaceFacts& facts) {
  return facts != job::PlaceFacts{.cloud = facts.cloud};
}

}  // namespace

PlaceSource::PlaceSource(sys::Clock& clock, std::optional<job::PlaceFacts> pod, Read read)
    : clock_(clock), pod_(std::move(pod)), read_(std::move(read)) {}

void PlaceSource::watch(NoticeBoard& board, const sys::CallContext& ctx) {
  if (pod_) board.set_place(*pod_);
  int readings = 0;  // that said something
  Duration pause = kReadAgainMin;
  while (read_ && readings < kReadingsMax) {
    PlaceReading reading = read_(ctx);
    if (says_something(reading.facts)) {
      if (pod_) reading.facts.tags.insert(pod_->tags.begin(), pod_->tags.end());
      board.set_place(reading.facts);
      if (reading.is_complete) break;
      ++readings;
    }
    if (!clock_.sleep_for(pause, ctx)) return;  // stopped
    pause = std::min<Duration>(2 * pause, kReadAgainMax);
  }
  (void)clock_.sleep_until(kNever, ctx);
}

}  // namespace outlast::notice
