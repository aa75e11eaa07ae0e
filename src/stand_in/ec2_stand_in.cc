#include "stand_in/ec2_stand_in.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/time.h"
#include "cloud/http_date.h"
#include "stand_in/happening.h"
#include "stand_in/service.h"
#include "sys/http.h"

namespace outlast::stand_in {
namespace {

constexpr std::string_view kTokenPath = "latest/api/token";
constexpr std::string_view kTtlHeader = "X-aws-ec2-metadata-token-ttl-seconds";
constexpr std::int64_t kTtlMax = 21600;
constexpr std::string_view kData = "latest/meta-data/";
constexpr std::string_view kAction = "latest/meta-data/spot/instance-action";
constexpr std::string_view kTerminationTime = "latest/meta-data/spot/termination-time";
constexpr std::string_view kRebalance = "latest/meta-data/events/recommendations/rebalance";
constexpr std::string_view kScheduled = "latest/meta-data/events/maintenance/scheduled";
constexpr std::string_view kRole =
    "latest/meta-data/iam/security-credentials/outlast-stand-in-role";
constexpr Duration kKeysLife = std::chrono::hours(6);

Values ec2_values() {
  Values values = {{"ami-id", "ami-0outlaststandin"},
                   {"events/maintenance/history", "[]"},
                   {"events/maintenance/scheduled", "[]"},
                   {"hostname", "ip-10-0-0-7.eu-west-1.compute.internal"},
                   {"iam/security-credentials/outlast-stand-in-role", ""},
                   {"instance-action", "none"},
                   {"instance-id", "i-0outlaststandin01"},
                   {"instance-life-cycle", "spot"},
                   {"instance-type", "m6i.2xlarge"},
                   {"local-hostname", "ip-10-0-0-7.eu-west-1.compute.internal"},
                   {"local-ipv4", "10.0.0.7"},
                   {"placement/availability-zone", "eu-west-1b"},
                   {"placement/availability-zone-id", "euw1-az3"},
                   {"placement/region", "eu-west-1"},
                   {"services/domain", "amazonaws.com"},
                   {"services/partition", "aws"},
                   {"tags/instance/Name", "stand-in-1"},
                   {"tags/instance/team", "stand-in"}};
  Values rooted;
  for (auto& [key, value] : values) rooted.emplace(std::string(kData) + key, std::move(value));
  rooted.emplace("latest/dynamic/instance-identity/document",
                 pretty_json({{"accountId", "123456789012"},
                              {"architecture", "x86_64"},
                              {"availabilityZone", "eu-west-1b"},
                              {"imageId", "ami-0outlaststandin"},
                              {"instanceId", "i-0outlaststandin01"},
                              {"instanceType", "m6i.2xlarge"},
                              {"privateIp", "10.0.0.7"},
                              {"region", "eu-west-1"},
                              {"version", "2017-09-30"}}));
  return rooted;
}

std::string xml_page(int status, std::string_view title) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n"
      "<html xmlns=\"http://www.w3.org/1999/xhtml\" xml:lang=\"en\" lang=\"en\">\n"
      " <head><title>{} - {}</title></head>\n <body><h1>{} - {}</h1></body>\n</html>\n",
      status, title, status, title);
}

class Ec2StandIn : public Service {
 public:
  std::string_view cloud() const override { return "ec2"; }
  sys::HttpHeaders signature() const override { return {{"Server", "EC2ws"}}; }

  std::vector<std::pair<std::string, std::string>> environment(
      const std::string& url) const override {
    return {{"AWS_EC2_METADATA_SERVICE_ENDPOINT", url}};
  }

  void happen(const Happening& happening, const Moment& now) override {
    const std::string& word = happening.word;
    if (word == "preempt") announce("terminate", format_seconds(now.wall + happening.time));
    if (word == "past") announce("terminate", format_seconds(now.wall - happening.time));
    if (word == "junk") announce("terminate", "as soon as possible");
    if (word == "stop") announce("stop", format_seconds(now.wall + happening.time));
    if (word == "hibernate") announce("hibernate", format_seconds(now.wall));
    if (word == "rebalance") {
      set(kRebalance, canonical_json({{"noticeTime", format_seconds(now.wall)}}));
    }
    if (word == "scheduled") schedule(happening.choice, now.wall + happening.time);
    if (word == "withdraw") {
      for (const std::string_view key : {kAction, kTerminationTime, kRebalance}) {
        values_.erase(std::string(key));
      }
      scheduled_.clear();
      set(kScheduled, canonical_json(scheduled_));
    }
  }

