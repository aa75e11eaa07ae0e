#include "cloud/aws_sts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/aws_profile.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credentials.h"
#include "cloud/sigv4.h"
#include "cloud/url_encoding.h"
#include "cloud/xml.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_ops.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr std::uint64_t kWebIdentityBytesMax = 64U << 10U;
constexpr std::size_t kSessionNameBytesMax = 64;

struct StsEndpoint {
  std::string url = {};  // with the '/' at its end
  std::string region = {};
};

Result<StsEndpoint> find_sts_endpoint(sys::World& world, const AwsProfile* profile) {
  StsEndpoint endpoint;
  for (const std::string_view name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (endpoint.region.empty()) endpoint.region = world.environment.get(name).value_or("");
  }
  if (endpoint.region.empty() && profile != nullptr) endpoint.region = profile->get("region");
  OUTLAST_TRY_ASSIGN(endpoint.url, find_aws_endpoint(world.environment, world.files, "sts"));
  if (!endpoint.url.empty()) {
    OUTLAST_TRY(check_issuer_url(endpoint.url, "the endpoint URL for STS"));
  } else if (endpoint.region.empty()) {
    endpoint.url = "https://sts.amazonaws.com";
  } else {
    endpoint.url = fmt::format("https://sts.{}.amazonaws.com{}", endpoint.region,
                               endpoint.region.starts_with("cn-") ? ".cn" : "");
    OUTLAST_TRY(check_issuer_url(endpoint.url, "the region in the URL of STS"));
  }
  endpoint.url += '/';
  if (endpoint.region.empty()) endpoint.region = "us-east-1";
  return endpoint;
}

bool is_session_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("+=,.@_-").find(c) != std::string_view::npos;
}

// The machine's name shows in the audit log who it was.
std::string session_name_of(sys::World& world, const StsRole& role) {
  if (!role.session_name.empty()) return role.session_name;
  std::string name = fmt::format("outlast-{}", world.environment.host_name());
  std::replace_if(name.begin(), name.end(), [](char c) { return !is_session_character(c); }, '-');
  return name.substr(0, kSessionNameBytesMax);
}

Result<Fetched<AwsKeys>> read_sts_answer(const IssuerCall& call, const sys::HttpResponse& answer,
                                         std::string_view action, sys::Clock& clock) {
  const auto trouble = [&](std::string_view what) {
    return Error(ErrorCode::kFailed,
                 fmt::format("{} {}: {}", call.method, url_for_people(call.url), what));
  };
  const Result<XmlElement> xml = parse_xml(answer.body);
  if (!xml) {
    return trouble(
        "the answer is not XML; a proxy or a login page may stand in between: check the "
        "address and the proxy settings");
  }
  const XmlElement* result = xml->child(fmt::format("{}Result", action));
  const XmlElement* credentials = result == nullptr ? nullptr : result->child("Credentials");
  if (credentials == nullptr) return trouble("the answer holds no credentials");
  Fetched<AwsKeys> keys = {
      .value = {.access_key_id = std::string(credentials->child_text("AccessKeyId")),
                .secret_key = Secret(std::string(credentials->child_text("SecretAccessKey"))),
                .session_token = Secret(std::string(credentials->child_text("SessionToken")))}};
  if (!is_header_text(keys.value.access_key_id) ||
      !is_header_text(keys.value.secret_key.reveal()) ||
      !is_header_text(keys.value.session_token.reveal())) {
    return trouble("the answer holds no usable keys");
  }
  Result<Duration> lifetime =
      lifetime_until(credentials->child_text("Expiration"), answer.headers, clock);
  if (!lifetime) return std::move(lifetime).error().while_doing(url_for_people(call.url));
  keys.lifetime = *lifetime;
  return keys;
}

Query sts_form(std::string_view action, sys::World& world, const StsRole& role) {
  Query form = {{"Action", std::string(action)},
                {"Version", "2011-06-15"},
                {"RoleArn", role.arn},
                {"RoleSessionName", session_name_of(world, role)},
                {"DurationSeconds", fmt::format("{}", role.duration_seconds)}};
  if (!role.external_id.empty()) form.emplace_back("ExternalId", role.external_id);
  return form;
}

// As the Host header says it.
std::string host_with_port(std::string_view url) {
  const bool https = url.starts_with("https://");
  std::string_view authority = url.substr(url.find("://") + 3);
  authority = authority.substr(0, authority.find('/'));
  const std::string_view usual = https ? ":443" : ":80";
  if (authority.ends_with(usual)) authority.remove_suffix(usual.size());
  return std::string(authority);
}

}  // namespace

Result<Fetched<AwsKeys>> assume_role_with_web_identity(sys::World& world, const StsRole& role,
                                                       const std::string& token_file,
                                                       const AwsProfile* profile,
                                                       const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const StsEndpoint endpoint, find_sts_endpoint(world, profile));
  Result<std::string> text = sys::read_file(world.files, token_file, kWebIdentityBytesMax);
  if (!text) return std::move(text).error().while_doing("read the web identity token");
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  const Secret<std::string> token(*std::move(text));

  Query form = sts_form("AssumeRoleWithWebIdentity", world, role);
  form.emplace_back("WebIdentityToken", token.reveal());
  IssuerCall call = form_call(endpoint.url, form);
  call.headers.back().second = "text/xml";
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer,
                     ask_issuer(world.http, world.clock, call, ctx)
                         .while_doing(fmt::format("assume the role {}", role.arn)));
  if (answer.status != 200) {
    return issuer_refusal(
        call, answer, {token.reveal()},
        fmt::format("check that {} trusts the identity in {}", role.arn, token_file));
  }
  OUTLAST_TRY_ASSIGN(Fetched<AwsKeys> keys,
                     read_sts_answer(call, answer, "AssumeRoleWithWebIdentity", world.clock));
  keys.origin = fmt::format("role {} by the web identity in {}", role.arn, token_file);
  return keys;
}

Result<Fetched<AwsKeys>> assume_role(sys::World& world, const StsRole& role, const AwsKeys& keys,
                                     const AwsProfile* profile, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const StsEndpoint endpoint, find_sts_endpoint(world, profile));
  IssuerCall call = form_call(endpoint.url, sts_form("AssumeRole", world, role));
  call.headers.back().second = "text/xml";

  const WallTime now = world.clock.wall_now();
  const std::string payload_hash = sha256(as_bytes(call.body.reveal())).hex();
  const std::string host = host_with_port(call.url);
  const std::size_t path = call.url.find('/', call.url.find("://") + 3);
  const sys::HttpHeaders signature =
      sign_v4({.method = call.method,
               .host = host,
               .path = std::string_view(call.url).substr(path),
               .headers = &call.headers,
               .payload_hash = payload_hash},
              derive_signing_key(keys, {.region = endpoint.region, .service = "sts"}, now), now);
  call.headers.insert(call.headers.end(), signature.begin(), signature.end());

  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer,
                     ask_issuer(world.http, world.clock, call, ctx)
                         .while_doing(fmt::format("assume the role {}", role.arn)));
  if (answer.status != 200) {
    return issuer_refusal(call, answer, {keys.secret_key.reveal(), keys.session_token.reveal()},
                          fmt::format("check that {} trusts {}", role.arn, keys.access_key_id));
  }
  OUTLAST_TRY_ASSIGN(Fetched<AwsKeys> assumed,
                     read_sts_answer(call, answer, "AssumeRole", world.clock));
  assumed.origin = fmt::format("role {}", role.arn);
  return assumed;
}

}  // namespace outlast::cloud
