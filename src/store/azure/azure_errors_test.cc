#include "store/azure/azure_errors.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "store/object_store.h"
#include "sys/http.h"

namespace outlast::store {
namespace {

using Proof = AzureAttempt::Proof;

AzureAttempt attempt_with(Proof proof, bool writes = true) {
  return {.what = "put az://acc/jobs/a",
          .account = "acc",
          .container = "jobs",
          .proof = proof,
          .origin = "AZURE_STORAGE_KEY",
          .writes = writes,
          .sent = parse_rfc3339("2026-11-15T08:30:00Z").value()};
}

sys::HttpResponse refusal(int status, const std::string& code, const std::string& detail = "") {
  return {.status = status,
          .headers = {{"x-ms-error-code", code}, {"Date", "Sun, 15 Nov 2026 08:30:05 GMT"}},
          .body = "<Error><Code>" + code + "</Code><Message>Words of Azure.\nTime:x</Message>" +
                  "<AuthenticationErrorDetail>" + detail + "</AuthenticationErrorDetail></Error>"};
}

TEST(AzureErrors, EachCodeSaysWhetherToTryAgain) {
  struct Case {
    int status;
    const char* azure_code;
    ErrorCode write;
    ErrorCode read;
  };
  const std::vector<Case> cases = {
      {400, "InvalidHeaderValue", ErrorCode::kInvalidArgument, ErrorCode::kInvalidArgument},
      {400, "Md5Mismatch", ErrorCode::kUnavailable, ErrorCode::kUnavailable},
      {401, "InvalidAuthenticationInfo", ErrorCode::kPermissionDenied,
       ErrorCode::kPermissionDenied},
      {401, "", ErrorCode::kPermissionDenied, ErrorCode::kPermissionDenied},
      {403, "AuthenticationFailed", ErrorCode::kPermissionDenied, ErrorCode::kPermissionDenied},
      {403, "AuthorizationPermissionMismatch", ErrorCode::kPermissionDenied,
       ErrorCode::kPermissionDenied},
      {403, "", ErrorCode::kPermissionDenied, ErrorCode::kPermissionDenied},
      {404, "BlobNotFound", ErrorCode::kNotFound, ErrorCode::kNotFound},
      {404, "ContainerNotFound", ErrorCode::kNotFound, ErrorCode::kNotFound},
      {404, "", ErrorCode::kNotFound, ErrorCode::kNotFound},
      {408, "", ErrorCode::kUnavailable, ErrorCode::kUnavailable},
      {409, "SnapshotsPresent", ErrorCode::kPermissionDenied, ErrorCode::kPermissionDenied},
      {412, "ConditionNotMet", ErrorCode::kConditionFailed, ErrorCode::kConditionFailed},
      {412, "LeaseIdMissing", ErrorCode::kPermissionDenied, ErrorCode::kPermissionDenied},
      {413, "RequestBodyTooLarge", ErrorCode::kInvalidArgument, ErrorCode::kInvalidArgument},
      {416, "InvalidRange", ErrorCode::kInvalidArgument, ErrorCode::kInvalidArgument},
      {429, "", ErrorCode::kThrottled, ErrorCode::kThrottled},
      {500, "OperationTimedOut", ErrorCode::kUnknownOutcome, ErrorCode::kUnavailable},
      {500, "InternalError", ErrorCode::kUnknownOutcome, ErrorCode::kUnavailable},
      {502, "", ErrorCode::kUnknownOutcome, ErrorCode::kUnavailable},
      {503, "ServerBusy", ErrorCode::kThrottled, ErrorCode::kThrottled},
      {503, "", ErrorCode::kUnavailable, ErrorCode::kUnavailable},
      {504, "", ErrorCode::kUnknownOutcome, ErrorCode::kUnavailable},
      {507, "", ErrorCode::kNoSpace, ErrorCode::kNoSpace},
      {302, "", ErrorCode::kFailed, ErrorCode::kFailed},
  };
  for (const Case& c : cases) {
    const auto answer = refusal(c.status, c.azure_code);
    const Error write = azure_error(attempt_with(Proof::kSharedKey), answer);
    const Error read = azure_error(attempt_with(Proof::kSharedKey, false), answer);
    EXPECT_EQ(write.code(), c.write) << c.status << " " << c.azure_code;
    EXPECT_EQ(read.code(), c.read) << c.status << " " << c.azure_code;
    EXPECT_TRUE(write.sentence().starts_with("put az://acc/jobs/a: ")) << write.sentence();
  }
}

TEST(AzureErrors, WhatIsNotKnownIsToldInAzuresWords) {
  EXPECT_EQ(azure_error(attempt_with(Proof::kSharedKey), refusal(409, "Strange")).sentence(),
            "put az://acc/jobs/a: it is in a state that does not allow this (HTTP 409 Strange: "
            "Words of Azure)");
  EXPECT_EQ(azure_error(attempt_with(Proof::kSharedKey), {.status = 302}).sentence(),
            "put az://acc/jobs/a: Azure's answer was not expected (HTTP 302)");
}

TEST(AzureErrors, ARefusedProofSaysWhichAndWhatToDo) {
  const auto why = [](Proof proof, const sys::HttpResponse& answer) {
    return azure_error(attempt_with(proof), answer).sentence();
  };
  EXPECT_EQ(
      why(Proof::kSharedKey, refusal(403, "AuthenticationFailed")),
      "put az://acc/jobs/a: Azure does not accept the account key (AZURE_STORAGE_KEY) of acc: "
      "compare it with 'az storage account keys list --account-name acc'");
  const std::string expired =
      why(Proof::kSas,
          refusal(403, "AuthenticationFailed",
                  "Signed expiry time [Sat, 14 Nov 2026] must be after signed start time"));
  EXPECT_NE(expired.find("has expired or is not valid yet"), std::string::npos) << expired;
  EXPECT_EQ(expired.find("14 Nov"), std::string::npos) << "details may quote the request";
  EXPECT_NE(why(Proof::kToken, refusal(401, "InvalidAuthenticationInfo")).find("az login"),
            std::string::npos);
  EXPECT_NE(why(Proof::kNone, refusal(401, "NoAuthenticationInformation")).find("no credentials"),
            std::string::npos);
  EXPECT_NE(why(Proof::kToken, refusal(403, "AuthorizationPermissionMismatch"))
                .find("'Storage Blob Data Contributor' on acc"),
            std::string::npos);
  EXPECT_NE(why(Proof::kSas, refusal(403, "AuthorizationPermissionMismatch")).find("racwdl"),
            std::string::npos);
  EXPECT_NE(why(Proof::kSharedKey, refusal(404, "ContainerNotFound"))
                .find("az storage container create --account-name acc --name jobs"),
            std::string::npos);
}

TEST(AzureErrors, AClockThatIsOffIsBlamed) {
  AzureAttempt attempt = attempt_with(Proof::kSharedKey);
  attempt.sent -= std::chrono::minutes(23);
  EXPECT_EQ(
      azure_error(attempt, refusal(403, "AuthenticationFailed")).sentence(),
      "put az://acc/jobs/a: this machine's clock is 23m5s behind Azure's: set it, for instance "
      "with chrony");
  attempt.sent += std::chrono::hours(1);
  EXPECT_NE(azure_error(attempt, refusal(403, "AuthenticationFailed"))
                .sentence()
                .find("36m55s ahead of Azure's"),
            std::string::npos);
}

TEST(AzureErrors, AConditionLostIsToldFromOtherConflicts) {
  const AzureAttempt attempt = attempt_with(Proof::kSharedKey);
  const auto code = [&](int status, const std::string& azure_code, const WriteIf& condition) {
    return azure_write_error(attempt, refusal(status, azure_code), condition).code();
  };
  EXPECT_EQ(code(409, "BlobAlreadyExists", WriteIf::absent()), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code(412, "ConditionNotMet", WriteIf::absent()), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code(412, "", WriteIf::absent()), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code(412, "ConditionNotMet", WriteIf::version_is("1")), ErrorCode::kConditionFailed);
  EXPECT_EQ(code(404, "BlobNotFound", WriteIf::version_is("1")), ErrorCode::kConditionFailed);
  EXPECT_EQ(code(404, "ContainerNotFound", WriteIf::version_is("1")), ErrorCode::kNotFound);
  EXPECT_EQ(code(409, "ContainerBeingDeleted", WriteIf::absent()), ErrorCode::kNotFound);
  EXPECT_EQ(code(412, "LeaseIdMissing", WriteIf::version_is("1")), ErrorCode::kPermissionDenied);
  EXPECT_EQ(code(409, "BlobAlreadyExists", WriteIf::always()), ErrorCode::kFailed);
}

TEST(AzureErrors, TheWaitThatAzureAsksForIsKept) {
  sys::HttpResponse answer = refusal(503, "ServerBusy");
  const AzureAttempt attempt = attempt_with(Proof::kSharedKey);
  EXPECT_FALSE(azure_error(attempt, answer).retry_after());
  answer.headers.emplace_back("Retry-After", "7");
  EXPECT_EQ(azure_error(attempt, answer).retry_after(), std::chrono::seconds(7));
  answer.headers.emplace_back("x-ms-retry-after-ms", "250");
  EXPECT_EQ(azure_error(attempt, answer).retry_after(), std::chrono::milliseconds(250));
  answer.headers = {{"Retry-After", "-1"}};
  EXPECT_FALSE(azure_error(attempt, answer).retry_after());
}

}  // namespace
}  // namespace outlast::store
