#include "notice/metadata_service.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "cloud/credential_http.h"
#include "cloud/http_date.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/environment.h"
#include "sys/http.h"

namespace outlast::notice {
namespace {

constexpr std::uint64_t kMetadataBytesMax = 1U << 20U;
constexpr Duration kMetadataConnectMax = std::chrono::seconds(1);

}  // namespace

Result<sys::HttpResponse> ask_metadata(sys::HttpClient& http, sys::Clock& clock,
                                       const MetadataCall& call, const sys::CallContext& ctx) {
  const MonoTime until = saturating_add(clock.mono_now(), call.patience);
  Result<sys::HttpResponse> answer =
      http.send({.method = call.method,
                 .url = call.url,
                 .headers = call.headers,
                 .body = as_bytes(call.body),
                 .gathered_bytes_max = kMetadataBytesMax,
                 .direct = true,
                 .connect_timeout = std::min(call.patience, kMetadataConnectMax),
                 .stall_timeout = call.patience},
                ctx.until(until));
  // Our own patience is over, not the caller's: nobody else is to stop because of that.
  if (!answer && answer.error().code() == ErrorCode::kDeadlineExceeded && until < ctx.deadline) {
    return Error(ErrorCode::kUnknownOutcome,
                 fmt::format("{} {}: no answer within {}", call.method,
                             cloud::url_for_people(call.url), format_duration(call.patience)));
  }
  return answer;
}

Error metadata_refusal(const MetadataCall& call, const sys::HttpResponse& answer) {
  ErrorCode code = ErrorCode::kUnavailable;
  if (answer.status == 404) code = ErrorCode::kNotFound;
  if (answer.status == 401 || answer.status == 403) code = ErrorCode::kPermissionDenied;
  return {code, fmt::format("{} {} was answered with {}", call.method,
                            cloud::url_for_people(call.url), answer.status)};
}

Error metadata_nonsense(const MetadataCall& call, std::string_view wanted) {
  return {ErrorCode::kFailed, fmt::format("{} {}: the answer is not {}; is this the right service?",
                                          call.method, cloud::url_for_people(call.url), wanted)};
}

std::string endpoint_variable(sys::Environment& environment,
                              std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    std::string url = environment.get(name).value_or("");
    while (url.ends_with('/')) url.pop_back();
    if (url.empty()) continue;
    return url.find("://") == std::string::npos ? "http://" + url : url;
  }
  return "";
}

bool is_true_variable(sys::Environment& environment, std::string_view name) {
  return ascii_lower(environment.get(name).value_or("")) == "true";
}

ServiceTime service_time(const sys::HttpResponse& answer, sys::Clock& clock) {
  const auto theirs = cloud::parse_http_date(sys::find_header(answer.headers, "Date").value_or(""));
  if (theirs) return {.at = *theirs, .is_theirs = true};
  return {.at = clock.wall_now()};
}

}  // namespace outlast::notice
