#include "cloud/aws_container_credentials.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"
#include "cloud/aws_key_answer.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr std::uint64_t kContainerTokenBytesMax = 64U << 10U;

// "" if neither variable is set.
Result<std::string> container_url(sys::World& world) {
  const std::string relative =
      world.environment.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").value_or("");
  if (!relative.empty()) {
    if (relative.starts_with('/') && is_header_text(relative))
      return "http://169.254.170.2" + relative;
    return Error(ErrorCode::kInvalidArgument,
                 "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must be a path that begins with '/'");
  }
  std::string full = world.environment.get("AWS_CONTAINER_CREDENTIALS_FULL_URI").value_or("");
  if (full.empty()) return full;
  const std::string host = url_host(full);
  const bool beside_us = is_loopback(host) || host == "169.254.170.2" || host == "169.254.170.23" ||
                         host == "fd00:ec2::23";
  const bool safe = full.starts_with("https://") || (full.starts_with("http://") && beside_us);
  if (safe && !host.empty() && is_header_text(full)) return full;
  return Error(ErrorCode::kInvalidArgument,
               "AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https:// URL, or an http:// one on "
               "this machine, 169.254.170.2 or 169.254.170.23");
}

// For the Authorization header; empty if none is wanted. The file is read anew each time: it
// changes.
Result<Secret<std::string>> container_token(sys::World& world) {
  std::string token;
  const std::string path =
      world.environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").value_or("");
  if (!path.empty()) {
    Result<std::string> text = sys::read_file(world.files, path, kContainerTokenBytesMax);
    if (!text) {
      return std::move(text).error().while_doing(
          "read what AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names");
    }
    token = *std::move(text);
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  } else {
    token = world.environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
  }
  if (!token.empty() && !is_header_text(token)) {
    return Error(ErrorCode::kInvalidArgument,
                 "the container's authorization token has a line break or control character in it");
  }
  return Secret(std::move(token));
}

}  // namespace

Result<std::optional<Fetched<AwsKeys>>> fetch_aws_container_keys(sys::World& world,
                                                                 const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string url, container_url(world));
  if (url.empty()) return std::nullopt;
  OUTLAST_TRY_ASSIGN(const Secret<std::string> token, container_token(world));
  IssuerCall call = {.url = url,
                     .headers = {{"Accept", "application/json"}},
                     .direct = url.starts_with("http://"),
                     .connect_timeout = std::chrono::seconds(2)};
  if (!token.reveal().empty()) call.headers.emplace_back("Authorization", token.reveal());
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer,
                     ask_issuer(world.http, world.clock, call, ctx)
                         .while_doing("ask for the credentials of this container"));
  if (answer.status != 200) {
    return issuer_refusal(call, answer, {token.reveal()}, "look at the role of this container");
  }
  OUTLAST_TRY_ASSIGN(Fetched<AwsKeys> keys, parse_aws_keys(call, answer, world.clock));
  keys.origin = "the role of this container";
  return std::optional(std::move(keys));
}

}  // namespace outlast::cloud
