#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/environment.h"
#include "sys/http.h"

// How the clouds' metadata services are asked: one exchange, never through a proxy, and never long
// unless that is wanted. What they answered never stands in an error.
namespace outlast::notice {

struct MetadataCall {
  std::string method = "GET";
  std::string url = {};
  sys::HttpHeaders headers = {};
  std::string body = {};
  Duration patience = std::chrono::seconds(1);  // for the whole answer
};

// An answer of any status is not an error. kUnavailable: nobody could be reached. kUnknownOutcome:
// no whole answer came in time. Also the caller's kCancelled and kDeadlineExceeded.
Result<sys::HttpResponse> ask_metadata(sys::HttpClient& http, sys::Clock& clock,
                                       const MetadataCall& call, const sys::CallContext& ctx);

// An answer that is not 200, as an error: kNotFound for 404, kPermissionDenied for 401 and 403,
// kUnavailable for the others.
Error metadata_refusal(const MetadataCall& call, const sys::HttpResponse& answer);
// A 200 that says something else than it should.
Error metadata_nonsense(const MetadataCall& call, std::string_view wanted);

// The first of these variables that says something, as the beginning of URLs: with http:// if it
// has no scheme, without a slash at its end. "" if none does.
std::string endpoint_variable(sys::Environment& environment,
                              std::initializer_list<std::string_view> names);

// Whether a variable says "true".
bool is_true_variable(sys::Environment& environment, std::string_view name);

// What time it was when this was answered: by the clock of who answered, if it told (Date), so that
// ours may be wrong; by ours otherwise.
struct ServiceTime {
  WallTime at = {};
  bool is_theirs = false;
};
ServiceTime service_time(const sys::HttpResponse& answer, sys::Clock& clock);

}  // namespace outlast::notice
