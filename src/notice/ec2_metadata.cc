#include "notice/ec2_metadata.h"

#include <fmt/core.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credential_http.h"
#include "notice/metadata_service.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

constexpr Duration kEc2TokenLife = std::chrono::hours(6);
constexpr Duration kEc2TokenFresh = std::chrono::hours(5);
// After a request for a token that was in vain: a hanging one takes a second each time.
constexpr Duration kEc2TokenAgain = std::chrono::minutes(5);
constexpr std::string_view kEc2TokenSeconds = "21600";

std::string ec2_endpoint(sys::Environment& environment) {
  std::string url = endpoint_variable(environment, {"AWS_EC2_METADATA_SERVICE_ENDPOINT"});
  if (!url.empty()) return url;
  const std::string mode = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE").value_or("");
  return ascii_lower(mode) == "ipv6" ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
}

}  // namespace

Ec2Metadata::Ec2Metadata(sys::World& world)
    : http_(world.http),
      clock_(world.clock),
      endpoint_(ec2_endpoint(world.environment)),
      v1_allowed_(!is_true_variable(world.environment, "AWS_EC2_METADATA_V1_DISABLED")) {}

// An empty one: version 1 is to be tried.
Result<Secret<std::string>> Ec2Metadata::fetch_token(const sys::CallContext& ctx) {
  const MetadataCall call = {
      .method = "PUT",
      .url = endpoint_ + "/latest/api/token",
      .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", std::string(kEc2TokenSeconds)}}};
  Result<sys::HttpResponse> answer = ask_metadata(http_, clock_, call, ctx);
  if (!answer) {
    if (answer.error().code() != ErrorCode::kUnknownOutcome) return std::move(answer).error();
    if (v1_allowed_) return Secret<std::string>();
    return Error(ErrorCode::kUnknownOutcome,
                 "EC2's metadata service gave no token: set the hop limit of this instance to 2");
  }
  if (answer->status == 200 && cloud::is_header_text(answer->body)) {
    return Secret(std::move(answer->body));
  }
  if (v1_allowed_ && (answer->status == 404 || answer->status == 405)) {
    return Secret<std::string>();
  }
  if (answer->status == 200) return metadata_nonsense(call, "a token");
  // Not kNotFound, which would say that there is no news.
  return Error(ErrorCode::kUnavailable, metadata_refusal(call, *answer).to_string());
}

Result<void> Ec2Metadata::have_token(const sys::CallContext& ctx) {
  const MonoTime now = clock_.mono_now();
  if (now < token_fresh_) return {};
  Result<Secret<std::string>> token = fetch_token(ctx);
  const bool has_old = !token_.reveal().empty() && now < token_expires_;
  const bool has_new = token && !token->reveal().empty();
  if (!has_new && has_old) {
    token_fresh_ = saturating_add(now, kEc2TokenAgain);
    return {};
  }
  if (!token) return std::move(token).error();
  token_ = *std::move(token);
  token_fresh_ = saturating_add(now, has_new ? kEc2TokenFresh : kEc2TokenAgain);
  token_expires_ = saturating_add(now, kEc2TokenLife);
  return {};
}

Result<sys::HttpResponse> Ec2Metadata::get(std::string_view path, const sys::CallContext& ctx) {
  for (bool again = false;; again = true) {
    OUTLAST_TRY(have_token(ctx));
    MetadataCall call = {.url = fmt::format("{}{}", endpoint_, path)};
    const bool has_token = !token_.reveal().empty();
    if (has_token) call.headers.emplace_back("X-aws-ec2-metadata-token", token_.reveal());
    OUTLAST_TRY_ASSIGN(sys::HttpResponse answer, ask_metadata(http_, clock_, call, ctx));
    if (answer.status == 200) return answer;
    if (answer.status != 401) return metadata_refusal(call, answer);
    token_ = {};
    token_fresh_ = MonoTime::min();
    if (!again) continue;
    if (has_token) return metadata_refusal(call, answer);
    return Error(ErrorCode::kPermissionDenied,
                 "EC2's metadata service wants a token but gives none: set the hop limit of this "
                 "instance to 2");
  }
}

bool Ec2Metadata::is_here(const sys::CallContext& ctx) {
  const Result<sys::HttpResponse> id = get("/latest/meta-data/instance-id", ctx);
  if (id) return id->body.starts_with("i-");
  // Whoever gives tokens is it, even if it tells us nothing yet.
  return id.error().code() != ErrorCode::kCancelled && !token_.reveal().empty();
}

}  // namespace outlast::notice
