#include "stand_in/azure_stand_in.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/encoding.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "cloud/http_date.h"
#include "stand_in/happening.h"
#include "stand_in/service.h"
#include "sys/http.h"

namespace outlast::stand_in {
namespace {

constexpr std::string_view kOwnName = "stand-in-1";
constexpr std::string_view kOtherName = "stand-in-2";
constexpr Duration kTokenLife = std::chrono::hours(24);

// Newest first.
constexpr std::string_view kInstanceVersions[] = {
    "2023-11-15", "2023-07-01", "2021-12-13", "2021-11-15", "2021-11-01", "2021-10-01",
    "2021-05-01", "2021-03-01", "2021-02-01", "2021-01-01", "2020-12-01", "2020-10-01",
    "2020-09-01", "2020-07-15", "2020-06-01", "2019-11-01", "2019-08-15", "2019-08-01",
    "2019-06-04", "2019-06-01", "2019-04-30", "2019-03-11", "2019-02-01", "2018-10-01",
    "2018-04-02", "2018-02-01", "2017-12-01", "2017-08-01", "2017-04-02"};
constexpr std::string_view kEventVersions[] = {"2020-07-01", "2019-08-01", "2019-04-01",
                                               "2019-01-01", "2017-11-01", "2017-08-01"};
constexpr std::string_view kIdentityVersions[] = {"2020-06-01", "2019-11-01", "2019-08-01",
                                                  "2018-02-01"};

// Which versions of events tell of what.
constexpr std::string_view kPreemptSince = "2017-11-01";
constexpr std::string_view kDescriptionSince = "2019-04-01";
constexpr std::string_view kSourceSince = "2019-08-01";
constexpr std::string_view kDurationSince = "2020-07-01";

Json azure_compute() {
  return {{"azEnvironment", "AzurePublicCloud"},
          {"evictionPolicy", "Deallocate"},
          {"location", "westeurope"},
          {"name", kOwnName},
          {"osType", "Linux"},
          {"priority", "Spot"},
          {"resourceGroupName", "outlast-stand-in"},
          {"subscriptionId", "00000000-0000-0000-0000-000000004711"},
          {"tags", "team:stand-in"},
          {"tagsList", Json::array({Json{{"name", "team"}, {"value", "stand-in"}}})},
          {"userData", ""},
          {"vmId", "00000000-0000-0000-0000-000000000001"},
          {"vmScaleSetName", ""},
          {"vmSize", "Standard_D8s_v5"},
          {"zone", "1"}};
}

// "C7061BAC-8F8E-4B1C-9F0A-3D5B2E1A7C60": of one event, and of no other.
std::string event_id(int number, const Moment& now) {
  const std::string seed = fmt::format("{} {}", number, now.wall.time_since_epoch().count());
  std::string digits = sha256(as_bytes(seed)).hex().substr(0, 32);
  for (char& c : digits) c = c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const int at : {20, 16, 12, 8}) digits.insert(static_cast<std::size_t>(at), "-");
  return digits;
}

struct AzureEvent {
  std::string id = {};
  std::string type = {};
  std::string machine = std::string(kOwnName);
  std::string not_before = {};  // as it is said
  MonoTime starts = kNever;
  bool is_started = false;
};

Json event_json(const AzureEvent& event, std::string_view version) {
  Json json = {{"EventId", event.id},
               {"EventStatus", event.is_started ? "Started" : "Scheduled"},
               {"EventType", event.type},
               {"NotBefore", event.is_started ? "" : event.not_before},
               {"ResourceType", "VirtualMachine"},
               {"Resources", Json::array({event.machine})}};
  if (version >= kDescriptionSince) json["Description"] = "Told to a stand-in";
  if (version >= kSourceSince) json["EventSource"] = "Platform";
  if (version >= kDurationSince) json["DurationInSeconds"] = -1;
  return json;
}

class AzureStandIn : public Service {
 public:
  std::string_view cloud() const override { return "azure"; }
  sys::HttpHeaders signature() const override { return {{"Server", "IMDS"}}; }

