#include "notice/gce_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "job/notice_plan.h"
#include "notice/announcements.h"
#include "notice/gce_metadata.h"
#include "notice/notice_board.h"
#include "notice/service_presence.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

constexpr Duration kGcePauseMin = std::chrono::milliseconds(100);
constexpr Duration kGcePauseMax = std::chrono::seconds(1);

std::string gce_source_name(GceSource::Key key) {
  return key == GceSource::Key::kPreempted ? "gce" : "gce-maintenance";
}

std::string_view key_path(GceSource::Key key) {
  return key == GceSource::Key::kPreempted ? "instance/preempted" : "instance/maintenance-event";
}

}  // namespace

GceSource::GceSource(sys::World& world, const Logger& log,
                     std::shared_ptr<ServicePresence> presence, Key key, Duration grace)
    : service_(world),
      clock_(world.clock),
      key_(key),
      grace_(grace),
      presence_(std::move(presence)),
      announcements_(gce_source_name(key), world.clock, log) {}

std::string GceSource::name() const {
  return gce_source_name(key_);
}

void GceSource::watch(NoticeBoard& board, const sys::CallContext& ctx) {
  const std::string path(key_path(key_));
  std::string text;
  std::string etag;  // "": it is asked without waiting, for what has changed meanwhile
  Duration pause = kGcePauseMin;
  while (true) {
    const MonoTime asked = clock_.mono_now();
    const bool is_waiting = !etag.empty();
    const Result<GceMetadata::Value> value =
        is_waiting ? service_.wait_for_change(path, etag, ctx) : service_.get(path, ctx);
    const Result<News> news = value ? read(value->text) : Result<News>(value.error());
    bool is_well = false;
    if (news) {
      presence_->answered(path);
      announcements_.tell(board, *news);
      // A server that does not hold the request back until something changes is not to be asked
      // all the time.
      const bool was_held = clock_.mono_now() - asked >= kGcePauseMax;
      is_well = !value->etag.empty() && (!is_waiting || was_held || value->text != text);
      text = value->text;
      etag = value->etag;
    } else {
      presence_->failed(path, news.error());
      etag.clear();
    }
    if (is_well) {
      if (is_waiting) pause = kGcePauseMin;
      continue;
    }
    if (!clock_.sleep_for(pause, ctx)) return;  // stopped
    pause = std::min<Duration>(2 * pause, kGcePauseMax);
  }
}

Result<News> GceSource::read(const std::string& text) const {
  const std::string word = ascii_lower(text);
  Announcement heard = {.id = name(), .left = grace_};
  if (key_ == Key::kPreempted) {
    if (word == "false") return News{};
    if (word == "true") {
      heard.why = fmt::format("Google takes this machine back, which leaves {}",
                              format_duration_short(grace_));
      return News{.announced = {std::move(heard)}};
    }
  } else {
    if (word == "none") return News{};
    if (word == "terminate_on_host_maintenance") {
      heard.why = fmt::format(
          "Google ends this machine for maintenance of its host, which leaves {} at least",
          format_duration_short(grace_));
      return News{.announced = {std::move(heard)}};
    }
    if (word == "migrate_on_host_maintenance") {
      heard.id += "-migrate";
      heard.confidence = job::NoticeConfidence::kPossible;
      heard.why = "Google is about to move this machine to another host";
      return News{.announced = {std::move(heard)}};
    }
  }
  return Error(ErrorCode::kFailed, fmt::format("{} says neither that this machine ends nor that it "
                                               "stays; is this the right service?",
                                               key_path(key_)));
}

}  // namespace outlast::notice
