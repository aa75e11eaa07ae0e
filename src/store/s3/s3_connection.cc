#include "store/s3/s3_connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "cloud/http_date.h"
#include "cloud/sigv4.h"
#include "cloud/url_encoding.h"
#include "store/s3/s3_address.h"
#include "store/s3/s3_answers.h"
#include "store/s3/s3_errors.h"
#include "store/s3/s3_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store::s3 {
namespace {

// A page of 1,000 keys of 1,024 bytes, percent-encoded, and more.
constexpr std::uint64_t kAnswerBytesMax = 16U << 20U;

constexpr std::array<std::string_view, 4> kStaleKeys = {"ExpiredToken", "ExpiredTokenException",
                                                        "InvalidToken", "TokenRefreshRequired"};

bool is_stale_keys(const Answer& answer) {
  return std::ranges::find(kStaleKeys, answer.refusal.code) != kStaleKeys.end();
}

bool is_head(const Call& call) {
  return traits_of(call.operation).method == "HEAD";
}

}  // namespace

Connection::Connection(const S3Options& options, Address address, sys::HttpClient& http,
                       sys::Clock& clock, cloud::CredentialSource<cloud::AwsKeys>& credentials)
    : options_(options),
      amazon_(address.amazon),
      safe_wire_(address.safe_wire),
      http_(http),
      clock_(clock),
      credentials_(credentials),
      address_(std::make_shared<const Address>(std::move(address))) {
  if (amazon_) learned_.etag_form = Learned::EtagForm::kQuoted;
}

std::string Connection::url_of(std::string_view key) const {
  return fmt::format("s3://{}/{}", options_.bucket, key);
}

Result<Connection::Signing> Connection::signing(std::string_view doing,
                                                const sys::CallContext& ctx) {
  Result<cloud::AwsKeys> keys = credentials_.get(ctx);
  if (!keys) return keys.error().while_doing(std::string(doing));
  Signing out;
  out.now = clock_.wall_now();
  const MutexLock lock(mutex_);
  out.now += clock_offset_;
  out.address = address_;
  if (!key_ || !key_->fits(out.now) || key_->region != address_->region ||
      key_->access_key_id != keys->access_key_id || !(key_->session_token == keys->session_token) ||
      !(key_made_of_ == keys->secret_key)) {
    key_ = std::make_shared<const cloud::SigningKey>(
        cloud::derive_signing_key(*keys, {.region = address_->region, .service = "s3"}, out.now));
    key_made_of_ = keys->secret_key;
  }
  out.key = key_;
  return out;
}

Result<Answer> Connection::exchange(const Call& call, const Signing& signing,
                                    const sys::CallContext& ctx) {
  const Address& address = *signing.address;
  const std::string_view method = traits_of(call.operation).method;
  const std::string path = address.path_of(call.key);
  sys::HttpRequest request{.method = std::string(method),
                           .url = address.origin() + path,
                           .headers = call.headers,
                           .body = call.body,
                           .sink = call.sink,
                           .gathered_bytes_max = kAnswerBytesMax,
                           .stall_timeout = call.stall_timeout};
  if (!call.query.empty()) request.url += "?" + cloud::encode_query(call.query);
  sys::HttpHeaders added = cloud::sign_v4({.method = method,
                                           .host = address.host,
                                           .path = path,
                                           .query = &call.query,
                                           .headers = &call.headers,
                                           .payload_hash = call.payload_hash},
                                          *signing.key, signing.now);
  request.headers.emplace_back("Host", address.host);
  for (auto& header : added) request.headers.push_back(std::move(header));

  Result<sys::HttpResponse> response = http_.send(request, ctx);
  if (!response) return response.error().while_doing(what(call.operation, url_of(call.key)));
  Answer answer{.http = *std::move(response)};
  if (answer.ok()) {
    learned_.bucket_exists = true;
    return answer;
  }
  answer.refusal = read_refusal(answer.http.body);
  if (answer.refusal.code == "NoSuchKey") learned_.bucket_exists = true;
  // Also on answers without a body: Amazon says it in a header.
  const auto region = sys::find_header(answer.http.headers, "x-amz-bucket-region");
  if (region) answer.refusal.region = *region;
  if (answer.refusal.request.empty()) {
    const auto id = sys::find_header(answer.http.headers, "x-amz-request-id");
    if (id) answer.refusal.request = id->substr(0, 64);
  }
  return answer;
}

