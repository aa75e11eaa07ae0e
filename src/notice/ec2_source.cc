#include "notice/ec2_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/announcements.h"
#include "notice/ec2_events.h"
#include "notice/metadata_service.h"
#include "notice/notice_board.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

// Amazon advises five seconds.
constexpr Duration kSpotEvery = std::chrono::seconds(2);
constexpr Duration kOtherEvery = std::chrono::seconds(4);
constexpr Duration kMaintenanceEvery = std::chrono::minutes(1);

}  // namespace

Ec2Source::Ec2Source(sys::World& world, const Logger& log, Duration grace)
    : service_(world), clock_(world.clock), grace_(grace), presence_(log, world.clock, "ec2") {
  keys_.push_back({.path = "spot/instance-action",
                   .every = kSpotEvery,
                   .read = read_instance_action,
                   .announcements = Announcements("ec2", world.clock, log)});
  keys_.push_back({.path = "spot/termination-time",
                   .every = kOtherEvery,
                   .read = read_termination_time,
                   .announcements = Announcements("ec2-termination-time", world.clock, log)});
  keys_.push_back({.path = "events/recommendations/rebalance",
                   .every = kOtherEvery,
                   .read = read_rebalance,
                   .announcements = Announcements("ec2-rebalance", world.clock, log)});
  keys_.push_back({.path = "events/maintenance/scheduled",
                   .every = kMaintenanceEvery,
                   .read = read_maintenance,
                   .announcements = Announcements("ec2-maintenance", world.clock, log)});
}

void Ec2Source::watch(NoticeBoard& board, const sys::CallContext& ctx) {
  MonoTime next = clock_.mono_now();
  do {
    for (Key& key : keys_) {
      if (clock_.mono_now() >= key.due) look(key, board, ctx);
    }
    next = std::min_element(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) {
             return a.due < b.due;
           })->due;
  } while (clock_.sleep_until(next, ctx));
}

void Ec2Source::look(Key& key, NoticeBoard& board, const sys::CallContext& ctx) {
  const Result<News> news = ask(key, ctx);
  Duration pause = key.every;
  if (news) {
    presence_.answered(key.path);
    key.announcements.tell(board, *news);
  } else {
    presence_.failed(key.path, news.error());
    pause = std::min(pause, kOtherEvery);
  }
  key.due = saturating_add(clock_.mono_now(), pause);
}

Result<News> Ec2Source::ask(const Key& key, const sys::CallContext& ctx) {
  const Result<sys::HttpResponse> answer =
      service_.get(fmt::format("/latest/meta-data/{}", key.path), ctx);
  if (!answer) {
    if (answer.error().code() == ErrorCode::kNotFound) return News{};  // nothing is announced
    return answer.error();
  }
  return key.read({.body = answer->body, .now = service_time(*answer, clock_), .grace = grace_})
      .while_doing(fmt::format("ask EC2 for {}", key.path));
}

}  // namespace outlast::notice
