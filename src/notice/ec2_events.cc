#include "notice/ec2_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "cloud/http_date.h"
#include "job/notice_plan.h"
#include "notice/announcements.h"
#include "notice/metadata_service.h"

namespace outlast::notice {
namespace {

using job::NoticeConfidence;

// A spot machine is told two minutes before.
constexpr Duration kSpotNoticeMax = std::chrono::minutes(2);
// Maintenance is announced weeks before.
constexpr Duration kMaintenanceNoticeMax = std::chrono::hours(24 * 365);
constexpr std::array<std::string_view, 4> kEnds = {"instance-stop", "instance-retirement",
                                                   "instance-reboot", "system-reboot"};

std::string text_member(const Json& object, std::string_view key) {
  return json_string(object, key).value_or("");
}

// A word of the service that may stand in a sentence.
std::string tame_word(std::string_view word) {
  const bool is_tame = !word.empty() && word.size() <= 40 &&
                       word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == word.npos;
  return is_tame ? std::string(word) : "something unknown";
}

Error not_said_by_ec2(std::string_view what) {
  return {ErrorCode::kFailed,
          fmt::format("the answer is not {}; is this the right service?", what)};
}

News one_announcement(Announcement announcement) {
  News news;
  news.announced.push_back(std::move(announcement));
  return news;
}

// One event of the list; nullopt if nothing follows from it.
std::optional<Announcement> read_event(const Json& event, const Ec2Answer& answer) {
  const std::string state = text_member(event, "State");
  if (state == "completed" || state == "canceled") return std::nullopt;
  const std::string code = text_member(event, "Code");
  const std::string not_before = text_member(event, "NotBefore");
  const TimeLeft left = time_left(parse_ec2_time(not_before), answer.now, kMaintenanceNoticeMax);
  // An end without a time is none that one could plan for; it may be weeks away.
  const bool is_certain = std::find(kEnds.begin(), kEnds.end(), code) != kEnds.end() &&
                          left.kind == TimeLeft::Kind::kKnown;
  return Announcement{
      // One that is put off is another one: its time is later.
      .id = fmt::format("{} {} {}", text_member(event, "EventId"), code, not_before),
      .confidence = is_certain ? NoticeConfidence::kCertain : NoticeConfidence::kPossible,
      .left = left.kind == TimeLeft::Kind::kKnown ? left.left : answer.grace,
      .why = fmt::format("EC2 has scheduled {} for this machine, not before {}", tame_word(code),
                         parse_ec2_time(not_before) ? not_before : "a time it does not tell")};
}

}  // namespace

Result<News> read_instance_action(const Ec2Answer& answer) {
  const Result<Json> json = parse_json(answer.body);
  const std::string action = json ? text_member(*json, "action") : "";
  if (action.empty()) return not_said_by_ec2("an instance action");
  const Result<WallTime> at = parse_rfc3339(text_member(*json, "time"));
  const TimeLeft left =
      time_left(at ? std::optional(*at) : std::nullopt, answer.now, kSpotNoticeMax);
  if (left.kind == TimeLeft::Kind::kOver) {
    return News{.not_believed = {fmt::format(
                    "EC2 wanted to {} this machine at {}, which is past: it did not come to that",
                    tame_word(action), format_rfc3339(*at))}};
  }
  const bool is_known = left.kind == TimeLeft::Kind::kKnown;
  return one_announcement(
      {.id = "instance-action",
       .left = is_known ? left.left : answer.grace,
       .why = is_known ? fmt::format("EC2 takes this spot machine back ({}) at {}",
                                     tame_word(action), format_rfc3339(*at))
                       : fmt::format("EC2 takes this spot machine back ({}), which leaves {}",
                                     tame_word(action), format_duration_short(answer.grace))});
}

Result<News> read_termination_time(const Ec2Answer& answer) {
  const Result<WallTime> at = parse_rfc3339(ascii_trimmed(answer.body));
  if (!at) return one_announcement({.id = "termination-time", .is_reminder = true});
  const TimeLeft left = time_left(*at, answer.now, kSpotNoticeMax);
  if (left.kind == TimeLeft::Kind::kOver) return News{};
  return one_announcement(
      {.id = "termination-time",
       .left = left.kind == TimeLeft::Kind::kKnown ? left.left : answer.grace,
       .why = fmt::format("EC2 terminates this spot machine at {}", format_rfc3339(*at)),
       .is_reminder = *at <= answer.now.at});
}

Result<News> read_rebalance(const Ec2Answer& answer) {
  const Result<Json> json = parse_json(answer.body);
  if (!json || !json->is_object() || !json->contains("noticeTime")) {
    return not_said_by_ec2("a recommendation");
  }
  return one_announcement({.id = "rebalance",
                           .confidence = NoticeConfidence::kPossible,
                           .left = std::max(answer.grace, kSpotNoticeMax),
                           .why = "EC2 says that this spot machine is likelier than others to be "
                                  "taken back"});
}

Result<News> read_maintenance(const Ec2Answer& answer) {
  const Result<Json> json = parse_json(answer.body);
  if (!json || !json->is_array()) return not_said_by_ec2("a list of events");
  News news;
  for (const Json& event : *json) {
    if (!event.is_object()) continue;
    if (std::optional<Announcement> announcement = read_event(event, answer)) {
      news.announced.push_back(*std::move(announcement));
    }
  }
  return news;
}

std::optional<WallTime> parse_ec2_time(std::string_view text) {
  if (const Result<WallTime> time = parse_rfc3339(text)) return *time;
  const std::string padded = fmt::format("{:0>24}", text);  // "1 Jan …" is "01 Jan …"
  // The same as in HTTP, without its weekday: only the right one is taken.
  for (const std::string_view weekday : {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}) {
    const auto time = cloud::parse_http_date(fmt::format("{}, {}", weekday, padded));
    if (time) return *time;
  }
  return std::nullopt;
}

}  // namespace outlast::notice
