#include "cloud/azure_managed_identity.h"

#include <fmt/core.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credentials.h"
#include "cloud/url_encoding.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr Duration kAzureAbsentFor = std::chrono::minutes(5);
constexpr Duration kAzureConnectTimeout = std::chrono::seconds(1);

}  // namespace

AzureManagedIdentity::AzureManagedIdentity(sys::World& world) : world_(world) {}

std::string AzureManagedIdentity::query(std::string_view api_version) {
  Query query = {{"api-version", std::string(api_version)},
                 {"resource", std::string(kAzureStorageResource)}};
  const std::string client = world_.environment.get("AZURE_CLIENT_ID").value_or("");
  if (!client.empty()) query.emplace_back("client_id", client);
  return encode_query(query);
}

Result<std::optional<Fetched<BearerToken>>> AzureManagedIdentity::fetch(
    const sys::CallContext& ctx) {
  const std::string endpoint = world_.environment.get("IDENTITY_ENDPOINT").value_or("");
  const bool in_app =
      !endpoint.empty() && !world_.environment.get("IDENTITY_HEADER").value_or("").empty();
  return in_app ? fetch_from_app(endpoint, ctx) : fetch_from_machine(ctx);
}

Result<std::optional<Fetched<BearerToken>>> AzureManagedIdentity::fetch_from_app(
    const std::string& endpoint, const sys::CallContext& ctx) {
  const Secret<std::string> header(world_.environment.get("IDENTITY_HEADER").value_or(""));
  if (url_host(endpoint).empty() || !is_header_text(endpoint) || !is_header_text(header.reveal())) {
    return Error(ErrorCode::kInvalidArgument,
                 "IDENTITY_ENDPOINT must be a URL, and IDENTITY_HEADER one line");
  }
  const IssuerCall call = {.url = fmt::format("{}?{}", endpoint, query("2019-08-01")),
                           .headers = {{"X-IDENTITY-HEADER", header.reveal()}},
                           .direct = true};
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer,
                     ask_issuer(world_.http, world_.clock, call, ctx)
                         .while_doing("ask for the managed identity of this app"));
  if (answer.status != 200) {
    return issuer_refusal(call, answer, {header.reveal()},
                          "give this app a managed identity (with several, set AZURE_CLIENT_ID)");
  }
  OUTLAST_TRY_ASSIGN(Fetched<BearerToken> token, read_azure_token(call, answer, world_.clock));
  token.origin = "the managed identity of this app";
  return std::optional(std::move(token));
}

Result<std::optional<Fetched<BearerToken>>> AzureManagedIdentity::fetch_from_machine(
    const sys::CallContext& ctx) {
  if (world_.clock.mono_now() < absent_until_) return std::nullopt;
  std::string host = world_.environment.get("AZURE_POD_IDENTITY_AUTHORITY_HOST").value_or("");
  while (host.ends_with('/')) host.pop_back();
  if (host.empty()) host = "http://169.254.169.254";
  const IssuerCall call = {
      .url = fmt::format("{}/metadata/identity/oauth2/token?{}", host, query("2018-02-01")),
      .headers = {{"Metadata", "true"}},
      .direct = true,
      .connect_timeout = kAzureConnectTimeout,
      .also_repeat = {404, 410}};  // while it is being updated
  Result<sys::HttpResponse> answer = ask_issuer(world_.http, world_.clock, call, ctx);
  if (!answer && answer.error().code() != ErrorCode::kUnavailable) {
    return std::move(answer).error().while_doing("ask for the managed identity of this machine");
  }
  if (answer && answer->status == 200) {
    OUTLAST_TRY_ASSIGN(Fetched<BearerToken> token, read_azure_token(call, *answer, world_.clock));
    token.origin = "the managed identity of this machine";
    return std::optional(std::move(token));
  }
  if (answer && (answer->status == 429 || answer->status >= 500)) {
    return issuer_refusal(call, *answer, {}, "try again");
  }
  // Nobody, another cloud's service, or a machine without an identity.
  absent_until_ = saturating_add(world_.clock.mono_now(), kAzureAbsentFor);
  return std::nullopt;
}

Result<Fetched<BearerToken>> read_azure_token(const IssuerCall& call,
                                              const sys::HttpResponse& answer, sys::Clock& clock) {
  OUTLAST_TRY_ASSIGN(const Json json, issuer_json(call, answer));
  OUTLAST_TRY_ASSIGN(std::string token, issuer_text(call, json, "access_token"));
  if (!is_header_text(token)) {
    return Error(ErrorCode::kFailed, fmt::format("{} {}: the answer holds no usable token",
                                                 call.method, url_for_people(call.url)));
  }
  Result<Duration> lifetime = issuer_seconds(call, json, "expires_in");
  if (!json.contains("expires_in")) {
    OUTLAST_TRY_ASSIGN(const Duration since_1970, issuer_seconds(call, json, "expires_on"));
    lifetime = lifetime_until(WallTime(since_1970), answer.headers, clock)
                   .while_doing(url_for_people(call.url));
  }
  if (!lifetime) return std::move(lifetime).error();
  return Fetched<BearerToken>{.value = {.token = Secret(std::move(token))}, .lifetime = *lifetime};
}

}  // namespace outlast::cloud
