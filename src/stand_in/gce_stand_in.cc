#include "stand_in/gce_stand_in.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
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
#include "stand_in/happening.h"
#include "stand_in/service.h"
#include "sys/http.h"

namespace outlast::stand_in {
namespace {

constexpr std::string_view kEmail = "trainer@outlast-stand-in.iam.gserviceaccount.com";
constexpr std::string_view kScopes = "https://www.googleapis.com/auth/cloud-platform";
constexpr std::string_view kToken =
    R"({"access_token":"ya29.stand-in-not-a-real-token","expires_in":3599,"token_type":"Bearer"})";
constexpr std::string_view kTokenKey = "instance/service-accounts/default/token";
constexpr std::size_t kEtagDigits = 16;

Values gce_values() {
  return {{"instance/attributes/outlast-stand-in", "true"},
          {"instance/hostname", "stand-in-1.us-central1-a.c.outlast-stand-in.internal"},
          {"instance/id", "4711000000000000001"},
          {"instance/image", "projects/debian-cloud/global/images/debian-12"},
          {"instance/machine-type", "projects/123456789012/machineTypes/n2-standard-8"},
          {"instance/maintenance-event", "NONE"},
          {"instance/name", "stand-in-1"},
          {"instance/preempted", "FALSE"},
          {"instance/scheduling/automatic-restart", "FALSE"},
          {"instance/scheduling/on-host-maintenance", "TERMINATE"},
          {"instance/scheduling/preemptible", "TRUE"},
          {"instance/service-accounts/default/aliases", "default"},
          {"instance/service-accounts/default/email", std::string(kEmail)},
          {"instance/service-accounts/default/scopes", std::string(kScopes)},
          {std::string(kTokenKey), std::string(kToken)},
          {"instance/tags", R"(["spot","stand-in"])"},
          {"instance/zone", "projects/123456789012/zones/us-central1-a"},
          {"project/attributes/team", "stand-in"},
          {"project/numeric-project-id", "123456789012"},
          {"project/project-id", "outlast-stand-in"}};
}

// "on-host-maintenance" as JSON has it: "onHostMaintenance".
std::string camel_case(std::string_view name) {
  std::string text;
  bool up = false;
  for (const char c : name) {
    if (c != '-') text += up && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    up = c == '-';
  }
  return text;
}

Json leaf_json(std::string_view key, const std::string& text) {
  if (key == "instance/tags") return parse_json(text).value_or(Json());
  if (key.ends_with("/scopes") || key.ends_with("/aliases")) return Json::array({text});
  if (key == "instance/id" || key == "project/numeric-project-id") {
    return parse_number<std::uint64_t>(text).value_or(0);
  }
  return text;
}

std::string page(int status, std::string_view why) {
  return fmt::format("<!DOCTYPE html>\n<html lang=en><title>Error {}</title>\n<p>{}</p></html>\n",
                     status, why);
}

class GceStandIn : public Service {
 public:
  std::string_view cloud() const override { return "gce"; }
  sys::HttpHeaders signature() const override { return {{"Metadata-Flavor", "Google"}}; }

  std::vector<std::pair<std::string, std::string>> environment(
      const std::string& url) const override {
    const std::string host = url.substr(url.find("://") + 3);
    return {{"GCE_METADATA_HOST", host}, {"GCE_METADATA_IP", host}};
  }

  void happen(const Happening& happening, const Moment&) override {
    if (happening.word == "preempt") values_["instance/preempted"] = "TRUE";
    if (happening.word == "junk") values_["instance/preempted"] = "PERHAPS";
    if (happening.word == "maintenance") values_["instance/maintenance-event"] = happening.choice;
    if (happening.word == "withdraw") {
      values_["instance/preempted"] = "FALSE";
      values_["instance/maintenance-event"] = "NONE";
    }
  }

  Answer answer(Asked& asked, const Moment&) override {
    if (asked.header("X-Forwarded-For")) {
      return refused(403, "it came through a proxy: it has X-Forwarded-For");
    }
    // Whoever only wants to know whose service this is may ask without it.
    if (asked.parts.empty() && asked.is_read()) return found("computeMetadata/\n");
    if (asked.header("Metadata-Flavor") != "Google") {
      return refused(403, "the header 'Metadata-Flavor: Google' is missing");
    }
    if (!asked.is_read()) return refused(405, "only GET and HEAD are known here");
    const std::string alt = asked.parameter("alt");
    if (!alt.empty() && alt != "json" && alt != "text") {
      return refused(400, "alt is json or text");
    }
    if (asked.parts.size() < 2 || asked.parts[0] != "computeMetadata" || asked.parts[1] != "v1") {
      return absent();
    }
    return waiting(asked, read(asked, alt));
  }