  Answer answer(Asked& asked, const Moment& now) override {
    const std::string key = asked.below(0);
    if (key == kTokenPath) return token(asked, now);
    if (!asked.is_read()) return refused(405, "Method Not Allowed", "only GET and HEAD are known");
    const std::string given(asked.header("X-aws-ec2-metadata-token").value_or(""));
    const auto session = tokens_.find(given);
    if (session == tokens_.end() || session->second <= now.mono) {
      return refused(401, "Unauthorized",
                     given.empty() ? "the header 'X-aws-ec2-metadata-token' is missing"
                                   : "its token is none of ours, or has expired");
    }
    Answer answer = read(asked, key, now);
    answer.response.headers.emplace_back(kTtlHeader, seconds_left(session->second, now));
    return answer;
  }

 private:
  Answer token(const Asked& asked, const Moment& now) {
    if (asked.method != "PUT")
      return refused(405, "Method Not Allowed", "a token is asked for by PUT");
    if (asked.header("X-Forwarded-For")) {
      return refused(403, "Forbidden", "it came through a proxy: it has X-Forwarded-For");
    }
    const std::optional<std::int64_t> ttl =
        parse_number<std::int64_t>(asked.header(kTtlHeader).value_or(""));
    if (!ttl || *ttl < 1 || *ttl > kTtlMax) {
      return refused(400, "Bad Request",
                     fmt::format("{} must be from 1 to {}", kTtlHeader, kTtlMax));
    }
    std::erase_if(tokens_, [&](const auto& one) { return one.second <= now.mono; });
    const std::string seed =
        fmt::format("{} {}", ++tokens_made_, now.wall.time_since_epoch().count());
    std::string made = base64_encode(sha256(as_bytes(seed)).bytes, Base64::kUrl);
    const MonoTime until = now.mono + std::chrono::seconds(*ttl);
    tokens_.emplace(made, until);
    return {.response = {.status = 200,
                         .headers = {{"Content-Type", "text/plain"},
                                     {std::string(kTtlHeader), std::to_string(*ttl)}},
                         .body = std::move(made)}};
  }

  Answer read(const Asked& asked, const std::string& key, const Moment& now) const {
    if (key.empty()) return found("latest");
    if (key == kRole && !asked.is_folder) return found(role_keys(now));
    const auto leaf = values_.find(key);
    if (leaf != values_.end() && !asked.is_folder) return found(leaf->second);
    std::string listing;
    for (const std::string& name : names_in(values_, key + "/")) {
      listing += (listing.empty() ? "" : "\n") + name;
    }
    if (listing.empty()) {
      return {.response = {.status = 404,
                           .headers = {{"Content-Type", "text/html"}},
                           .body = xml_page(404, "Not Found")}};
    }
    return found(listing);
  }

  void announce(std::string_view action, const std::string& when) {
    set(kAction, canonical_json({{"action", action}, {"time", when}}));
    values_.erase(std::string(kTerminationTime));
    if (action == "terminate") set(kTerminationTime, when);
  }

  void schedule(const std::string& code, WallTime from) {
    // "21 Jan 2019 09:00:43 GMT": a date of HTTP without its day of the week.
    const auto shown = [](WallTime time) { return cloud::format_http_date(time).substr(5); };
    scheduled_.push_back({{"Code", code},
                          {"Description", "The machine is scheduled for maintenance"},
                          {"EventId", fmt::format("instance-event-{:017x}", ++events_made_)},
                          {"NotAfter", shown(from + std::chrono::hours(2))},
                          {"NotBefore", shown(from)},
                          {"State", "active"}});
    set(kScheduled, canonical_json(scheduled_));
  }

  static std::string role_keys(const Moment& now) {
    return pretty_json({{"AccessKeyId", "ASIASTANDINNOTAREALKEY"},
                        {"Code", "Success"},
                        {"Expiration", format_seconds(now.wall + kKeysLife)},
                        {"LastUpdated", format_seconds(now.wall)},
                        {"SecretAccessKey", "stand-in-not-a-real-secret"},
                        {"Token", "stand-in-not-a-real-session"},
                        {"Type", "AWS-HMAC"}});
  }

  static std::string seconds_left(MonoTime until, const Moment& now) {
    return std::to_string(
        std::chrono::duration_cast<std::chrono::seconds>(until - now.mono).count());
  }

  void set(std::string_view key, std::string value) {
    values_.insert_or_assign(std::string(key), std::move(value));
  }

  static Answer found(std::string body) {
    return {.response = {.status = 200,
                         .headers = {{"Content-Type", "text/plain"}},
                         .body = std::move(body)}};
  }
  static Answer refused(int status, std::string_view title, std::string why) {
    return refuse(status, std::move(why), {{"Content-Type", "text/html"}}, xml_page(status, title));
  }

  Values values_ = ec2_values();
  std::map<std::string, MonoTime> tokens_;  // until when
  int tokens_made_ = 0;
  Json scheduled_ = Json::array();
  int events_made_ = 0;
};

}  // namespace

std::unique_ptr<Service> make_ec2_stand_in() {
  return std::make_unique<Ec2StandIn>();
}

}  // namespace outlast::stand_in
