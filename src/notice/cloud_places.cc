#include "notice/cloud_places.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "cloud/url_encoding.h"
#include "job/place_facts.h"
#include "notice/azure_metadata.h"
#include "notice/ec2_metadata.h"
#include "notice/gce_metadata.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/http.h"

namespace outlast::notice {
namespace {

constexpr std::size_t kFactBytesMax = 512;
constexpr std::size_t kTagsMax = 64;
constexpr const char* kPodNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

// One line of what may stand in a record; "" for a page that somebody else has answered with.
std::string plain_fact(std::string_view text) {
  const std::string_view line = ascii_trimmed(text);
  const bool is_plain = line.size() <= kFactBytesMax && !line.starts_with('<') &&
                        std::none_of(line.begin(), line.end(), [](char c) {
                          return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
                        });
  return is_plain ? std::string(line) : "";
}

// What follows the last slash: Google names things by their whole path.
std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string region_of_zone(const std::string& zone) {
  const std::size_t dash = zone.rfind('-');
  return dash == std::string::npos ? "" : zone.substr(0, dash);
}

void add_tag(job::PlaceFacts& facts, std::string_view name, std::string_view value) {
  const std::string key = plain_fact(name);
  if (!key.empty() && facts.tags.size() < kTagsMax) facts.tags[key] = plain_fact(value);
}

// An answer, or nothing; what is missing because nobody answered is to be asked for again.
std::string fact_or_nothing(const Result<std::string>& answer, PlaceReading& reading) {
  if (answer) return plain_fact(*answer);
  if (answer.error().code() != ErrorCode::kNotFound) reading.is_complete = false;
  return "";
}

}  // namespace

PlaceReading read_gce_place(GceMetadata& service, const sys::CallContext& ctx) {
  PlaceReading reading;
  job::PlaceFacts& facts = reading.facts;
  const auto fact = [&](std::string_view key) {
    const Result<GceMetadata::Value> value = service.get(key, ctx);
    return fact_or_nothing(value ? Result<std::string>(value->text) : value.error(), reading);
  };
  facts.cloud = "gcp";
  facts.zone = last_part(fact("instance/zone"));
  facts.region = region_of_zone(facts.zone);
  facts.machine = last_part(fact("instance/machine-type"));
  facts.instance = fact("instance/id");
  facts.name = fact("instance/name");
  const std::string spot = ascii_lower(fact("instance/scheduling/preemptible"));
  if (spot == "true" || spot == "false") facts.spot = spot == "true";
  facts.account = fact("project/project-id");
  facts.identity = fact("instance/service-accounts/default/email");
  const Result<GceMetadata::Value> listed = service.get("instance/tags", ctx);
  const Result<Json> tags = parse_json(listed ? listed->text : "");
  if (tags && tags->is_array()) {
    for (const Json& tag : *tags) {
      if (tag.is_string()) add_tag(facts, tag.get<std::string>(), "");
    }
  }
  return reading;
}

PlaceReading read_ec2_place(Ec2Metadata& service, const sys::CallContext& ctx) {
  PlaceReading reading;
  job::PlaceFacts& facts = reading.facts;
  const auto answer = [&](std::string_view path) -> Result<std::string> {
    OUTLAST_TRY_ASSIGN(const sys::HttpResponse response, service.get(path, ctx));
    return response.body;
  };
  const auto fact = [&](std::string_view key) {
    return fact_or_nothing(answer(fmt::format("/latest/meta-data/{}", key)), reading);
  };
  facts.cloud = "aws";
  facts.region = fact("placement/region");
  facts.zone = fact("placement/availability-zone");
  facts.machine = fact("instance-type");
  facts.instance = fact("instance-id");
  const std::string life_cycle = fact("instance-life-cycle");
  if (!life_cycle.empty()) facts.spot = life_cycle == "spot";
  // Only the name of the role: what lies below it are its keys.
  facts.identity = fact("iam/security-credentials/");
  const Result<std::string> document = answer("/latest/dynamic/instance-identity/document");
  if (document) {
    if (const Result<Json> json = parse_json(*document)) {
      facts.account = plain_fact(json_string(*json, "accountId").value_or(""));
    }
  }
  const std::string names = answer("/latest/meta-data/tags/instance/").value_or("");
  for (std::size_t begin = 0; begin < names.size() && facts.tags.size() < kTagsMax;) {
    const std::size_t end = std::min(names.find('\n', begin), names.size());
    const std::string name = plain_fact(std::string_view(names).substr(begin, end - begin));
    begin = end + 1;
    if (name.empty()) continue;
    add_tag(facts, name, fact("tags/instance/" + cloud::percent_encode(name)));
  }
  const auto name = facts.tags.find("Name");
  if (name != facts.tags.end()) facts.name = name->second;
  return reading;
}

PlaceReading read_azure_place(AzureMetadata& service, const sys::CallContext& ctx) {
  PlaceReading reading;
  job::PlaceFacts& facts = reading.facts;
  facts.cloud = "azure";
  const Result<Json> compute = service.compute(ctx);
  reading.is_complete = compute.has_value();
  if (!compute) return reading;
  const auto fact = [&](std::string_view key) {
    return plain_fact(json_string(*compute, key).value_or(""));
  };
  facts.region = fact("location");
  facts.zone = fact("zone");
  facts.machine = fact("vmSize");
  facts.instance = fact("vmId");
  facts.name = fact("name");
  // It is "" for a machine that was never anything but regular.
  if (compute->contains("priority")) facts.spot = ascii_lower(fact("priority")) == "spot";
  facts.account = fact("subscriptionId");
  const auto tags = compute->find("tagsList");
  if (tags != compute->end() && tags->is_array()) {
    for (const Json& tag : *tags) {
      add_tag(facts, json_string(tag, "name").value_or(""), json_string(tag, "value").value_or(""));
    }
  }
  return reading;
}

std::optional<job::PlaceFacts> read_kubernetes_place(sys::Environment& environment,
                                                     sys::FileSystem& files) {
  const auto variable = [&](std::string_view name) {
    return plain_fact(environment.get(name).value_or(""));
  };
  if (variable("KUBERNETES_SERVICE_HOST").empty()) return std::nullopt;
  job::PlaceFacts facts = {.cloud = "kubernetes", .name = variable("POD_NAME")};
  if (facts.name.empty()) facts.name = variable("HOSTNAME");
  std::string pod_namespace = variable("POD_NAMESPACE");
  if (pod_namespace.empty()) {
    pod_namespace =
        plain_fact(sys::read_file(files, kPodNamespace, kFactBytesMax * 8).value_or(""));
  }
  if (!pod_namespace.empty()) facts.tags["kubernetes.namespace"] = pod_namespace;
  if (!facts.name.empty()) facts.tags["kubernetes.pod"] = facts.name;
  if (const std::string node = variable("NODE_NAME"); !node.empty()) {
    facts.tags["kubernetes.node"] = node;
  }
  return facts;
}

}  // namespace outlast::notice
