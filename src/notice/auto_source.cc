#include "notice/auto_source.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "job/place_facts.h"
#include "notice/cloud_places.h"
#include "notice/cloud_sources.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "notice/place_finder.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

constexpr Duration kFindAgainMin = std::chrono::seconds(2);
constexpr Duration kFindAgainMax = std::chrono::minutes(5);

}  // namespace

AutoSource::AutoSource(sys::World& world, const Logger& log, Duration grace)
    : world_(world), log_(log), grace_(grace) {}

void AutoSource::watch(NoticeBoard& board, const sys::CallContext& ctx) {
  const std::optional<job::PlaceFacts> pod =
      read_kubernetes_place(world_.environment, world_.files);
  if (pod) board.set_place(*pod);
  const PlaceGuess guess = guess_place(world_.files, world_.environment);
  std::optional<Cloud> cloud = guess.cloud;
  Duration pause = kFindAgainMin;
  while (!cloud && !guess.ask.empty()) {
    cloud = find_cloud(world_, guess.ask, ctx);
    if (cloud) break;
    if (!world_.clock.sleep_for(pause, ctx)) return;  // stopped
    pause = std::min<Duration>(2 * pause, kFindAgainMax);
  }
  if (cloud) watch_cloud(*cloud, board);
  (void)world_.clock.sleep_until(kNever, ctx);
}

void AutoSource::watch_cloud(Cloud cloud, NoticeBoard& board) {
  log_.info("notice.place_found", {{"cloud", to_string(cloud)}});
  auto inner = std::make_unique<NoticeWatch>(world_.threads, board,
                                             sources_of_cloud(cloud, world_, log_, grace_));
  const MutexLock lock(mutex_);
  inner_ = std::move(inner);
}

Result<std::string> AutoSource::release(const Departure& departure, const sys::CallContext& ctx) {
  NoticeWatch* inner = nullptr;
  {
    const MutexLock lock(mutex_);
    inner = inner_.get();
  }
  std::string done;
  if (inner == nullptr) return done;
  for (Result<std::string>& one : inner->release(departure, ctx)) {
    OUTLAST_TRY_ASSIGN(const std::string what, std::move(one));
    if (what.empty()) continue;
    if (!done.empty()) done += "; ";
    done += what;
  }
  return done;
}

}  // namespace outlast::notice
