#include "store/azure/azure_client.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/azure_signing.h"
#include "cloud/credentials.h"
#include "cloud/http_date.h"
#include "cloud/url_encoding.h"
#include "store/azure/azure_answers.h"
#include "store/azure/azure_errors.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store {
namespace {

AzureOptions with_endpoint(AzureOptions options) {
  if (options.endpoint.empty()) {
    options.endpoint = fmt::format("https://{}.blob.core.windows.net", options.account);
  }
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  return options;
}

// Whoever listens in could use a token; on this machine nobody does.
bool is_safe_for_tokens(std::string_view url) {
  if (url.starts_with("https://")) return true;
  const std::string_view host = url.substr(std::min(url.find("://") + 3, url.size()));
  return host.starts_with("127.0.0.1:") || host.starts_with("localhost:") ||
         host.starts_with("[::1]:");
}

// Adds the proof to the request, which must otherwise be complete; says which kind it was.
Result<AzureAttempt::Proof> prove(const cloud::AzureAuth& auth, std::string_view account,
                                  sys::HttpRequest& request) {
  using Proof = AzureAttempt::Proof;
  if (const auto* key = std::get_if<cloud::AzureSharedKey>(&auth)) {
    OUTLAST_TRY_ASSIGN(const Secret<std::string> header,
                       cloud::azure_shared_key(account, key->key, request));
    request.headers.emplace_back("Authorization", header.reveal());
    return Proof::kSharedKey;
  }
  if (const auto* sas = std::get_if<cloud::AzureSas>(&auth)) {
    request.url += request.url.find('?') == std::string::npos ? '?' : '&';
    request.url += sas->query.reveal();
    return Proof::kSas;
  }
  const std::string& token = std::get<cloud::BearerToken>(auth).token.reveal();
  if (token.empty()) return Proof::kNone;
  if (!is_safe_for_tokens(request.url)) {
    return Error(ErrorCode::kInvalidArgument,
                 "an access token is never sent without TLS: use an https endpoint");
  }
  request.headers.emplace_back("Authorization", "Bearer " + token);
  return Proof::kToken;
}

}  // namespace

Result<std::string> AzureAnswer::written_version() const {
  std::string version = azure_version(sys::find_header(http.headers, "ETag").value_or(""));
  if (!version.empty()) return version;
  return Error(ErrorCode::kUnknownOutcome,
               attempt.what + ": it was accepted, but the answer has no ETag: is this Azure?");
}

AzureClient::AzureClient(AzureOptions options, sys::HttpClient& http, sys::Clock& clock,
                         cloud::CredentialSource<cloud::AzureAuth>& credentials)
    : options_(with_endpoint(std::move(options))),
      http_(http),
      clock_(clock),
      credentials_(credentials) {}

std::string AzureClient::url_of(std::string_view key) const {
  return fmt::format("az://{}/{}/{}", options_.account, options_.container, key);
}

std::string AzureClient::http_url_of(std::string_view key) const {
  const std::string container = cloud::percent_encode(options_.container);
  if (key.empty()) return fmt::format("{}/{}", options_.endpoint, container);
  return fmt::format("{}/{}/{}", options_.endpoint, container, cloud::percent_encode_path(key));
}

Result<AzureAnswer> AzureClient::send(const AzureCall& call, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(AzureAnswer answer, send_once(call, ctx));
  if (answer.ok() || !azure_wants_new_credentials(answer.http, parse_azure_problem(answer.http))) {
    return answer;
  }
  credentials_.forget();
  return send_once(call, ctx);
}

Result<AzureAnswer> AzureClient::send_once(const AzureCall& call, const sys::CallContext& ctx) {
  const std::string what =
      fmt::format("{} {}", call.verb, url_of(call.key.empty() ? call.shown : call.key));
  auto auth = credentials_.get(ctx);
  if (!auth) return auth.error().while_doing(what);
  const WallTime now = clock_.wall_now();
  sys::HttpRequest request{.method = std::string(call.method),
                           .url = http_url_of(call.key),
                           .headers = call.headers,
                           .body = call.body,
                           .sink = call.sink};
  if (call.long_answer) request.gathered_bytes_max = 64U << 20U;
  if (!call.query.empty()) request.url += "?" + cloud::encode_query(call.query);
  request.headers.emplace_back("x-ms-date", cloud::format_http_date(now));
  request.headers.emplace_back("x-ms-version", cloud::kAzureVersion);
  auto proof = prove(*auth, options_.account, request);
  if (!proof) return proof.error().while_doing(what);
  auto answer = http_.send(request, ctx);
  if (!answer) return answer.error().while_doing(what);
  return AzureAnswer{.http = *std::move(answer),
                     .attempt = {.what = what,
                                 .account = options_.account,
                                 .container = options_.container,
                                 .proof = *proof,
                                 .origin = credentials_.origin(),
                                 .writes = call.writes,
                                 .sent = now}};
}

}  // namespace outlast::store
