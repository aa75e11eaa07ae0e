#include "cloud/gcp_metadata_credentials.h"

#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credentials.h"
#include "cloud/gcp_tokens.h"
#include "cloud/url_encoding.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr Duration kGceAbsentFor = std::chrono::minutes(5);
constexpr Duration kGceConnectTimeout = std::chrono::seconds(1);

std::string gce_endpoint(sys::Environment& environment) {
  for (const std::string_view name : {"GCE_METADATA_HOST", "GCE_METADATA_IP", "GCE_METADATA_URL"}) {
    std::string host = environment.get(name).value_or("");
    if (host.empty()) continue;
    while (host.ends_with('/')) host.pop_back();
    constexpr std::string_view kPath = "/computeMetadata/v1";
    if (host.ends_with(kPath)) host.resize(host.size() - kPath.size());
    return host.find("://") == std::string::npos ? "http://" + host : host;
  }
  // By its number: off Google's machines its name costs a look-up that may hang.
  return "http://169.254.169.254";
}

}  // namespace

GcpMetadataCredentials::GcpMetadataCredentials(sys::World& world)
    : world_(world), endpoint_(gce_endpoint(world.environment)) {}

Result<std::optional<Fetched<BearerToken>>> GcpMetadataCredentials::fetch(
    const std::string& scope, const sys::CallContext& ctx) {
  if (world_.environment.get("NO_GCE_CHECK").value_or("") == "true") return std::nullopt;
  if (world_.clock.mono_now() < absent_until_) return std::nullopt;
  const IssuerCall call = {
      .url = fmt::format("{}/computeMetadata/v1/instance/service-accounts/default/token?{}",
                         endpoint_, encode_query({{"scopes", scope}})),
      .headers = {{"Metadata-Flavor", "Google"}},
      .direct = true,
      .connect_timeout = kGceConnectTimeout};
  Result<sys::HttpResponse> answer = ask_issuer(world_.http, world_.clock, call, ctx);
  if (!answer && answer.error().code() != ErrorCode::kUnavailable) {
    return std::move(answer).error().while_doing("ask for the token of this machine");
  }
  if (!answer || sys::find_header(answer->headers, "Metadata-Flavor") != "Google") {
    absent_until_ = saturating_add(world_.clock.mono_now(), kGceAbsentFor);
    return std::nullopt;
  }
  OUTLAST_TRY_ASSIGN(
      Fetched<BearerToken> token,
      read_gcp_token(call, *answer, {},
                     "give this machine a service account with access to the bucket"));
  token.origin = "the service account of this machine";
  return std::optional(std::move(token));
}

}  // namespace outlast::cloud
