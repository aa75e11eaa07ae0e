#include "cloud/aws_key_answer.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
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
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::cloud {
namespace {

std::string optional_text(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? "" : found->get<std::string>();
}

// Keys go into headers: what could not stand there is not a key.
bool are_usable(const AwsKeys& keys) {
  return is_header_text(keys.access_key_id) && is_header_text(keys.secret_key.reveal()) &&
         (keys.session_token.reveal().empty() || is_header_text(keys.session_token.reveal()));
}

}  // namespace

Result<Fetched<AwsKeys>> parse_aws_keys(const IssuerCall& call, const sys::HttpResponse& answer,
                                        sys::Clock& clock) {
  OUTLAST_TRY_ASSIGN(const Json json, issuer_json(call, answer));
  const std::string code = optional_text(json, "Code");
  if (!code.empty() && code != "Success") {
    return issuer_refusal(call, {.status = 400, .body = canonical_json(Json{{"code", code}})}, {},
                          "look at the role that this machine was given");
  }
  OUTLAST_TRY_ASSIGN(std::string id, issuer_text(call, json, "AccessKeyId"));
  OUTLAST_TRY_ASSIGN(std::string secret, issuer_text(call, json, "SecretAccessKey"));
  Fetched<AwsKeys> keys = {.value = {.access_key_id = std::move(id),
                                     .secret_key = Secret(std::move(secret)),
                                     .session_token = Secret(optional_text(json, "Token"))}};
  if (!are_usable(keys.value)) {
    return Error(ErrorCode::kFailed, fmt::format("{} {}: the answer holds no usable keys",
                                                 call.method, url_for_people(call.url)));
  }
  const std::string expiration = optional_text(json, "Expiration");
  if (!expiration.empty()) {
    Result<Duration> lifetime = lifetime_until(expiration, answer.headers, clock);
    if (!lifetime) return std::move(lifetime).error().while_doing(url_for_people(call.url));
    keys.lifetime = *lifetime;
  }
  return keys;
}

Result<Fetched<AwsKeys>> parse_process_keys(std::string_view text, std::string_view tool,
                                            sys::Clock& clock) {
  const Result<Json> json = parse_json(text);
  if (!json || !json->is_object()) {
    return Error(ErrorCode::kFailed,
                 fmt::format("'{}' did not print a JSON object with credentials", tool));
  }
  const auto version = json->find("Version");
  if (version == json->end() || *version != 1) {
    return Error(ErrorCode::kFailed,
                 fmt::format("'{}' printed credentials of another Version than 1", tool));
  }
  Fetched<AwsKeys> keys = {
      .value = {.access_key_id = optional_text(*json, "AccessKeyId"),
                .secret_key = Secret(optional_text(*json, "SecretAccessKey")),
                .session_token = Secret(optional_text(*json, "SessionToken"))}};
  if (!are_usable(keys.value)) {
    return Error(ErrorCode::kFailed,
                 fmt::format("'{}' printed no AccessKeyId and SecretAccessKey", tool));
  }
  const std::string expiration = optional_text(*json, "Expiration");
  if (!expiration.empty()) {
    Result<Duration> lifetime = lifetime_until(expiration, {}, clock);
    if (!lifetime) return std::move(lifetime).error().while_doing(fmt::format("'{}'", tool));
    keys.lifetime = *lifetime;
  }
  return keys;
}

}  // namespace outlast::cloud
