#include "notice/gce_metadata.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "cloud/credential_http.h"
#include "cloud/url_encoding.h"
#include "notice/metadata_service.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

constexpr std::string_view kGceRoot = "/computeMetadata/v1";
constexpr Duration kGcePatience = std::chrono::seconds(2);
constexpr std::chrono::seconds kGceHold = std::chrono::seconds(60);
constexpr Duration kGceHoldPatience = kGceHold + std::chrono::seconds(10);

std::vector<std::string> gce_endpoints(sys::Environment& environment) {
  std::string url =
      endpoint_variable(environment, {"GCE_METADATA_HOST", "GCE_METADATA_IP", "GCE_METADATA_URL"});
  if (url.ends_with(kGceRoot)) url.resize(url.size() - kGceRoot.size());
  if (!url.empty()) return {url};
  return {"http://169.254.169.254", "http://metadata.google.internal"};
}

}  // namespace

GceMetadata::GceMetadata(sys::World& world)
    : http_(world.http), clock_(world.clock), endpoints_(gce_endpoints(world.environment)) {}

Result<sys::HttpResponse> GceMetadata::ask(const Question& question, const sys::CallContext& ctx) {
  Result<sys::HttpResponse> answer = Error(ErrorCode::kUnavailable, "nobody was asked");
  for (std::size_t tried = 0; tried < endpoints_.size(); ++tried) {
    const MetadataCall call = {
        .url = fmt::format("{}{}/{}", endpoints_[current_], kGceRoot, question.path),
        .headers = {{"Metadata-Flavor", "Google"}},
        .patience = question.patience};
    answer = ask_metadata(http_, clock_, call, ctx);
    if (answer && sys::find_header(answer->headers, "Metadata-Flavor") != "Google") {
      answer = Error(ErrorCode::kUnavailable,
                     fmt::format("{} was answered by somebody else than Google's metadata server",
                                 cloud::url_for_people(call.url)));
    }
    if (answer || answer.error().code() != ErrorCode::kUnavailable) return answer;
    current_ = (current_ + 1) % endpoints_.size();
  }
  return answer;
}

Result<GceMetadata::Value> GceMetadata::read(const Question& question,
                                             const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer, ask(question, ctx));
  if (answer.status != 200) {
    return metadata_refusal(
        {.url = fmt::format("{}{}/{}", endpoints_[current_], kGceRoot, question.path)}, answer);
  }
  return Value{.text = std::string(ascii_trimmed(answer.body)),
               .etag = std::string(sys::find_header(answer.headers, "ETag").value_or(""))};
}

Result<GceMetadata::Value> GceMetadata::get(std::string_view key, const sys::CallContext& ctx) {
  return read({.path = std::string(key), .patience = kGcePatience}, ctx);
}

Result<GceMetadata::Value> GceMetadata::wait_for_change(std::string_view key,
                                                        const std::string& etag,
                                                        const sys::CallContext& ctx) {
  const std::string query = cloud::encode_query({{"wait_for_change", "true"},
                                                 {"timeout_sec", std::to_string(kGceHold.count())},
                                                 {"last_etag", etag}});
  return read({.path = fmt::format("{}?{}", key, query), .patience = kGceHoldPatience}, ctx);
}

bool GceMetadata::is_here(const sys::CallContext& ctx) {
  return ask({.path = "instance/id", .patience = kGcePatience}, ctx).has_value();
}

}  // namespace outlast::notice
