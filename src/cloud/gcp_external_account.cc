#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credentials.h"
#include "cloud/gcp_tokens.h"
#include "cloud/url_encoding.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr std::uint64_t kSubjectTokenBytesMax = 256U << 10U;
constexpr std::string_view kCloudPlatform = "https://www.googleapis.com/auth/cloud-platform";

Error bad_external(const std::string& file, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("the external account in {} {}", file, what)};
}

// What the source gave, as its "format" says: the text itself, or a member of a JSON object.
Result<Secret<std::string>> pick_subject_token(std::string text, const Json& source,
                                               const std::string& file) {
  const auto format = source.find("format");
  const bool is_json = format != source.end() && format->is_object() &&
                       format->value("type", Json()) == Json("json");
  if (is_json) {
    OUTLAST_TRY_ASSIGN(const std::string field,
                       gcp_member(*format, "subject_token_field_name", file));
    const Result<Json> json = parse_json(text);
    const Result<std::string> member =
        json ? json_string(*json, field) : Result<std::string>(json.error());
    if (!member) {
      return Error(
          ErrorCode::kFailed,
          fmt::format("the subject token of {} is not a JSON object with '{}'", file, field));
    }
    text = *member;
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (text.empty()) {
    return Error(
        ErrorCode::kPermissionDenied,
        fmt::format("the subject token of {} is empty: look at its credential_source", file));
  }
  return Secret(std::move(text));
}

Result<std::string> ask_subject_url(sys::World& world, const Json& source, const std::string& file,
                                    const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(std::string url, gcp_member(source, "url", file));
  // Often a metadata address, so that plain http must do; nothing secret is sent.
  IssuerCall call = {.url = std::move(url)};
  call.direct = call.url.starts_with("http://");
  if (const auto headers = source.find("headers"); headers != source.end()) {
    if (!headers->is_object()) return bad_external(file, "has 'headers' that are not an object");
    for (const auto& [name, value] : headers->items()) {
      if (!value.is_string()) return bad_external(file, "has a header that is not text");
      call.headers.emplace_back(name, value.get<std::string>());
    }
  }
  OUTLAST_TRY_ASSIGN(sys::HttpResponse answer,
                     ask_issuer(world.http, world.clock, call, ctx)
                         .while_doing(fmt::format("ask for the subject token of {}", file)));
  if (answer.status != 200) return issuer_refusal(call, answer, {}, "no subject token came");
  return std::move(answer.body);
}

Result<Secret<std::string>> subject_token(sys::World& world, const Json& credentials,
                                          const std::string& file, const sys::CallContext& ctx) {
  const auto source = credentials.find("credential_source");
  if (source == credentials.end() || !source->is_object()) {
    return bad_external(file, "has no 'credential_source'");
  }
  if (source->contains("file")) {
    OUTLAST_TRY_ASSIGN(const std::string path, gcp_member(*source, "file", file));
    Result<std::string> text = sys::read_file(world.files, path, kSubjectTokenBytesMax);
    if (!text) return std::move(text).error().while_doing("read the subject token");
    return pick_subject_token(*std::move(text), *source, file);
  }
  if (source->contains("environment_id")) {
    return bad_external(file,
                        "takes its token from AWS, which outlast cannot do: use a file or a URL as "
                        "its source, or the key of a service account");
  }
  if (source->contains("url")) {
    OUTLAST_TRY_ASSIGN(std::string text, ask_subject_url(world, *source, file, ctx));
    return pick_subject_token(std::move(text), *source, file);
  }
  return bad_external(file,
                      "takes its token from something that outlast cannot use: use a file or a URL "
                      "as its source, or the key of a service account");
}

}  // namespace

Result<Fetched<BearerToken>> fetch_gcp_external_token(sys::World& world, const Json& credentials,
                                                      const GcpTokenRequest& request,
                                                      const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string audience, gcp_member(credentials, "audience", request.file));
  OUTLAST_TRY_ASSIGN(const std::string subject_type,
                     gcp_member(credentials, "subject_token_type", request.file));
  OUTLAST_TRY_ASSIGN(const std::string token_url,
                     gcp_member(credentials, "token_url", request.file));
  OUTLAST_TRY(check_issuer_url(token_url, fmt::format("'token_url' in {}", request.file)));
  const std::string impersonation_url =
      json_string(credentials, "service_account_impersonation_url").value_or("");
  OUTLAST_TRY_ASSIGN(const Secret<std::string> subject,
                     subject_token(world, credentials, request.file, ctx));

  Query form = {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
                {"audience", audience},
                {"scope", impersonation_url.empty() ? request.scope : std::string(kCloudPlatform)},
                {"subject_token_type", subject_type},
                {"subject_token", subject.reveal()}};
  const std::string project = json_string(credentials, "workforce_pool_user_project").value_or("");
  if (!project.empty()) {
    form.emplace_back("options", canonical_json(Json{{"userProject", project}}));
  }
  IssuerCall call = form_call(token_url, form);
  const std::string client_id = json_string(credentials, "client_id").value_or("");
  const Secret<std::string> client_secret(json_string(credentials, "client_secret").value_or(""));
  if (!client_id.empty()) {
    const Secret<std::string> pair(fmt::format("{}:{}", client_id, client_secret.reveal()));
    call.headers.emplace_back("Authorization",
                              fmt::format("Basic {}", base64_encode(as_bytes(pair.reveal()))));
  }
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer,
                     ask_issuer(world.http, world.clock, call, ctx));
  OUTLAST_TRY_ASSIGN(
      Fetched<BearerToken> token,
      read_gcp_token(
          call, answer, {subject.reveal(), client_secret.reveal()},
          fmt::format("check that the pool in {} trusts its subject token", request.file)));
  token.origin = fmt::format("the external account in {}", request.file);
  if (impersonation_url.empty()) return token;
  return impersonate_gcp_account(world, impersonation_url, token.value, Json(), request, ctx);
}

}  // namespace outlast::cloud
