#include "notice/azure_metadata.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/metadata_service.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

constexpr Duration kAzurePatience = std::chrono::seconds(2);
constexpr Duration kStartPatience = std::chrono::seconds(5);

std::string azure_endpoint(sys::Environment& environment) {
  const std::string url = endpoint_variable(environment, {"OUTLAST_AZURE_METADATA_ENDPOINT"});
  return url.empty() ? "http://169.254.169.254" : url;
}

}  // namespace

AzureMetadata::AzureMetadata(sys::World& world)
    : http_(world.http), clock_(world.clock), endpoint_(azure_endpoint(world.environment)) {}

// DurationInSeconds came with this version; Preempt is older.
std::string AzureMetadata::events_url() const {
  return endpoint_ + "/metadata/scheduledevents?api-version=2020-07-01";
}

Result<sys::HttpResponse> AzureMetadata::events(Duration patience, const sys::CallContext& ctx) {
  const MetadataCall call = {
      .url = events_url(), .headers = {{"Metadata", "true"}}, .patience = patience};
  OUTLAST_TRY_ASSIGN(sys::HttpResponse answer, ask_metadata(http_, clock_, call, ctx));
  if (answer.status != 200) return metadata_refusal(call, answer);
  return answer;
}

Result<void> AzureMetadata::start_event(std::string_view id, const sys::CallContext& ctx) {
  const Json request = {{"StartRequests", Json::array({{{"EventId", id}}})}};
  const MetadataCall call = {
      .method = "POST",
      .url = events_url(),
      .headers = {{"Metadata", "true"}, {"Content-Type", "application/json"}},
      .body = canonical_json(request),
      .patience = kStartPatience};
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer, ask_metadata(http_, clock_, call, ctx));
  if (answer.status != 200) return metadata_refusal(call, answer);
  return {};
}

Result<Json> AzureMetadata::compute(const sys::CallContext& ctx) {
  const MetadataCall call = {.url = endpoint_ + "/metadata/instance/compute?api-version=2021-02-01",
                             .headers = {{"Metadata", "true"}},
                             .patience = kAzurePatience};
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer, ask_metadata(http_, clock_, call, ctx));
  if (answer.status != 200) return metadata_refusal(call, answer);
  Result<Json> json = parse_json(answer.body);
  const bool is_machine = json && (json_string(*json, "vmId") || json_string(*json, "name"));
  if (!is_machine) return metadata_nonsense(call, "the description of an Azure machine");
  return json;
}

bool AzureMetadata::is_here(const sys::CallContext& ctx) {
  return compute(ctx).has_value();
}

}  // namespace outlast::notice
