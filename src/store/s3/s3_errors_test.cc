#include "store/s3/s3_errors.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "store/object_store.h"
#include "store/s3/s3_answers.h"

namespace outlast::store::s3 {
namespace {

Error error_for(Operation operation, int status, const std::string& code = "") {
  const Refusal refusal{.code = code, .message = "in words", .request = "R1"};
  return error_of({.operation = operation,
                   .status = status,
                   .refusal = &refusal,
                   .retry_after = std::chrono::seconds(7),
                   .url = "s3://bkt/k",
                   .server = "https://s3.example.org",
                   .region = "us-east-1",
                   .credentials = "the test"});
}

struct Case {
  int status = 0;
  const char* code = "";
  ErrorCode reads = ErrorCode::kFailed;
  ErrorCode writes = ErrorCode::kFailed;
};

TEST(S3Errors, SayWhatAProgramMayDo) {
  using enum ErrorCode;
  for (const Case& one : {
           Case{.status = 404, .code = "NoSuchBucket", .reads = kNotFound, .writes = kNotFound},
           Case{.status = 404, .code = "NoSuchKey", .reads = kNotFound, .writes = kNotFound},
           Case{.status = 404, .code = "NoSuchUpload", .reads = kNotFound, .writes = kNotFound},
           Case{.status = 404, .reads = kNotFound, .writes = kNotFound},
           Case{.status = 403,
                .code = "AccessDenied",
                .reads = kPermissionDenied,
                .writes = kPermissionDenied},
           Case{.status = 403, .reads = kPermissionDenied, .writes = kPermissionDenied},
           Case{.status = 403,
                .code = "SomethingNew",
                .reads = kPermissionDenied,
                .writes = kPermissionDenied},
           Case{.status = 403,
                .code = "SignatureDoesNotMatch",
                .reads = kPermissionDenied,
                .writes = kPermissionDenied},
           Case{.status = 403,
                .code = "InvalidAccessKeyId",
                .reads = kPermissionDenied,
                .writes = kPermissionDenied},
           Case{.status = 400,
                .code = "ExpiredToken",
                .reads = kPermissionDenied,
                .writes = kPermissionDenied},
           Case{.status = 400,
                .code = "InvalidToken",
                .reads = kPermissionDenied,
                .writes = kPermissionDenied},
           Case{.status = 403, .code = "RequestTimeTooSkewed", .reads = kFailed, .writes = kFailed},
           Case{.status = 301,
                .code = "PermanentRedirect",
                .reads = kInvalidArgument,
                .writes = kInvalidArgument},
           Case{.status = 301, .reads = kInvalidArgument, .writes = kInvalidArgument},
           Case{.status = 503, .code = "SlowDown", .reads = kThrottled, .writes = kThrottled},
           Case{.status = 429, .reads = kThrottled, .writes = kThrottled},
           Case{.status = 503,
                .code = "ServiceUnavailable",
                .reads = kUnavailable,
                .writes = kUnavailable},
           Case{.status = 503, .reads = kUnavailable, .writes = kUnavailable},
           Case{.status = 400,
                .code = "RequestTimeout",
                .reads = kUnavailable,
                .writes = kUnavailable},
           Case{.status = 409,
                .code = "ConditionalRequestConflict",
                .reads = kUnavailable,
                .writes = kUnavailable},
           Case{.status = 409,
                .code = "OperationAborted",
                .reads = kUnavailable,
                .writes = kUnavailable},
           Case{.status = 409,
                .code = "ObjectParentIsFile",
                .reads = kInvalidArgument,
                .writes = kInvalidArgument},
           Case{.status = 400, .code = "BadDigest", .reads = kUnavailable, .writes = kUnavailable},
           Case{.status = 400,
                .code = "XAmzContentSHA256Mismatch",
                .reads = kUnavailable,
                .writes = kUnavailable},
           Case{.status = 500,
                .code = "InternalError",
                .reads = kUnavailable,
                .writes = kUnknownOutcome},
           Case{.status = 500, .reads = kUnavailable, .writes = kUnknownOutcome},
           Case{.status = 502, .reads = kUnavailable, .writes = kUnknownOutcome},
           Case{.status = 504, .reads = kUnavailable, .writes = kUnknownOutcome},
           Case{.status = 507, .reads = kNoSpace, .writes = kNoSpace},
           Case{.status = 403, .code = "QuotaExceeded", .reads = kNoSpace, .writes = kNoSpace},
           Case{.status = 416,
                .code = "InvalidRange",
                .reads = kInvalidArgument,
                .writes = kInvalidArgument},
           Case{.status = 412,
                .code = "PreconditionFailed",
                .reads = kConditionFailed,
                .writes = kConditionFailed},
           Case{.status = 400,
                .code = "EntityTooSmall",
                .reads = kInvalidArgument,
                .writes = kInvalidArgument},
           Case{.status = 501, .code = "NotImplemented", .reads = kFailed, .writes = kFailed},
           Case{.status = 418, .reads = kFailed, .writes = kFailed},
       }) {
    EXPECT_EQ(error_for(Operation::kGet, one.status, one.code).code(), one.reads)
        << one.status << " " << one.code;
    for (const Operation write : {Operation::kPut, Operation::kRemove, Operation::kComplete}) {
      EXPECT_EQ(error_for(write, one.status, one.code).code(), one.writes)
          << one.status << " " << one.code;
    }
  }
}

TEST(S3Errors, SayToAPersonWhatWhereAndWhatToDo) {
  EXPECT_EQ(
      error_for(Operation::kPut, 403, "AccessDenied").to_string(),
      "put s3://bkt/k: access is denied: allow s3:PutObject on it; the credentials are from the "
      "test; the server is https://s3.example.org (403 AccessDenied: \"in words\"; request R1)");
  EXPECT_EQ(
      error_for(Operation::kList, 404, "NoSuchBucket").to_string(),
      "list s3://bkt/k: there is no such bucket: create it, or correct the URL; the server is "
      "https://s3.example.org (404 NoSuchBucket: \"in words\"; request R1)");
  const std::string skewed = error_for(Operation::kGet, 403, "RequestTimeTooSkewed").to_string();
  EXPECT_NE(skewed.find("set the clock"), std::string::npos) << skewed;
}

TEST(S3Errors, CarryHowLongToStayAway) {
  EXPECT_EQ(error_for(Operation::kPut, 503, "SlowDown").retry_after(), std::chrono::seconds(7));
  EXPECT_FALSE(error_for(Operation::kPut, 403, "AccessDenied").retry_after());
}

TEST(S3Errors, TellTheConditionsApart) {
  EXPECT_EQ(lost(Operation::kPut, "s3://bkt/k", WriteIf::absent()).code(),
            ErrorCode::kAlreadyExists);
  EXPECT_EQ(lost(Operation::kPut, "s3://bkt/k", WriteIf::version_is("v")).code(),
            ErrorCode::kConditionFailed);
}

}  // namespace
}  // namespace outlast::store::s3
