#include "store/azure/azure_errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "base/time.h"
#include "base/units.h"
#include "cloud/http_date.h"
#include "store/azure/azure_answers.h"
#include "store/object_store.h"
#include "sys/http.h"

namespace outlast::store {
namespace {

using Proof = AzureAttempt::Proof;

struct Verdict {
  ErrorCode code = ErrorCode::kFailed;
  std::string why = {};
};

// Azure's codes that mean one thing whoever asked and whatever for.
struct KnownProblem {
  std::string_view azure_code;
  ErrorCode code;
  std::string_view why;
};
constexpr std::array kKnownProblems = {
    KnownProblem{"BlobNotFound", ErrorCode::kNotFound, "there is no such object"},
    KnownProblem{"ContainerBeingDeleted", ErrorCode::kNotFound,
                 "the container is being deleted: wait until it is gone, then create it again"},
    KnownProblem{"ContainerDisabled", ErrorCode::kPermissionDenied,
                 "the container was disabled by its administrator"},
    KnownProblem{"AccountIsDisabled", ErrorCode::kPermissionDenied,
                 "the storage account is disabled: look at its subscription"},
    KnownProblem{"AccountBeingCreated", ErrorCode::kUnavailable,
                 "the storage account is still being created: wait a little"},
    KnownProblem{"KeyBasedAuthenticationNotPermitted", ErrorCode::kPermissionDenied,
                 "the account does not allow its keys to be used: log in with an identity instead "
                 "(az login), or allow keys in the account's configuration"},
    KnownProblem{"InsufficientAccountPermissions", ErrorCode::kPermissionDenied,
                 "the account has no such right: it may be read-only"},
    KnownProblem{"AuthorizationProtocolMismatch", ErrorCode::kPermissionDenied,
                 "the SAS is for https only: use an https endpoint"},
    KnownProblem{"AuthorizationSourceIPMismatch", ErrorCode::kPermissionDenied,
                 "the SAS is not for this machine's address: make one that is"},
    KnownProblem{"AuthorizationResourceTypeMismatch", ErrorCode::kPermissionDenied,
                 "the SAS is not for this kind of resource: make one for containers and objects"},
    KnownProblem{"AuthorizationServiceMismatch", ErrorCode::kPermissionDenied,
                 "the SAS is not for blobs: make one for the blob service"},
    KnownProblem{"PublicAccessNotPermitted", ErrorCode::kPermissionDenied,
                 "the account allows no anonymous access: give credentials"},
    KnownProblem{"LeaseIdMissing", ErrorCode::kPermissionDenied,
                 "somebody holds a lease on it: wait, or break it with 'az storage blob lease "
                 "break'"},
    KnownProblem{"SnapshotsPresent", ErrorCode::kPermissionDenied,
                 "it has snapshots, which would go with it: delete those first, with 'az storage "
                 "blob delete --delete-snapshots only'"},
    KnownProblem{"BlobImmutableDueToPolicy", ErrorCode::kPermissionDenied,
                 "the container has an immutability policy: use one without"},
    KnownProblem{"BlobArchived", ErrorCode::kFailed,
                 "it is in the archive tier and cannot be read: move it to a warmer one with 'az "
                 "storage blob set-tier', which takes hours"},
    KnownProblem{"BlobBeingRehydrated", ErrorCode::kUnavailable,
                 "it is on its way out of the archive tier, which takes hours"},
    KnownProblem{"InvalidBlobType", ErrorCode::kFailed,
                 "another program wrote it as a page or append blob: remove it first"},
    KnownProblem{"InvalidBlobOrBlock", ErrorCode::kFailed,
                 "another program has begun to upload it in blocks of its own: let it finish, or "
                 "put something small there, which drops its blocks"},
    KnownProblem{"InvalidBlockList", ErrorCode::kNotFound,
                 "its parts are no longer there: somebody wrote the object meanwhile, or they are "
                 "older than a week; upload it again"},
    KnownProblem{"Md5Mismatch", ErrorCode::kUnavailable,
                 "the bytes were damaged on their way and not stored: try again"},
    KnownProblem{"InvalidRange", ErrorCode::kInvalidArgument,
                 "the range begins at or past the end of the object"},
    KnownProblem{"RequestBodyTooLarge", ErrorCode::kInvalidArgument,
                 "it is too large to be sent at once: upload it in parts"},
};

// What was not accepted, as a person would say it.
std::string proof_of(const AzureAttempt& attempt) {
  std::string_view noun = "the request had no credentials, and";
  if (attempt.proof == Proof::kSharedKey) noun = "the account key";
  if (attempt.proof == Proof::kSas) noun = "the SAS";
  if (attempt.proof == Proof::kToken) noun = "the access token";
  if (attempt.origin.empty() || attempt.proof == Proof::kNone) return std::string(noun);
  return fmt::format("{} ({})", noun, attempt.origin);
}

// More than Azure forgives, which is 15 minutes, is what fails; half of it is worth a word.
std::optional<std::string> clock_complaint(const AzureAttempt& attempt,
                                           const sys::HttpResponse& answer) {
  const auto theirs = cloud::parse_http_date(sys::find_header(answer.headers, "Date").value_or(""));
  if (!theirs) return std::nullopt;
  const Duration ahead = attempt.sent - *theirs;
  if (ahead < std::chrono::minutes(7) && ahead > -std::chrono::minutes(7)) return std::nullopt;
  return fmt::format("this machine's clock is {} {} Azure's: set it, for instance with chrony",
                     format_duration(std::chrono::floor<std::chrono::seconds>(
                         ahead < Duration::zero() ? -ahead : ahead)),
                     ahead < Duration::zero() ? "behind" : "ahead of");
}

std::string failed_authentication(const AzureAttempt& attempt, const sys::HttpResponse& answer,
                                  const AzureProblem& problem) {
  if (attempt.proof == Proof::kSharedKey) {
    if (const auto complaint = clock_complaint(attempt, answer)) return *complaint;
    return fmt::format(
        "Azure does not accept {} of {}: compare it with 'az storage account keys "
        "list --account-name {}'",
        proof_of(attempt), attempt.account, attempt.account);
  }
  if (attempt.proof == Proof::kSas) {
    const bool of_time =
        problem.detail.find("Signed expiry time") != std::string::npos ||
        problem.detail.find("Signature not valid in the specified time frame") != std::string::npos;
    if (const auto complaint = clock_complaint(attempt, answer); of_time && complaint) {
      return *complaint;
    }
    return fmt::format("{} {}: make a new one for this container and set it again",
                       proof_of(attempt),
                       of_time ? "has expired or is not valid yet"
                               : "is not accepted: it has expired, is incomplete or is for "
                                 "something else");
  }
  if (attempt.proof == Proof::kToken) {
    return fmt::format(
        "{} is not accepted: log in again (az login), or check that it is for "
        "https://storage.azure.com/ and the account's own tenant",
        proof_of(attempt));
  }
  return fmt::format(
      "the request had no credentials: set AZURE_STORAGE_KEY or "
      "AZURE_STORAGE_SAS_TOKEN, or log in with az login");
}

std::string missing_permission(const AzureAttempt& attempt) {
  if (attempt.proof == Proof::kSas) {
    return fmt::format("{} does not permit this: make one with the permissions racwdl",
                       proof_of(attempt));
  }
  return fmt::format(
      "{} is accepted but may not do this: give its identity the role 'Storage Blob "
      "Data Contributor' on {}, and wait some minutes until that takes effect",
      proof_of(attempt), attempt.account);
}

// What only the status tells.
Verdict by_status(const AzureAttempt& attempt, int status) {
  // The answer of a server or gateway that lost track does not say what became of a write.
  const ErrorCode lost = attempt.writes ? ErrorCode::kUnknownOutcome : ErrorCode::kUnavailable;
  switch (status) {
    case 400:
      return {ErrorCode::kInvalidArgument, "Azure did not accept the request"};
    case 401:
    case 403:
      return {ErrorCode::kPermissionDenied, fmt::format("{} is not accepted", proof_of(attempt))};
    case 404:
      return {ErrorCode::kNotFound, "there is no such object or container"};
    case 408:
      return {ErrorCode::kUnavailable, "the request took too long to reach Azure: try again"};
    case 409:
      return {ErrorCode::kFailed, "it is in a state that does not allow this"};
    case 412:
      return {ErrorCode::kConditionFailed,
              "the object is gone or has another version: read it again, then decide"};
    case 413:
      return {ErrorCode::kInvalidArgument, "it is too large to be sent at once"};
    case 416:
      return {ErrorCode::kInvalidArgument, "the range begins at or past the end of the object"};
    case 429:
      return {ErrorCode::kThrottled, "Azure asks for fewer requests: try again, slower"};
    case 500:
    case 502:
    case 504:
      return {lost, attempt.writes ? "Azure failed, and whether it was done is not known: look "
                                     "before repeating"
                                   : "Azure failed: try again"};
    case 503:
      return {ErrorCode::kUnavailable, "Azure is not available: try again"};
    case 507:
      return {ErrorCode::kNoSpace, "the account is full"};
    default:
      return {ErrorCode::kFailed, "Azure's answer was not expected"};
  }
}

Verdict judge(const AzureAttempt& attempt, const sys::HttpResponse& answer,
              const AzureProblem& problem) {
  const std::string& code = problem.code;
  const auto* const known = std::ranges::find(kKnownProblems, code, &KnownProblem::azure_code);
  if (known != kKnownProblems.end()) return {known->code, std::string(known->why)};
  if (code == "ContainerNotFound") {
    return {ErrorCode::kNotFound,
            fmt::format("there is no container {} in {}: create it with 'az storage container "
                        "create --account-name {} --name {}'",
                        attempt.container, attempt.account, attempt.account, attempt.container)};
  }
  if (code == "AuthenticationFailed" || answer.status == 401) {
    return {ErrorCode::kPermissionDenied, failed_authentication(attempt, answer, problem)};
  }
  if (code == "AuthorizationPermissionMismatch") {
    return {ErrorCode::kPermissionDenied, missing_permission(attempt)};
  }
  if (code == "AuthorizationFailure") {
    return {ErrorCode::kPermissionDenied,
            fmt::format("{} does not accept {} from here: check it, what it permits, and the "
                        "account's network rules",
                        attempt.account, proof_of(attempt))};
  }
  if (code == "ServerBusy") {
    return {ErrorCode::kThrottled, "Azure is busy: try again, slower"};
  }
  // Azurite's name for Md5Mismatch.
  if (code == "InvalidOperation" && problem.message.find("MD5") != std::string::npos) {
    return {ErrorCode::kUnavailable,
            "the bytes were damaged on their way and not stored: try again"};
  }
  Verdict verdict = by_status(attempt, answer.status);
  const std::string code_shown = code.empty() ? "" : " " + code;
  verdict.why += fmt::format(" (HTTP {}{}{}{})", answer.status, code_shown,
                             problem.message.empty() ? "" : ": ", problem.message);
  return verdict;
}

// Azure's own header is finer than the common one.
std::optional<Duration> retry_after(const sys::HttpHeaders& headers) {
  const auto text = sys::find_header(headers, "x-ms-retry-after-ms").value_or("");
  const auto milliseconds = parse_number<std::uint32_t>(text);
  if (!milliseconds) return cloud::retry_after(headers);
  return std::chrono::milliseconds(*milliseconds);
}

}  // namespace

Error azure_error(const AzureAttempt& attempt, const sys::HttpResponse& answer) {
  const AzureProblem problem = parse_azure_problem(answer);
  const Verdict verdict = judge(attempt, answer, problem);
  Error error(verdict.code, fmt::format("{}: {}", attempt.what, verdict.why));
  const auto wait = retry_after(answer.headers);
  const bool later =
      verdict.code == ErrorCode::kThrottled || verdict.code == ErrorCode::kUnavailable;
  return wait && later ? std::move(error).with_retry_after(*wait) : error;
}

sys::HttpHeaders azure_condition(const WriteIf& condition) {
  if (condition.kind == WriteIf::Kind::kAbsent) return {{"If-None-Match", "*"}};
  if (condition.kind == WriteIf::Kind::kVersion) {
    return {{"If-Match", azure_etag(condition.version)}};
  }
  return {};
}

Error azure_condition_lost(const AzureAttempt& attempt, const WriteIf& condition) {
  if (condition.kind == WriteIf::Kind::kAbsent) {
    return {ErrorCode::kAlreadyExists, attempt.what + ": the object exists already"};
  }
  return {ErrorCode::kConditionFailed,
          attempt.what + ": the object is gone or has another version: read it again, then decide"};
}

Error azure_write_error(const AzureAttempt& attempt, const sys::HttpResponse& answer,
                        const WriteIf& condition) {
  const std::string code = parse_azure_problem(answer).code;
  const bool lost = code == "BlobAlreadyExists" || code == "ConditionNotMet" ||
                    code == "TargetConditionNotMet" || (answer.status == 412 && code.empty()) ||
                    (condition.kind == WriteIf::Kind::kVersion && code == "BlobNotFound");
  if (lost && condition.kind != WriteIf::Kind::kAlways) {
    return azure_condition_lost(attempt, condition);
  }
  return azure_error(attempt, answer);
}

bool azure_wants_new_credentials(const sys::HttpResponse& answer, const AzureProblem& problem) {
  return answer.status == 401 || (answer.status == 403 && problem.code == "AuthenticationFailed");
}

}  // namespace outlast::store
