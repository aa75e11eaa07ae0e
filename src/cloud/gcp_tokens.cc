#include "cloud/gcp_tokens.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/rsa.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credentials.h"
#include "cloud/jwt.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr std::string_view kGoogleTokenUrl = "https://oauth2.googleapis.com/token";
constexpr std::int64_t kAssertionSeconds = 3600;

// The member as text, or `otherwise`.
std::string gcp_member_or(const Json& object, std::string_view key, std::string_view otherwise) {
  const auto found = object.find(key);
  return std::string(found == object.end() || !found->is_string()
                         ? otherwise
                         : std::string_view(found->get_ref<const std::string&>()));
}

Result<Fetched<BearerToken>> service_account_token(sys::World& world, const Json& credentials,
                                                   const GcpTokenRequest& request,
                                                   const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const GcpAccountKey account, read_gcp_account_key(credentials, request.file));
  const std::string token_uri = gcp_member_or(credentials, "token_uri", kGoogleTokenUrl);
  OUTLAST_TRY(check_issuer_url(token_uri, fmt::format("'token_uri' in {}", request.file)));
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(world.clock.wall_now().time_since_epoch())
          .count();
  OUTLAST_TRY_ASSIGN(const Secret<std::string> assertion,
                     make_jwt({{"iss", account.email},
                               {"scope", request.scope},
                               {"aud", token_uri},
                               {"iat", now},
                               {"exp", now + kAssertionSeconds}},
                              account.key_id, account.key));
  const IssuerCall call =
      form_call(token_uri, {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                            {"assertion", assertion.reveal()}});
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer,
                     ask_issuer(world.http, world.clock, call, ctx));
  OUTLAST_TRY_ASSIGN(
      Fetched<BearerToken> token,
      read_gcp_token(call, answer, {assertion.reveal()},
                     fmt::format("check that the key in {} still exists and that this machine's "
                                 "clock is right",
                                 request.file)));
  token.origin = fmt::format("service account {} in {}", account.email, request.file);
  return token;
}

Result<Fetched<BearerToken>> user_token(sys::World& world, const Json& credentials,
                                        const GcpTokenRequest& request,
                                        const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string client_id,
                     gcp_member(credentials, "client_id", request.file));
  OUTLAST_TRY_ASSIGN(std::string text, gcp_member(credentials, "client_secret", request.file));
  const Secret<std::string> client_secret(std::move(text));
  OUTLAST_TRY_ASSIGN(text, gcp_member(credentials, "refresh_token", request.file));
  const Secret<std::string> refresh_token(std::move(text));
  const std::string token_uri = gcp_member_or(credentials, "token_uri", kGoogleTokenUrl);
  OUTLAST_TRY(check_issuer_url(token_uri, fmt::format("'token_uri' in {}", request.file)));
  const IssuerCall call = form_call(token_uri, {{"grant_type", "refresh_token"},
                                                {"client_id", client_id},
                                                {"client_secret", client_secret.reveal()},
                                                {"refresh_token", refresh_token.reveal()}});
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer,
                     ask_issuer(world.http, world.clock, call, ctx));
  OUTLAST_TRY_ASSIGN(Fetched<BearerToken> token,
                     read_gcp_token(call, answer, {client_secret.reveal(), refresh_token.reveal()},
                                    "log in again with 'gcloud auth application-default login'"));
  token.origin = fmt::format("the login in {}", request.file);
  return token;
}

Result<Fetched<BearerToken>> impersonated_token(sys::World& world, const Json& credentials,
                                                const GcpTokenRequest& request,
                                                const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string url,
                     gcp_member(credentials, "service_account_impersonation_url", request.file));
  const auto source = credentials.find("source_credentials");
  const std::string source_type =
      source != credentials.end() && source->is_object() ? gcp_member_or(*source, "type", "") : "";
  // Nothing deeper: a file cannot make us recurse.
  if (source_type.empty() || source_type == "impersonated_service_account") {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} has no usable 'source_credentials': make it anew with 'gcloud auth "
                    "application-default login --impersonate-service-account=…'",
                    request.file));
  }
  OUTLAST_TRY_ASSIGN(
      const Fetched<BearerToken> source_token,
      fetch_gcp_token(
          world, *source,
          {.file = request.file, .scope = "https://www.googleapis.com/auth/cloud-platform"}, ctx));
  const auto delegates = credentials.find("delegates");
  return impersonate_gcp_account(world, url, source_token.value,
                                 delegates == credentials.end() ? Json() : *delegates, request,
                                 ctx);
}

}  // namespace