 private:
  Answer read(const Asked& asked, const std::string& alt) const {
    const std::string key = asked.below(2);
    const bool recursive = asked.parameter("recursive") == "true";
    if (const auto leaf = values_.find(key); leaf != values_.end() && !asked.is_folder) {
      const bool as_json = alt == "json" || (alt.empty() && (recursive || key == "instance/tags"));
      if (key == kTokenKey) return found(leaf->second, "application/json");
      return as_json ? found(canonical_json(leaf_json(key, leaf->second)), "application/json")
                     : found(leaf->second);
    }
    const std::string folder = key.empty() ? "" : key + "/";
    const std::vector<std::string> names = names_in(values_, folder);
    if (names.empty()) return absent();
    if (recursive) {
      return alt == "text" ? found(tree_text(folder))
                           : found(canonical_json(tree_json(folder)), "application/json");
    }
    if (!asked.is_folder) {
      return {.response = {.status = 301, .headers = {{"Location", asked.path + "/"}}}};
    }
    std::string listing;
    for (const std::string& name : names) listing += name + "\n";
    return found(listing);
  }

  // An answer that is still what the asker knows is held, if he wants to wait.
  Answer waiting(Asked& asked, Answer answer) const {
    if (answer.response.status != 200 || asked.parameter("wait_for_change") != "true") {
      return answer;
    }
    const std::string timeout = asked.parameter("timeout_sec");
    const std::optional<std::uint32_t> longest = parse_number<std::uint32_t>(timeout);
    if (!timeout.empty() && !longest) {
      return refused(400, "timeout_sec is a number of seconds");
    }
    const std::string etag(sys::find_header(answer.response.headers, "ETag").value_or(""));
    if (!asked.known) {
      asked.known = asked.query.contains("last_etag") ? asked.parameter("last_etag") : etag;
    }
    if (asked.known == etag) {
      answer.hold = longest ? Duration(std::chrono::seconds(*longest)) : Duration::max();
    }
    return answer;
  }

  Json tree_json(const std::string& folder) const {
    Json tree = Json::object();
    const bool named_by_people = folder.ends_with("attributes/");
    for (const std::string& name : names_in(values_, folder)) {
      const bool is_folder = name.ends_with('/');
      const std::string bare = is_folder ? name.substr(0, name.size() - 1) : name;
      const std::string key = folder + bare;
      if (key == kTokenKey) continue;  // a secret is given only to who asks for it
      tree[named_by_people ? bare : camel_case(bare)] =
          is_folder ? tree_json(key + "/") : leaf_json(key, values_.at(key));
    }
    return tree;
  }

  std::string tree_text(const std::string& folder) const {
    std::string text;
    for (const auto& [key, value] : values_) {
      if (key.starts_with(folder) && key != kTokenKey) {
        text += fmt::format("{} {}\n", key.substr(folder.size()), value);
      }
    }
    return text;
  }

  static Answer found(std::string body, std::string type = "application/text") {
    return with_etag({.response = {.status = 200,
                                   .headers = {{"Content-Type", std::move(type)}},
                                   .body = std::move(body)}});
  }
  static Answer absent() {
    return with_etag({.response = {.status = 404,
                                   .headers = {{"Content-Type", "text/html; charset=UTF-8"}},
                                   .body = page(404, "There is no such value.")}});
  }
  static Answer refused(int status, std::string why) {
    std::string body = page(status, why);
    return with_etag(refuse(status, std::move(why), {{"Content-Type", "text/html; charset=UTF-8"}},
                            std::move(body)));
  }
  static Answer with_etag(Answer answer) {
    answer.response.headers.emplace_back(
        "ETag", sha256(as_bytes(answer.response.body)).hex().substr(0, kEtagDigits));
    return answer;
  }

  Values values_ = gce_values();
};

}  // namespace

std::unique_ptr<Service> make_gce_stand_in() {
  return std::make_unique<GceStandIn>();
}

}  // namespace outlast::stand_in
