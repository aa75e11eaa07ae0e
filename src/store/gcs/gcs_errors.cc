#include "store/gcs/gcs_errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "cloud/http_date.h"
#include "store/gcs/gcs_answers.h"
#include "store/object_store.h"
#include "sys/http.h"

namespace outlast::store::gcs {
namespace {

struct Meaning {
  ErrorCode code = ErrorCode::kFailed;
  std::string advice = {};  // what it means and what to do
};

bool contains_ignoring_case(std::string_view text, std::string_view lower_case) {
  return ascii_lower(text).find(lower_case) != std::string::npos;
}

bool is_one_of(std::string_view word, const auto& words) {
  return std::ranges::find(words, word) != words.end();
}

Meaning unauthorized(const Attempt& attempt) {
  if (attempt.credentials.empty()) {
    return {ErrorCode::kPermissionDenied,
            "no credentials were sent: run 'gcloud auth application-default login', or let "
            "GOOGLE_APPLICATION_CREDENTIALS name a key file"};
  }
  return {ErrorCode::kPermissionDenied,
          fmt::format("Google did not accept the credentials from {}: log in again, or replace the "
                      "key file",
                      attempt.credentials)};
}

Meaning forbidden(const Attempt& attempt, const Refusal& refusal) {
  constexpr std::array<std::string_view, 3> kRates = {"rateLimitExceeded", "userRateLimitExceeded",
                                                      "quotaExceeded"};
  if (is_one_of(refusal.reason, kRates)) {
    return {ErrorCode::kThrottled, "too many requests; ask less often, or for a higher quota"};
  }
  constexpr std::array<std::string_view, 2> kFull = {"storageQuotaExceeded", "dailyLimitExceeded"};
  if (is_one_of(refusal.reason, kFull)) {
    return {ErrorCode::kNoSpace, "the project's quota is used up; ask for a higher one"};
  }
  const std::string_view role = attempt.kind == Attempt::Kind::kRead ? "roles/storage.objectViewer"
                                                                     : "roles/storage.objectAdmin";
  return {ErrorCode::kPermissionDenied,
          fmt::format("the account ({}) may not; give it {} on the bucket",
                      attempt.credentials.empty() ? "nobody: no credentials were sent"
                                                  : attempt.credentials,
                      role)};
}

Meaning condition_lost(const Attempt& attempt) {
  if (attempt.condition == WriteIf::Kind::kAbsent) {
    return {ErrorCode::kAlreadyExists, "the object exists already"};
  }
  return {ErrorCode::kConditionFailed,
          "the object is gone or has another generation by now: read it again, then decide"};
}

Meaning server_fault(const Attempt& attempt) {
  if (attempt.kind == Attempt::Kind::kWrite) {
    return {ErrorCode::kUnknownOutcome, "it may have happened: look before repeating"};
  }
  return {ErrorCode::kUnavailable, "try again"};
}

Meaning bad_request(const Refusal& refusal) {
  // Nothing was stored, and the bytes here are still right.
  if (blames_checksum(refusal)) {
    return {ErrorCode::kUnavailable, "the bytes were damaged on their way; send them again"};
  }
  return {ErrorCode::kInvalidArgument, "Google does not accept the request"};
}

Meaning meaning_of(const Attempt& attempt, const sys::HttpResponse& answer,
                   const Refusal& refusal) {
  switch (answer.status) {
    case 400:
      return bad_request(refusal);
    case 401:
      return unauthorized(attempt);
    case 403:
      return forbidden(attempt, refusal);
    case 404:
      if (attempt.of_bucket || is_missing_bucket(answer)) {
        return {ErrorCode::kNotFound, "there is no such bucket; create it, or correct its name"};
      }
      return {ErrorCode::kNotFound, "there is no such object"};
    case 409:
      return {ErrorCode::kUnavailable, "another request was at work there; try again"};
    case 410:
      return {ErrorCode::kNotFound, "it is gone"};
    case 412:
      return condition_lost(attempt);
    case 416:
      return {ErrorCode::kInvalidArgument, "the range begins at or past the object's end"};
    case 429:
      return {ErrorCode::kThrottled, "too many requests; ask less often"};
    default:
      break;
  }
  if (answer.status == 501 || answer.status == 505) {
    return {ErrorCode::kFailed, "the server cannot do this; correct the endpoint"};
  }
  if (answer.status == 408 || answer.status >= 500) return server_fault(attempt);
  if (answer.status >= 300 && answer.status < 400) {
    return {ErrorCode::kFailed, "this is no Google Cloud Storage; correct the endpoint"};
  }
  return {ErrorCode::kFailed, "nobody expected this answer"};
}

}  // namespace

bool blames_checksum(const Refusal& refusal) {
  return contains_ignoring_case(refusal.message, "crc32c") ||
         contains_ignoring_case(refusal.message, "md5");
}

bool is_missing_bucket(const sys::HttpResponse& answer) {
  if (answer.status != 404) return false;
  const std::string message = read_refusal(answer.body).message;
  return contains_ignoring_case(message, "bucket") && !contains_ignoring_case(message, "object");
}

Error refused(const Attempt& attempt, const sys::HttpResponse& answer) {
  const Refusal refusal = read_refusal(answer.body);
  const Meaning meaning = meaning_of(attempt, answer, refusal);
  std::string said = fmt::format("{}", answer.status);
  if (!refusal.reason.empty()) said += " " + refusal.reason;
  if (!refusal.message.empty()) said += fmt::format(", '{}'", refusal.message);
  Error error(meaning.code,
              fmt::format("{}: {} (the answer was {})", attempt.what, meaning.advice, said));
  const auto wait = cloud::retry_after(answer.headers);
  return wait ? std::move(error).with_retry_after(*wait) : error;
}

}  // namespace outlast::store::gcs