  std::vector<std::pair<std::string, std::string>> environment(
      const std::string& url) const override {
    return {{"OUTLAST_AZURE_METADATA_ENDPOINT", url}, {"AZURE_POD_IDENTITY_AUTHORITY_HOST", url}};
  }

  void happen(const Happening& happening, const Moment& now) override {
    start_due(now);
    const std::string& word = happening.word;
    if (word == "withdraw") {
      if (!events_.empty()) ++incarnation_;
      events_.clear();
      return;
    }
    AzureEvent event = {.id = event_id(++events_made_, now),
                        .type = type_of(word),
                        .not_before = cloud::format_http_date(now.wall + happening.time),
                        .starts = saturating_add(now.mono, happening.time)};
    if (word == "other-machine") event.machine = kOtherName;
    if (word == "failure") event.is_started = true;
    if (word == "past") event.not_before = cloud::format_http_date(now.wall - happening.time);
    if (word == "junk") event.not_before = "as soon as possible";
    if (word == "past" || word == "junk") event.starts = kNever;
    // Said again, it is said anew.
    std::erase_if(events_, [&](const AzureEvent& old) {
      return old.type == event.type && old.machine == event.machine;
    });
    events_.push_back(std::move(event));
    ++incarnation_;
  }

  Answer answer(Asked& asked, const Moment& now) override {
    start_due(now);
    if (asked.header("X-Forwarded-For")) {
      return refused("it came through a proxy: it has X-Forwarded-For");
    }
    if (ascii_lower(asked.header("Metadata").value_or("")) != "true") {
      return refused("the header 'Metadata: true' is missing");
    }
    const std::string path = ascii_lower(asked.below(0));
    if (path == "metadata/scheduledevents") return on_events(asked);
    if (!asked.is_read()) return refused("only GET is known here", 405);
    if (path == "metadata/identity/oauth2/token") return on_identity(asked, now);
    if (path == "metadata/versions") return found({{"apiVersions", list(kInstanceVersions)}});
    if (path == "metadata/instance" || path.starts_with("metadata/instance/")) {
      return on_instance(asked);
    }
    return absent();
  }

 private:
  static std::string type_of(std::string_view word) {
    if (word == "terminate") return "Terminate";
    if (word == "freeze") return "Freeze";
    if (word == "reboot" || word == "failure") return "Reboot";
    if (word == "redeploy") return "Redeploy";
    return "Preempt";
  }

  void start_due(const Moment& now) {
    for (AzureEvent& event : events_) {
      if (event.is_started || event.starts > now.mono) continue;
      event.is_started = true;
      ++incarnation_;
    }
  }

  Answer on_events(const Asked& asked) {
    if (!asked.is_read() && asked.method != "POST") {
      return refused("only GET and POST are known here", 405);
    }
    const std::string version = asked.parameter("api-version");
    if (!is_known(version, kEventVersions)) return wrong_version(version, kEventVersions);
    if (asked.method == "POST") return start_requested(asked.body);
    Json events = Json::array();
    for (const AzureEvent& event : events_) {
      if (event.type == "Preempt" && version < kPreemptSince) continue;
      events.push_back(event_json(event, version));
    }
    return found({{"DocumentIncarnation", incarnation_}, {"Events", std::move(events)}});
  }

  // All of what is asked for, or nothing of it.
  Answer start_requested(const std::string& body) {
    const Result<Json> json = parse_json(body);
    if (!json || !json->is_object() || !json->contains("StartRequests") ||
        !json->at("StartRequests").is_array() || json->at("StartRequests").empty()) {
      return refused("its body is not {\"StartRequests\":[{\"EventId\":\"…\"}]}");
    }
    std::vector<AzureEvent*> meant;
    for (const Json& one : json->at("StartRequests")) {
      const std::string id = json_string(one, "EventId").value_or("");
      const auto found = std::find_if(events_.begin(), events_.end(),
                                      [&](const AzureEvent& event) { return event.id == id; });
      if (found == events_.end()) return refused("there is no event of that EventId");
      meant.push_back(&*found);
    }
    Answer answer = {.response = {.status = 200}};
    for (AzureEvent* const event : meant) {
      if (!event->is_started) ++incarnation_;
      event->is_started = true;
      answer.acknowledged.push_back(
          fmt::format("event {} ({}) may happen now", event->id, event->type));
    }
    return answer;
  }

