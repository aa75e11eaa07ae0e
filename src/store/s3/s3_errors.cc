#include "store/s3/s3_errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "store/object_store.h"
#include "store/s3/s3_answers.h"

namespace outlast::store::s3 {
namespace {

constexpr std::array<OperationTraits, 11> kOperations = {{
    {.method = "PUT", .verb = "put", .permission = "s3:PutObject", .writes = true},
    {.method = "GET", .verb = "get", .permission = "s3:GetObject"},
    {.method = "HEAD", .verb = "look at", .permission = "s3:GetObject"},
    {.method = "DELETE", .verb = "remove", .permission = "s3:DeleteObject", .writes = true},
    {.method = "GET", .verb = "list", .permission = "s3:ListBucket"},
    {.method = "HEAD", .verb = "look at", .permission = "s3:ListBucket"},
    {.method = "POST", .verb = "start an upload to", .permission = "s3:PutObject", .writes = true},
    {.method = "PUT", .verb = "upload a part of", .permission = "s3:PutObject", .writes = true},
    {.method = "GET",
     .verb = "list the uploaded parts of",
     .permission = "s3:ListMultipartUploadParts"},
    {.method = "POST",
     .verb = "complete the upload of",
     .permission = "s3:PutObject",
     .writes = true},
    {.method = "DELETE",
     .verb = "abort the upload of",
     .permission = "s3:AbortMultipartUpload",
     .writes = true},
}};

// What a refusal means for the program; for the person, what it is and what to do.
struct Meaning {
  std::string_view code = {};
  ErrorCode error = ErrorCode::kFailed;
  std::string_view sentence = {};
  enum class Advice { kNone, kPermission, kRegion } advice = Advice::kNone;
};
using Advice = Meaning::Advice;

constexpr std::string_view kDenied = "access is denied";
constexpr std::string_view kRefusedKeys =
    "the server does not accept the credentials: check the access key and the secret key";
constexpr std::string_view kExpired =
    "the temporary credentials are not, or no longer, valid: get new ones (log in again)";
constexpr std::string_view kBusy =
    "the server asks for fewer requests: try again later, more slowly";
constexpr std::string_view kDown = "the server cannot serve it now: try again later";
constexpr std::string_view kRaced = "somebody else was writing it at the same moment: try again";
constexpr std::string_view kDamaged =
    "the bytes did not arrive as they were sent, and nothing was stored: try again, and suspect "
    "the "
    "network or a proxy if that does not help";
constexpr std::string_view kFull = "there is no room left: delete something, or raise the quota";
constexpr std::string_view kFolder =
    "the server keeps objects as files, and this name is, or needs, a folder where there is an "
    "object: choose another name";
constexpr std::string_view kBadRequest = "the server says that the request is wrong";
constexpr std::string_view kRegion =
    "the bucket is in another region than the requests are signed for: give the bucket's region";

constexpr std::array kMeanings = std::to_array<Meaning>({
    {.code = "AccessDenied",
     .error = ErrorCode::kPermissionDenied,
     .sentence = kDenied,
     .advice = Advice::kPermission},
    {.code = "AccountProblem",
     .error = ErrorCode::kPermissionDenied,
     .sentence = "the account has a problem: ask whoever runs it"},
    {.code = "AllAccessDisabled",
     .error = ErrorCode::kPermissionDenied,
     .sentence = "all access to it is disabled: ask whoever runs it"},
    {.code = "AuthorizationHeaderMalformed",
     .error = ErrorCode::kInvalidArgument,
     .sentence = kRegion,
     .advice = Advice::kRegion},
    {.code = "BadDigest", .error = ErrorCode::kUnavailable, .sentence = kDamaged},
    {.code = "BandwidthLimitExceeded", .error = ErrorCode::kThrottled, .sentence = kBusy},
    {.code = "ConditionalRequestConflict", .error = ErrorCode::kUnavailable, .sentence = kRaced},
    {.code = "EntityTooLarge",
     .error = ErrorCode::kInvalidArgument,
     .sentence = "it is too large for one request: upload it in parts, or in smaller ones"},
    {.code = "EntityTooSmall",
     .error = ErrorCode::kInvalidArgument,
     .sentence = "a part before the last is smaller than the server allows: make parts larger"},
    {.code = "ExistingObjectIsDirectory",
     .error = ErrorCode::kInvalidArgument,
     .sentence = kFolder},
    {.code = "ExpiredToken", .error = ErrorCode::kPermissionDenied, .sentence = kExpired},
    {.code = "ExpiredTokenException", .error = ErrorCode::kPermissionDenied, .sentence = kExpired},
    {.code = "IncompleteBody",
     .error = ErrorCode::kUnavailable,
     .sentence = "the server did not get all bytes, and stored nothing: try again"},
    {.code = "InvalidAccessKeyId",
     .error = ErrorCode::kPermissionDenied,
     .sentence =
         "the server does not know the access key: check the credentials, and that they are "
         "for this server"},
    {.code = "InvalidBucketName",
     .error = ErrorCode::kInvalidArgument,
     .sentence = "the server does not take such a name for a bucket: correct the URL"},
    {.code = "InvalidObjectState",
     .error = ErrorCode::kFailed,
     .sentence = "the object is archived: restore it to a class that can be read, then try again"},
    {.code = "InvalidRange",
     .error = ErrorCode::kInvalidArgument,
     .sentence = "the range begins at or past the end of the object"},
    {.code = "InvalidToken", .error = ErrorCode::kPermissionDenied, .sentence = kExpired},
    {.code = "KeyTooLongError",
     .error = ErrorCode::kInvalidArgument,
     .sentence = "the server does not take such a long name: make it shorter"},
    {.code = "NoSuchBucket",
     .error = ErrorCode::kNotFound,
     .sentence = "there is no such bucket: create it, or correct the URL"},
    {.code = "NoSuchKey", .error = ErrorCode::kNotFound, .sentence = "there is no such object"},
    {.code = "NoSuchUpload",
     .error = ErrorCode::kNotFound,
     .sentence = "the server no longer has this upload: it was completed, aborted or cleaned up"},
    {.code = "NotImplemented",
     .error = ErrorCode::kFailed,
     .sentence = "the server does not support what was asked: use another one, or a newer version"},
    {.code = "ObjectParentIsFile", .error = ErrorCode::kInvalidArgument, .sentence = kFolder},
    {.code = "OperationAborted", .error = ErrorCode::kUnavailable, .sentence = kRaced},
    {.code = "PermanentRedirect",
     .error = ErrorCode::kInvalidArgument,
     .sentence = kRegion,
     .advice = Advice::kRegion},
    {.code = "QuotaExceeded", .error = ErrorCode::kNoSpace, .sentence = kFull},
    {.code = "RequestLimitExceeded", .error = ErrorCode::kThrottled, .sentence = kBusy},
    {.code = "RequestTimeTooSkewed",
     .error = ErrorCode::kFailed,
     .sentence = "this machine's clock and the server's differ by more than the server allows: set "
                 "the clock"},
    {.code = "RequestTimeout",
     .error = ErrorCode::kUnavailable,
     .sentence = "the server waited too long for the bytes, and stored nothing: try again"},
    {.code = "ServiceUnavailable", .error = ErrorCode::kUnavailable, .sentence = kDown},
    {.code = "SignatureDoesNotMatch",
     .error = ErrorCode::kPermissionDenied,
     .sentence =
         "the signature is wrong, so the secret key is probably not the access key's: check "
         "the credentials"},
    {.code = "SlowDown", .error = ErrorCode::kThrottled, .sentence = kBusy},
    {.code = "SlowDownRead", .error = ErrorCode::kThrottled, .sentence = kBusy},
    {.code = "SlowDownWrite", .error = ErrorCode::kThrottled, .sentence = kBusy},
    {.code = "TemporaryRedirect", .error = ErrorCode::kUnavailable, .sentence = kDown},
    {.code = "ThrottlingException", .error = ErrorCode::kThrottled, .sentence = kBusy},
    {.code = "TokenRefreshRequired", .error = ErrorCode::kPermissionDenied, .sentence = kExpired},
    {.code = "TooManyRequests", .error = ErrorCode::kThrottled, .sentence = kBusy},
    {.code = "XAmzContentChecksumMismatch", .error = ErrorCode::kUnavailable, .sentence = kDamaged},
    {.code = "XAmzContentSHA256Mismatch", .error = ErrorCode::kUnavailable, .sentence = kDamaged},
    {.code = "XMinioStorageFull", .error = ErrorCode::kNoSpace, .sentence = kFull},
});

Meaning meaning_of_status(int status, bool writes) {
  switch (status) {
    case 400:
      return {.error = ErrorCode::kInvalidArgument, .sentence = kBadRequest};
    case 401:
      return {.error = ErrorCode::kPermissionDenied, .sentence = kRefusedKeys};
    case 403:
      return {.error = ErrorCode::kPermissionDenied,
              .sentence = kDenied,
              .advice = Advice::kPermission};
    case 404:
      return {.error = ErrorCode::kNotFound, .sentence = "there is no such object"};
    case 408:
    case 503:
      return {.error = ErrorCode::kUnavailable, .sentence = kDown};
    case 409:
      return {.error = ErrorCode::kUnavailable, .sentence = kRaced};
    case 411:
    case 413:
      return {.error = ErrorCode::kInvalidArgument,
              .sentence = "the server, or a proxy before it, does not take a body of this size"};
    case 412:
      return {.error = ErrorCode::kConditionFailed,
              .sentence = "it is no longer the version that was asked for"};
    case 416:
      return {.error = ErrorCode::kInvalidArgument,
              .sentence = "the range begins at or past the end of the object"};
    case 429:
      return {.error = ErrorCode::kThrottled, .sentence = kBusy};
    case 501:
      return {.error = ErrorCode::kFailed,
              .sentence = "the server does not support what was asked: use another one"};
    case 507:
      return {.error = ErrorCode::kNoSpace, .sentence = kFull};
    default:
      break;
  }
  if (status >= 500) {
    // It may have failed after the deed.
    if (!writes) return {.error = ErrorCode::kUnavailable, .sentence = kDown};
    return {.error = ErrorCode::kUnknownOutcome,
            .sentence =
                "the server failed, and it is not known whether it was done: look, then "
                "decide"};
  }
  if (status >= 300 && status < 400) {
    return {.error = ErrorCode::kInvalidArgument,
            .sentence = "the server sends us elsewhere: check the endpoint and the region"};
  }
  return {.error = ErrorCode::kFailed,
          .sentence = "the server gives an answer that S3 does not: check the endpoint"};
}

Meaning meaning_of(const Refused& refused, bool writes) {
  // With some codes the status decides: InternalError, for one, may mean that it was done.
  const auto* const found = std::ranges::find(kMeanings, refused.refusal->code, &Meaning::code);
  return found == kMeanings.end() ? meaning_of_status(refused.status, writes) : *found;
}

std::string advice_of(Advice advice, const Refused& refused) {
  switch (advice) {
    case Advice::kNone:
      return {};
    case Advice::kPermission: {
      const bool reads =
          refused.operation == Operation::kGet || refused.operation == Operation::kHead;
      return fmt::format(
          ": allow {} on it{}", traits_of(refused.operation).permission,
          reads ? ", and s3:ListBucket, without which a missing object looks the same" : "");
    }
    case Advice::kRegion:
      return refused.refusal->region.empty()
                 ? fmt::format(" instead of {}", refused.region)
                 : fmt::format(", {}, instead of {}", refused.refusal->region, refused.region);
  }
  return {};
}

// "(403 AccessDenied: "Access Denied"; request 4442587FB7D0A2F9)".
std::string said(const Refused& refused) {
  const Refusal& refusal = *refused.refusal;
  std::string out = fmt::format("({}", refused.status);
  if (!refusal.code.empty()) out += " " + refusal.code;
  if (!refusal.message.empty()) out += fmt::format(": \"{}\"", refusal.message);
  if (!refusal.request.empty()) out += fmt::format("; request {}", refusal.request);
  return out + ")";
}

}  // namespace

const OperationTraits& traits_of(Operation operation) {
  return kOperations[static_cast<std::size_t>(operation)];
}

std::string what(Operation operation, std::string_view url) {
  return fmt::format("{} {}", traits_of(operation).verb, url);
}

Error error_of(const Refused& refused) {
  const Meaning meaning = meaning_of(refused, traits_of(refused.operation).writes);
  const bool denied = meaning.error == ErrorCode::kPermissionDenied;
  std::string sentence = fmt::format("{}: {}{}", what(refused.operation, refused.url),
                                     meaning.sentence, advice_of(meaning.advice, refused));
  if (denied && !refused.credentials.empty()) {
    sentence += fmt::format("; the credentials are from {}", refused.credentials);
  }
  if (denied || refused.refusal->code == "NoSuchBucket" || refused.refusal->code.empty()) {
    sentence += fmt::format("; the server is {}", refused.server);
  }
  Error out(meaning.error, fmt::format("{} {}", sentence, said(refused)));
  const bool later =
      meaning.error == ErrorCode::kThrottled || meaning.error == ErrorCode::kUnavailable;
  if (!refused.retry_after || !later) return out;
  return std::move(out).with_retry_after(*refused.retry_after);
}

Error lost(Operation operation, std::string_view url, const WriteIf& condition) {
  if (condition.kind == WriteIf::Kind::kAbsent) {
    return {ErrorCode::kAlreadyExists, fmt::format("{}: it exists already", what(operation, url))};
  }
  return {ErrorCode::kConditionFailed,
          fmt::format("{}: it is no longer the version {}: look at it, then decide",
                      what(operation, url), condition.version)};
}

}  // namespace outlast::store::s3
