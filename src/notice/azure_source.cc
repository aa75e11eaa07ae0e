#include "notice/azure_source.h"

#include <fmt/core.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/announcements.h"
#include "notice/azure_events.h"
#include "notice/metadata_service.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

constexpr Duration kAzureEvery = std::chrono::seconds(1);  // Microsoft's advice
constexpr Duration kFirstPatience = std::chrono::seconds(150);
constexpr Duration kLaterPatience = std::chrono::seconds(5);
constexpr Duration kNameEvery = std::chrono::seconds(5);
constexpr int kStartAttempts = 3;

}  // namespace

AzureSource::AzureSource(sys::World& world, const Logger& log, Duration grace)
    : service_(world),
      clock_(world.clock),
      grace_(grace),
      presence_(log, world.clock, "azure"),
      announcements_("azure", world.clock, log) {}

void AzureSource::watch(NoticeBoard& board, const sys::CallContext& ctx) {
  do {
    learn_name(ctx);
    look(board, ctx);
  } while (clock_.sleep_for(kAzureEvery, ctx));
}

void AzureSource::learn_name(const sys::CallContext& ctx) {
  if (!machine_.empty() || clock_.mono_now() < ask_name_at_) return;
  const Result<Json> compute = service_.compute(ctx);
  if (compute) {
    presence_.answered("instance");
    machine_ = json_string(*compute, "name").value_or("");
  } else {
    presence_.failed("instance", compute.error());
  }
  ask_name_at_ = saturating_add(clock_.mono_now(), kNameEvery);
}

void AzureSource::look(NoticeBoard& board, const sys::CallContext& ctx) {
  const Result<sys::HttpResponse> answer =
      service_.events(has_answered_ ? kLaterPatience : kFirstPatience, ctx);
  const Result<AzureNews> read = answer ? read_azure_events({.body = answer->body,
                                                             .now = service_time(*answer, clock_),
                                                             .grace = grace_,
                                                             .machine = machine_})
                                        : Result<AzureNews>(answer.error());
  if (!read) {
    presence_.failed("scheduledevents", read.error());
    return;
  }
  has_answered_ = true;
  presence_.answered("scheduledevents");
  announcements_.tell(board, read->news);
  const MutexLock lock(mutex_);
  ours_alone_ = read->ours_alone;
}

Result<std::string> AzureSource::release(const Departure& departure, const sys::CallContext& ctx) {
  std::vector<std::string> events;
  if (!departure.is_all_safe) return std::string();  // every second may still save something
  {
    const MutexLock lock(mutex_);
    events = ours_alone_;
  }
  std::string done;
  for (const std::string& id : events) {
    // To start an event that has started is no error, so it may be asked for again.
    Result<void> started = service_.start_event(id, ctx);
    for (int attempt = 1; !started && attempt < kStartAttempts; ++attempt) {
      OUTLAST_TRY(clock_.sleep_for(kAzureEvery, ctx));
      started = service_.start_event(id, ctx);
    }
    if (!started) return std::move(started).error().while_doing("tell Azure to go ahead");
    done += fmt::format("{}{}", done.empty() ? "told Azure to go ahead with event " : ", ", id);
  }
  return done;
}

}  // namespace outlast::notice
