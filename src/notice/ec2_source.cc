#include "notice/ec2_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

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
  topics_.push_back({.keys = {{.path = "spot/instance-action", .read = read_instance_action},
                              {.path = "spot/termination-time", .read = read_termination_time}},
                     .every = kSpotEvery,
                     .announcements = Announcements("ec2", world.clock, log)});
  topics_.push_back({.keys = {{.path = "events/recommendations/rebalance", .read = read_rebalance}},
                     .every = kOtherEvery,
                     .announcements = Announcements("ec2-rebalance", world.clock, log)});
  topics_.push_back({.keys = {{.path = "events/maintenance/scheduled", .read = read_maintenance}},
                     .every = kMaintenanceEvery,
                     .announcements = Announcements("ec2-maintenance", world.clock, log)});
}

void Ec2Source::watch(NoticeBoard& board, const sys::CallContext& ctx) {
  MonoTime next = MonoTime::min();
  do {
    next = kNever;
    for (Topic& topic : topics_) {
      if (clock_.mono_now() >= topic.due) look(topic, board, ctx);
      next = std::min(next, topic.due);
    }
  } while (clock_.sleep_until(next, ctx));
}

void Ec2Source::look(Topic& topic, NoticeBoard& board, const sys::CallContext& ctx) {
  const Result<News> news = ask(topic, ctx);
  const std::string& what = topic.keys.front().path;
  Duration pause = topic.every;
  if (news) {
    presence_.answered(what);
    topic.announcements.tell(board, *news);
  } else {
    presence_.failed(what, news.error());
    pause = std::min(pause, kOtherEvery);
  }
  topic.due = saturating_add(clock_.mono_now(), pause);
}

Result<News> Ec2Source::ask(const Topic& topic, const sys::CallContext& ctx) {
  Result<News> all = News{};
  for (const Key& key : topic.keys) {
    Result<News> news = ask(key, ctx);
    if (!news) {
      all = std::move(news).error();
      continue;
    }
    const bool is_news = std::any_of(news->announced.begin(), news->announced.end(),
                                     [](const Announcement& one) { return !one.is_reminder; });
    if (is_news) return news;
    if (!all) continue;
    std::move(news->announced.begin(), news->announced.end(), std::back_inserter(all->announced));
    std::move(news->not_believed.begin(), news->not_believed.end(),
              std::back_inserter(all->not_believed));
  }
  return all;
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