Result<std::string> gcp_member(const Json& object, std::string_view key, const std::string& file) {
  std::string text = object.is_object() ? gcp_member_or(object, key, "") : "";
  if (!text.empty()) return text;
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("{} has no '{}': it is not a complete Google credentials file", file, key));
}

Result<Fetched<BearerToken>> read_gcp_token(const IssuerCall& call, const sys::HttpResponse& answer,
                                            std::initializer_list<std::string_view> secrets,
                                            std::string_view advice) {
  if (answer.status != 200) return issuer_refusal(call, answer, secrets, advice);
  OUTLAST_TRY_ASSIGN(const Json json, issuer_json(call, answer));
  OUTLAST_TRY_ASSIGN(std::string token, issuer_text(call, json, "access_token"));
  OUTLAST_TRY_ASSIGN(const Duration lifetime, issuer_seconds(call, json, "expires_in"));
  if (!is_header_text(token)) {
    return Error(ErrorCode::kFailed, fmt::format("{} {}: the answer holds no usable token",
                                                 call.method, url_for_people(call.url)));
  }
  return Fetched<BearerToken>{.value = {.token = Secret(std::move(token))}, .lifetime = lifetime};
}

Result<GcpAccountKey> read_gcp_account_key(const Json& credentials, const std::string& file) {
  OUTLAST_TRY_ASSIGN(std::string email, gcp_member(credentials, "client_email", file));
  OUTLAST_TRY_ASSIGN(std::string text, gcp_member(credentials, "private_key", file));
  const Secret<std::string> pem(std::move(text));
  OUTLAST_TRY_ASSIGN(RsaPrivateKey key, RsaPrivateKey::from_pem(pem.reveal()).while_doing(file));
  return GcpAccountKey{.email = std::move(email),
                       .key_id = gcp_member_or(credentials, "private_key_id", ""),
                       .key = std::move(key)};
}

Result<Fetched<BearerToken>> impersonate_gcp_account(sys::World& world, const std::string& url,
                                                     const BearerToken& source,
                                                     const Json& delegates,
                                                     const GcpTokenRequest& request,
                                                     const sys::CallContext& ctx) {
  OUTLAST_TRY(check_issuer_url(
      url, fmt::format("'service_account_impersonation_url' in {}", request.file)));
  Json body = {{"scope", {request.scope}}, {"lifetime", "3600s"}};
  if (delegates.is_array() && !delegates.empty()) body["delegates"] = delegates;
  const IssuerCall call = {
      .method = "POST",
      .url = url,
      .headers = {{"Content-Type", "application/json"},
                  {"Authorization", fmt::format("Bearer {}", source.token.reveal())}},
      .body = Secret(canonical_json(body))};
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer,
                     ask_issuer(world.http, world.clock, call, ctx));
  if (answer.status != 200) {
    return issuer_refusal(
        call, answer, {source.token.reveal()},
        fmt::format("check that the identity in {} has the role 'Service Account Token Creator'",
                    request.file));
  }
  OUTLAST_TRY_ASSIGN(const Json json, issuer_json(call, answer));
  OUTLAST_TRY_ASSIGN(std::string token, issuer_text(call, json, "accessToken"));
  OUTLAST_TRY_ASSIGN(const std::string expiry, issuer_text(call, json, "expireTime"));
  OUTLAST_TRY_ASSIGN(
      const Duration lifetime,
      lifetime_until(expiry, answer.headers, world.clock).while_doing(url_for_people(call.url)));
  if (!is_header_text(token)) {
    return Error(ErrorCode::kFailed, fmt::format("{} {}: the answer holds no usable token",
                                                 call.method, url_for_people(call.url)));
  }
  return Fetched<BearerToken>{
      .value = {.token = Secret(std::move(token))},
      .lifetime = lifetime,
      .origin = fmt::format("the account impersonated by {}", request.file)};
}

Result<Fetched<BearerToken>> fetch_gcp_token(sys::World& world, const Json& credentials,
                                             const GcpTokenRequest& request,
                                             const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string type, gcp_member(credentials, "type", request.file));
  if (type == "service_account") return service_account_token(world, credentials, request, ctx);
  if (type == "authorized_user") return user_token(world, credentials, request, ctx);
  if (type == "external_account") return fetch_gcp_external_token(world, credentials, request, ctx);
  if (type == "impersonated_service_account") {
    return impersonated_token(world, credentials, request, ctx);
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} is of a type that outlast does not know: use the key file of a "
                           "service account, or 'gcloud auth application-default login'",
                           request.file));
}

}  // namespace outlast::cloud
