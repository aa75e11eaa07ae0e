#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/url_encoding.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

// How the credential sources speak with those who issue credentials: metadata servers and token
// endpoints. Nothing that was sent or received stands in an error, but for the issuer's own error
// code and sentence, in which what was sent is blotted out.
namespace outlast::cloud {

struct IssuerCall {
  std::string method = "GET";
  std::string url = {};
  sys::HttpHeaders headers = {};
  Secret<std::string> body = {};
  bool direct = false;  // a metadata address: never through a proxy

  int attempts_max = 3;
  Duration connect_timeout = std::chrono::seconds(5);
  Duration stall_timeout = std::chrono::seconds(10);
  std::vector<int> also_repeat = {};  // statuses, beside 429 and 5xx, that may pass
};

// A POST of a form.
IssuerCall form_call(std::string url, const Query& form);

// Sends it, again after a while if nobody answered or the answer was 429 or 5xx: what is asked for
// here may be asked for twice. An answer of any status is not an error. Errors: kUnavailable
// (nobody could be reached) and kUnknownOutcome (somebody was, but did not answer), naming the URL;
// the caller's kCancelled and kDeadlineExceeded.
Result<sys::HttpResponse> ask_issuer(sys::HttpClient& http, sys::Clock& clock,
                                     const IssuerCall& call, const sys::CallContext& ctx);

// An answer that is not what was hoped for, as an error: kPermissionDenied for 4xx, kThrottled for
// 429, kUnavailable for 5xx. `secrets` are blotted out of the issuer's words. `advice` ends the
// sentence: "check AZURE_CLIENT_SECRET".
Error issuer_refusal(const IssuerCall& call, const sys::HttpResponse& answer,
                     std::initializer_list<std::string_view> secrets, std::string_view advice);

// The JSON object of a 200 answer. kFailed if it is something else, a login page for one.
Result<Json> issuer_json(const IssuerCall& call, const sys::HttpResponse& answer);

// A text member that is there and not empty. kFailed, naming the member, otherwise.
Result<std::string> issuer_text(const IssuerCall& call, const Json& object, std::string_view key);

// "expires_in": seconds, as a number or as text. kFailed if it is missing or not positive.
Result<Duration> issuer_seconds(const IssuerCall& call, const Json& object, std::string_view key);

// How long it is until `expiration` by the clock of whoever answered, if it told its time (Date),
// by ours otherwise. kUnavailable if that is past: a later try may bring newer credentials.
Result<Duration> lifetime_until(WallTime expiration, const sys::HttpHeaders& answer,
                                sys::Clock& clock);
Result<Duration> lifetime_until(std::string_view rfc3339, const sys::HttpHeaders& answer,
                                sys::Clock& clock);

// Without its query and user, for sentences.
std::string url_for_people(std::string_view url);

// The host in a URL, lower case, without port and brackets; "" if there is none or a user stands
// before it.
std::string url_host(std::string_view url);

// localhost, 127.0.0.0/8, ::1.
bool is_loopback(std::string_view host);

// kInvalidArgument unless secrets may be sent there: https, or http on this machine. `what` names
// the setting that holds it.
Result<void> check_issuer_url(std::string_view url, std::string_view what);

// Whether `text` can stand in a header: not empty, no control characters.
bool is_header_text(std::string_view text);

}  // namespace outlast::cloud
