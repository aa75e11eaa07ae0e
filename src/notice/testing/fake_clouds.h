#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "cloud/http_date.h"
#include "notice/testing/cloud_scene.h"
#include "sys/http.h"
#include "sys/http_server.h"

// The clouds' metadata services, as far as those who listen to them can tell. They are as strict as
// the real ones about what counts here: who asks wrongly hears nothing.
namespace outlast::notice::testing {

inline std::string path_of(const sys::HttpServerRequest& request) {
  return request.target.substr(0, request.target.find('?'));
}
inline bool asks(const sys::HttpServerRequest& request, std::string_view parameter) {
  return request.target.find(parameter) != std::string::npos;
}

// One of Google. Requests that wait are held for a while.
class FakeGce {
 public:
  explicit FakeGce(CloudScene& scene) : scene_(scene) {
    scene.service = [this](const auto& request) { return answer(request); };
  }
  std::map<std::string, std::string> values = {{"instance/preempted", "FALSE"},
                                               {"instance/maintenance-event", "NONE"}};
  bool has_etags = true;
  bool holds = true;

 private:
  static std::string etag(std::string_view value) { return std::string(value) + "/etag"; }

  sys::HttpResponse answer(const sys::HttpServerRequest& request) {
    if (sys::find_header(request.headers, "Metadata-Flavor") != "Google") return {.status = 403};
    const std::string key = path_of(request).substr(std::string("/computeMetadata/v1/").size());
    if (asks(request, "wait_for_change=true") && holds) {
      EXPECT_TRUE(asks(request, "timeout_sec=60")) << request.target;
      const Trouble* const trouble = scene_.trouble;
      for (int i = 0; i < 80 && !scene_.is_over() && trouble == scene_.trouble; ++i) {
        const bool is_known = asks(request, "last_etag=" + values[key] + "%2Fetag");
        if (!is_known) break;
        scene_.wait(std::chrono::milliseconds(250));
      }
      if (scene_.trouble != nullptr && scene_.trouble->answer) return *scene_.trouble->answer;
    }
    const auto found = values.find(key);
    sys::HttpResponse answer = {.status = found == values.end() ? 404 : 200,
                                .headers = {{"Metadata-Flavor", "Google"}}};
    if (found == values.end()) return answer;
    answer.body = found->second;
    if (has_etags) answer.headers.emplace_back("ETag", etag(found->second));
    return answer;
  }

  CloudScene& scene_;
};

// One of Amazon, version 2.
class FakeEc2 {
 public:
  explicit FakeEc2(CloudScene& scene) : scene_(scene) {
    scene.service = [this](const auto& request) { return answer(request); };
  }
  std::map<std::string, std::string> values = {
      {"/latest/meta-data/instance-id", "i-0abc"},
      {"/latest/meta-data/events/maintenance/scheduled", "[]"}};
  bool tells_time = true;
  bool allows_v1 = false;
  bool knows_v2 = true;
  int tokens = 0;   // that were given
  int revoked = 0;  // of those, so many are not good any more

  void announce(Duration left) {
    values[kAction] =
        R"({"action":"terminate","time":")" + format_rfc3339(scene_.now() + left) + "\"}";
  }
  void withdraw() { values.erase(kAction); }
  static constexpr const char* kToken = "pLaNtEd-";
  static constexpr const char* kAction = "/latest/meta-data/spot/instance-action";
  static constexpr const char* kTermination = "/latest/meta-data/spot/termination-time";
  static constexpr const char* kRebalance = "/latest/meta-data/events/recommendations/rebalance";
  static constexpr const char* kMaintenance = "/latest/meta-data/events/maintenance/scheduled";

 private:
  bool is_good(std::string_view token) const {
    for (int number = revoked + 1; number <= tokens; ++number) {
      if (token == kToken + std::to_string(number)) return true;
    }
    return false;
  }

  sys::HttpResponse answer(const sys::HttpServerRequest& request) {
    sys::HttpResponse answer = {.status = 200};
    if (tells_time) answer.headers.emplace_back("Date", cloud::format_http_date(scene_.now()));
    if (request.method == "PUT") {
      if (!knows_v2) return {.status = 404};
      const auto ttl = sys::find_header(request.headers, "X-aws-ec2-metadata-token-ttl-seconds");
      if (ttl != "21600") return {.status = 400};
      answer.body = kToken + std::to_string(++tokens);
      return answer;
    }
    const auto given = sys::find_header(request.headers, "X-aws-ec2-metadata-token");
    if (given ? !is_good(*given) : !allows_v1) return {.status = 401};
    const auto found = values.find(path_of(request));
    answer.status = found == values.end() ? 404 : 200;
    answer.body = found == values.end() ? "<html>404</html>" : found->second;
    return answer;
  }

  CloudScene& scene_;
};

// One of Microsoft.
class FakeAzure {
 public:
  explicit FakeAzure(CloudScene& scene) : scene_(scene) {
    scene.service = [this](const auto& request) { return answer(request); };
  }
  bool tells_time = true;
  Duration first_takes = {};
  Json compute = {{"name", "vm-7"}, {"vmId", "v-1"}};
  std::optional<std::string> events_text = {};  // instead of a document of `events`
  std::vector<Json> events = {};
  std::vector<std::string> started = {};  // event ids

  Json event(std::string_view id, std::string_view type, Duration left) {
    return {{"EventId", id},
            {"EventType", type},
            {"ResourceType", "VirtualMachine"},
            {"Resources", Json::array({"VM-7"})},
            {"EventStatus", "Scheduled"},
            {"NotBefore", cloud::format_http_date(scene_.now() + left)}};
  }
  void announce(Duration left) { events = {event("e-1", "Preempt", left)}; }
  void withdraw() { events.clear(); }

 private:
  sys::HttpResponse answer(const sys::HttpServerRequest& request) {
    const bool is_well = sys::find_header(request.headers, "Metadata") == "true";
    if (!is_well || !asks(request, "api-version=")) return {.status = 400};
    if (path_of(request) == "/metadata/instance/compute") {
      return {.status = compute.is_null() ? 404 : 200, .body = canonical_json(compute)};
    }
    if (path_of(request) != "/metadata/scheduledevents") return {.status = 404};
    if (request.method == "POST") {
      const auto body = parse_json(request.body);
      if (!body || !body->contains("StartRequests")) return {.status = 400};
      for (const Json& start : (*body)["StartRequests"]) started.push_back(start["EventId"]);
      return {.status = 200};
    }
    if (first_takes > Duration::zero()) scene_.wait(std::exchange(first_takes, Duration::zero()));
    const Json document = {{"DocumentIncarnation", 1}, {"Events", events}};
    sys::HttpResponse answer = {.status = 200,
                                .body = events_text.value_or(canonical_json(document))};
    if (tells_time) answer.headers.emplace_back("Date", cloud::format_http_date(scene_.now()));
    return answer;
  }

  CloudScene& scene_;
};

}  // namespace outlast::notice::testing