  static Answer on_identity(const Asked& asked, const Moment& now) {
    const std::string version = asked.parameter("api-version");
    if (!is_known(version, kIdentityVersions)) return wrong_version(version, kIdentityVersions);
    const std::string resource = asked.parameter("resource");
    if (resource.empty()) {
      const std::string why = "the parameter 'resource' is missing";
      return refuse(400, why, json_type(),
                    canonical_json({{"error", "invalid_request"}, {"error_description", why}}));
    }
    const auto since_1970 = [](WallTime time) {
      return std::to_string(
          std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
    };
    return found({{"access_token", "stand-in-not-a-real-token"},
                  {"expires_in", "86399"},
                  {"expires_on", since_1970(now.wall + kTokenLife)},
                  {"not_before", since_1970(now.wall)},
                  {"resource", resource},
                  {"token_type", "Bearer"}});
  }

  static Answer on_instance(const Asked& asked) {
    const std::string version = asked.parameter("api-version");
    if (!is_known(version, kInstanceVersions)) return wrong_version(version, kInstanceVersions);
    const Json whole = {{"compute", azure_compute()}, {"network", {{"interface", Json::array()}}}};
    const Json* place = &whole;
    for (std::size_t i = 2; i < asked.parts.size(); ++i) {
      const std::string& part = asked.parts[i];
      if (!place->is_object() || !place->contains(part)) return absent();
      place = &place->at(part);
    }
    const bool as_text = asked.parameter("format") == "text";
    if (place->is_object() || place->is_array()) {
      return as_text ? refused("only a single value can be had as text") : found(*place);
    }
    if (!as_text) return refused("a single value can be had only with format=text");
    return {.response = {.status = 200,
                         .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                         .body = place->get<std::string>()}};
  }

  static bool is_known(std::string_view version, std::span<const std::string_view> known) {
    return std::find(known.begin(), known.end(), version) != known.end();
  }
  static Json list(std::span<const std::string_view> words) {
    Json all = Json::array();
    for (const std::string_view word : words) all.push_back(word);
    return all;
  }

  static sys::HttpHeaders json_type() {
    return {{"Content-Type", "application/json; charset=utf-8"}};
  }
  static Answer found(const Json& json) {
    return {.response = {.status = 200, .headers = json_type(), .body = canonical_json(json)}};
  }
  static Answer absent() {
    return {.response = {.status = 404,
                         .headers = json_type(),
                         .body = canonical_json({{"error", "Not found"}})}};
  }
  static Answer refused(std::string why, int status = 400) {
    std::string body = canonical_json({{"error", "Bad request: " + why}});
    return refuse(status, std::move(why), json_type(), std::move(body));
  }
  static Answer wrong_version(std::string_view given, std::span<const std::string_view> known) {
    constexpr std::size_t kShownMax = 3;
    const std::string why = given.empty() ? "the parameter 'api-version' is missing"
                                          : "its api-version is none that is known here";
    return refuse(400, why, json_type(),
                  canonical_json(
                      {{"error", "Bad request: " + why},
                       {"newest-versions", list(known.first(std::min(kShownMax, known.size())))}}));
  }

  std::vector<AzureEvent> events_;
  int incarnation_ = 1;
  int events_made_ = 0;
};

}  // namespace

std::unique_ptr<Service> make_azure_stand_in() {
  return std::make_unique<AzureStandIn>();
}

}  // namespace outlast::stand_in
