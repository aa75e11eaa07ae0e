#include "store/gcs/gcs_client.h"

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/secret.h"
#include "cloud/credentials.h"
#include "cloud/url_encoding.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store::gcs {
namespace {

GcsClient::Options without_last_slash(GcsClient::Options options) {
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  return options;
}

std::string with_query(std::string url, const cloud::Query& query) {
  if (!query.empty()) url += "?" + cloud::encode_query(query);
  return url;
}

}  // namespace

GcsClient::GcsClient(Options options, sys::HttpClient& http,
                     cloud::CredentialSource<cloud::BearerToken>& credentials)
    : options_(without_last_slash(std::move(options))), http_(http), credentials_(credentials) {}

std::string GcsClient::shown(std::string_view key) const {
  return fmt::format("gs://{}/{}", options_.bucket, key);
}

std::string GcsClient::object_url(std::string_view key, const cloud::Query& query) const {
  return with_query(fmt::format("{}/storage/v1/b/{}/o/{}", options_.endpoint,
                                cloud::percent_encode(options_.bucket), cloud::percent_encode(key)),
                    query);
}

std::string GcsClient::list_url(const cloud::Query& query) const {
  return with_query(fmt::format("{}/storage/v1/b/{}/o", options_.endpoint,
                                cloud::percent_encode(options_.bucket)),
                    query);
}

std::string GcsClient::upload_url(const cloud::Query& query) const {
  return with_query(fmt::format("{}/upload/storage/v1/b/{}/o", options_.endpoint,
                                cloud::percent_encode(options_.bucket)),
                    query);
}

Result<GcsClient::Sent> GcsClient::send_once(sys::HttpRequest request, const std::string& what,
                                             const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const cloud::BearerToken token, credentials_.get(ctx).while_doing(what));
  const bool with_token = !token.token.reveal().empty();
  if (with_token) request.headers.emplace_back("Authorization", "Bearer " + token.token.reveal());
  OUTLAST_TRY_ASSIGN(sys::HttpResponse answer, http_.send(request, ctx).while_doing(what));
  return Sent{.answer = std::move(answer), .with_token = with_token};
}

Result<sys::HttpResponse> GcsClient::send(const sys::HttpRequest& request, const std::string& what,
                                          const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(Sent first, send_once(request, what, ctx));
  if (first.answer.status != 401 || !first.with_token) return std::move(first.answer);
  credentials_.forget();
  OUTLAST_TRY_ASSIGN(Sent second, send_once(request, what, ctx));
  return std::move(second.answer);
}

Result<sys::HttpResponse> GcsClient::send_to_session(const sys::HttpRequest& request,
                                                     const std::string& what,
                                                     const sys::CallContext& ctx) {
  return http_.send(request, ctx).while_doing(what);
}

}  // namespace outlast::store::gcs