Result<Answer> Connection::send(const Call& call, const sys::CallContext& ctx) {
  bool moved = false;
  bool clock_set = false;
  bool keys_renewed = false;
  for (;;) {
    auto signed_with = signing(what(call.operation, url_of(call.key)), ctx);
    if (!signed_with) return signed_with.error();
    Result<Answer> answer = exchange(call, *signed_with, ctx);
    if (!answer || answer->ok()) return answer;
    if (!moved && learn_region(*answer, *signed_with->address)) {
      moved = true;
    } else if (!clock_set && learn_clock(*answer)) {
      clock_set = true;
    } else if (!keys_renewed && is_stale_keys(*answer)) {
      credentials_.forget();
      keys_renewed = true;
    } else {
      return answer;
    }
  }
}

Result<Answer> Connection::call(const Call& call, const sys::CallContext& ctx) {
  Result<Answer> answer = send(call, ctx);
  if (!answer || answer->ok() || !is_head(call)) return answer;
  return explain(call, *std::move(answer), ctx);
}

Result<Answer> Connection::explain(const Call& head, Answer answer, const sys::CallContext& ctx) {
  const int status = answer.http.status;
  const bool unclear = status == 301 || status == 307 || status == 400 || status == 403 ||
                       (status == 404 && !learned_.bucket_exists);
  if (!unclear) return answer;
  Call with_body{.operation = Operation::kGet, .key = head.key};
  if (head.key.empty()) {
    with_body.operation = Operation::kList;
    with_body.query = {{"list-type", "2"}, {"max-keys", "1"}};
  } else {
    with_body.headers.emplace_back("Range", "bytes=0-0");
  }
  OUTLAST_TRY_ASSIGN(Answer explained, send(with_body, ctx));
  // Repaired, or there by now.
  if (explained.ok() || explained.http.status == 416) return send(head, ctx);
  return explained;
}

bool Connection::learn_region(const Answer& answer, const Address& used) {
  const int status = answer.http.status;
  if (status != 301 && status != 307 && status != 400) return false;
  const std::string& region = answer.refusal.region;
  if (region.empty() || region == used.region) return false;
  auto moved = address_in(options_, region);
  if (!moved) return false;
  const MutexLock lock(mutex_);
  address_ = std::make_shared<const Address>(*std::move(moved));
  return true;
}

bool Connection::learn_clock(const Answer& answer) {
  if (answer.refusal.code != "RequestTimeTooSkewed") return false;
  const auto date =
      cloud::parse_http_date(sys::find_header(answer.http.headers, "Date").value_or(""));
  if (!date) return false;
  const Duration offset = *date - clock_.wall_now();
  const MutexLock lock(mutex_);
  clock_offset_ = offset;
  return true;
}

Result<Answer> Connection::must(const Call& call, const sys::CallContext& ctx) {
  Result<Answer> answer = this->call(call, ctx);
  if (!answer || answer->ok()) return answer;
  return error(call, *answer);
}

Error Connection::error(const Call& call, const Answer& answer) const {
  std::shared_ptr<const Address> address;
  {
    const MutexLock lock(mutex_);
    address = address_;
  }
  const std::string url = url_of(call.key);
  const std::string origin = address->origin();
  const std::string credentials = credentials_.origin();
  return error_of({.operation = call.operation,
                   .status = answer.http.status,
                   .refusal = &answer.refusal,
                   .retry_after = cloud::retry_after(answer.http.headers),
                   .url = url,
                   .server = origin,
                   .region = address->region,
                   .credentials = credentials});
}

Result<Secret<std::string>> Connection::presign(std::string_view key, Duration valid_for,
                                                const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const Signing with, signing("sign a URL for " + url_of(key), ctx));
  const std::string path = with.address->path_of(key);
  const Secret<std::string> query =
      cloud::presign_v4({.host = with.address->host, .path = path}, *with.key, with.now, valid_for);
  return Secret<std::string>(fmt::format("{}{}?{}", with.address->origin(), path, query.reveal()));
}

}  // namespace outlast::store::s3
