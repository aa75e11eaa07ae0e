#include "cloud/aws_instance_metadata.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/aws_key_answer.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr Duration kImdsAbsentFor = std::chrono::minutes(5);
constexpr Duration kImdsTokenLife = std::chrono::hours(6);
constexpr Duration kImdsTokenMargin = std::chrono::minutes(1);
constexpr std::string_view kRolesPath = "/latest/meta-data/iam/security-credentials/";
constexpr int kImdsNumberMax = 60;

bool imds_flag(sys::Environment& environment, std::string_view name) {
  const std::string value = environment.get(name).value_or("");
  return value == "true" || value == "True" || value == "TRUE";
}

// A whole number from 1 to 60, or the default.
int imds_number(sys::Environment& environment, std::string_view name, int otherwise) {
  const int number = parse_number<int>(environment.get(name).value_or("")).value_or(0);
  return number < 1 ? otherwise : std::min(number, kImdsNumberMax);
}

std::string imds_endpoint(sys::Environment& environment) {
  std::string url = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("");
  while (url.ends_with('/')) url.pop_back();
  if (!url.empty()) return url;
  const std::string mode = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE").value_or("");
  return mode == "IPv6" || mode == "ipv6" ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
}

bool is_role_name(std::string_view name) {
  return !name.empty() && name.size() <= 256 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("+=,.@_-").find(c) != std::string_view::npos;
  });
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

}  // namespace

AwsInstanceMetadata::AwsInstanceMetadata(sys::World& world)
    : world_(world),
      endpoint_(imds_endpoint(world.environment)),
      timeout_(
          std::chrono::seconds(imds_number(world.environment, "AWS_METADATA_SERVICE_TIMEOUT", 1))),
      attempts_max_(imds_number(world.environment, "AWS_METADATA_SERVICE_NUM_ATTEMPTS", 2)) {}

bool AwsInstanceMetadata::is_absent(std::string why) {
  absence_ = std::move(why);
  absent_until_ = saturating_add(world_.clock.mono_now(), kImdsAbsentFor);
  return true;
}

// Makes sure that token_ is as good as it gets. False: there is no such service here.
Result<bool> AwsInstanceMetadata::have_token(const sys::CallContext& ctx) {
  const MonoTime now = world_.clock.mono_now();
  if (now < token_until_) return true;
  const IssuerCall call = {.method = "PUT",
                           .url = endpoint_ + "/latest/api/token",
                           .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}},
                           .direct = true,
                           .attempts_max = attempts_max_,
                           .connect_timeout = timeout_,
                           .stall_timeout = timeout_};
  Result<sys::HttpResponse> answer = ask_issuer(world_.http, world_.clock, call, ctx);
  const bool v1_allowed = !imds_flag(world_.environment, "AWS_EC2_METADATA_V1_DISABLED");
  if (!answer) {
    const ErrorCode code = answer.error().code();
    if (code == ErrorCode::kUnavailable) return !is_absent("did not answer");
    // In a container the answer to the PUT is dropped on the way if the hop limit is 1, while
    // version 1 may work.
    if (code != ErrorCode::kUnknownOutcome) return std::move(answer).error();
    if (!v1_allowed) return !is_absent("gave no token (is the hop limit of the instance 1?)");
    token_ = {};
  } else if (answer->status == 200 && is_header_text(answer->body)) {
    token_ = Secret(std::move(answer->body));
  } else if (answer->status == 403) {
    return !is_absent("is switched off");
  } else if (v1_allowed && (answer->status == 404 || answer->status == 405)) {
    token_ = {};
  } else if (answer->status >= 200 && answer->status < 500 && answer->status != 429) {
    return !is_absent("is not that of EC2");
  } else {
    return issuer_refusal(call, *answer, {}, "try again");
  }
  token_until_ = saturating_add(now, kImdsTokenLife - kImdsTokenMargin);
  return true;
}

Result<std::optional<sys::HttpResponse>> AwsInstanceMetadata::get(const std::string& path,
                                                                  const sys::CallContext& ctx) {
  if (imds_flag(world_.environment, "AWS_EC2_METADATA_DISABLED")) {
    absence_ = "is disabled by AWS_EC2_METADATA_DISABLED";
    return std::nullopt;
  }
  if (world_.clock.mono_now() < absent_until_) return std::nullopt;
  for (bool again = false;; again = true) {
    OUTLAST_TRY_ASSIGN(const bool here, have_token(ctx));
    if (!here) return std::nullopt;
    IssuerCall call = {.url = endpoint_ + path,
                       .direct = true,
                       .attempts_max = attempts_max_,
                       .connect_timeout = timeout_,
                       .stall_timeout = timeout_};
    const bool v1 = token_.reveal().empty();
    if (!v1) call.headers.emplace_back("X-aws-ec2-metadata-token", token_.reveal());
    Result<sys::HttpResponse> answer = ask_issuer(world_.http, world_.clock, call, ctx);
    if (!answer) {
      const ErrorCode code = answer.error().code();
      if (code == ErrorCode::kUnavailable || (v1 && code == ErrorCode::kUnknownOutcome)) {
        token_until_ = MonoTime::min();
        is_absent("did not answer");
        return std::nullopt;
      }
      return std::move(answer).error();
    }
    if (answer->status == 200 || answer->status == 404) return std::optional(*std::move(answer));
    token_until_ = MonoTime::min();
    if (answer->status == 401 && v1) {
      is_absent("wants a token but gave none (is the hop limit of the instance 1?)");
      return std::nullopt;
    }
    if (answer->status != 401 || again) {
      return issuer_refusal(call, *answer, {token_.reveal()}, "is the metadata service on?");
    }
  }
}

Result<std::optional<Fetched<AwsKeys>>> AwsInstanceMetadata::role_keys(
    const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::optional<sys::HttpResponse> roles,
                     get(std::string(kRolesPath), ctx));
  if (!roles) return std::nullopt;
  const std::string role = roles->status == 200 ? first_line(roles->body) : "";
  if (!is_role_name(role)) {
    absence_ = "has no role: attach an instance profile to this machine";
    return std::nullopt;
  }
  const IssuerCall call = {.url = fmt::format("{}{}{}", endpoint_, kRolesPath, role)};
  for (int attempt = 1;; ++attempt) {
    OUTLAST_TRY_ASSIGN(const std::optional<sys::HttpResponse> answer,
                       get(fmt::format("{}{}", kRolesPath, role), ctx));
    if (!answer) return std::nullopt;
    if (answer->status != 200) return issuer_refusal(call, *answer, {}, "the role has just gone");
    Result<Fetched<AwsKeys>> keys = parse_aws_keys(call, *answer, world_.clock);
    if (keys) {
      keys->origin = fmt::format("role '{}' of this instance", role);
      return std::optional(*std::move(keys));
    }
    // Expired already, or not there yet: the service renews them by itself.
    if (keys.error().code() != ErrorCode::kUnavailable || attempt >= attempts_max_) {
      return std::move(keys).error().while_doing("ask for the role of this instance");
    }
    OUTLAST_TRY(world_.clock.sleep_for(std::chrono::seconds(1), ctx));
  }
}

Result<std::string> AwsInstanceMetadata::region(const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::optional<sys::HttpResponse> answer,
                     get("/latest/meta-data/placement/region", ctx));
  if (!answer || answer->status != 200) return "";
  const std::string region = first_line(answer->body);
  return is_role_name(region) ? region : "";
}

}  // namespace outlast::cloud
