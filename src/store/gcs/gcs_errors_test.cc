#include "store/gcs/gcs_errors.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "base/error.h"
#include "store/object_store.h"
#include "sys/http.h"

namespace outlast::store::gcs {
namespace {

using Kind = Attempt::Kind;

sys::HttpResponse answer(int status, const std::string& reason = "",
                         const std::string& message = "") {
  return {.status = status,
          .body = R"({"error":{"message":")" + message + R"(","errors":[{"reason":")" + reason +
                  R"("}]}})"};
}

ErrorCode code(Kind kind, const sys::HttpResponse& answer) {
  return refused({.what = "put gs://b/k", .kind = kind}, answer).code();
}

TEST(GcsErrors, AFaultOfTheServerLeavesWritesInDoubt) {
  for (const int status : {408, 500, 502, 503, 504}) {
    EXPECT_EQ(code(Kind::kWrite, answer(status)), ErrorCode::kUnknownOutcome) << status;
    EXPECT_EQ(code(Kind::kRead, answer(status)), ErrorCode::kUnavailable) << status;
    EXPECT_EQ(code(Kind::kSession, answer(status)), ErrorCode::kUnavailable) << status;
  }
}

TEST(GcsErrors, TooMuchIsNotForbidden) {
  EXPECT_EQ(code(Kind::kWrite, answer(429)), ErrorCode::kThrottled);
  EXPECT_EQ(code(Kind::kWrite, answer(403, "rateLimitExceeded")), ErrorCode::kThrottled);
  EXPECT_EQ(code(Kind::kWrite, answer(403, "storageQuotaExceeded")), ErrorCode::kNoSpace);
  EXPECT_EQ(code(Kind::kWrite, answer(403, "forbidden")), ErrorCode::kPermissionDenied);
}

TEST(GcsErrors, AForbiddenCallNamesTheRole) {
  const Error read =
      refused({.what = "get gs://b/k", .credentials = "key.json"},
              answer(403, "forbidden", "x does not have storage.objects.get access"));
  EXPECT_NE(read.sentence().find("roles/storage.objectViewer"), std::string::npos);
  EXPECT_NE(read.sentence().find("key.json"), std::string::npos);
  EXPECT_NE(read.sentence().find("storage.objects.get"), std::string::npos);
  const Error write = refused({.what = "put gs://b/k", .kind = Kind::kWrite}, answer(403));
  EXPECT_NE(write.sentence().find("roles/storage.objectAdmin"), std::string::npos);
}

TEST(GcsErrors, ALostConditionIsWhatTheCallerAskedFor) {
  EXPECT_EQ(refused({.what = "put", .condition = WriteIf::Kind::kAbsent}, answer(412)).code(),
            ErrorCode::kAlreadyExists);
  EXPECT_EQ(refused({.what = "put", .condition = WriteIf::Kind::kVersion}, answer(412)).code(),
            ErrorCode::kConditionFailed);
}

TEST(GcsErrors, AMissingBucketIsNoMissingObject) {
  const sys::HttpResponse no_bucket =
      answer(404, "notFound", "The specified bucket does not exist.");
  const sys::HttpResponse no_object = answer(404, "notFound", "No such object: bucket/key");
  EXPECT_TRUE(is_missing_bucket(no_bucket));
  EXPECT_FALSE(is_missing_bucket(no_object));
  EXPECT_NE(refused({.what = "get gs://b/k"}, no_bucket).sentence().find("no such bucket"),
            std::string::npos);
  EXPECT_NE(refused({.what = "get gs://b/k"}, no_object).sentence().find("no such object"),
            std::string::npos);
  EXPECT_NE(refused({.what = "list gs://b/", .of_bucket = true}, answer(404))
                .sentence()
                .find("no such bucket"),
            std::string::npos);
}

TEST(GcsErrors, DamagedBytesMayBeSentAgain) {
  EXPECT_EQ(code(Kind::kWrite, answer(400, "invalid", "Provided CRC32C doesn't match")),
            ErrorCode::kUnavailable);
  EXPECT_EQ(code(Kind::kWrite, answer(400, "invalid", "no such parameter")),
            ErrorCode::kInvalidArgument);
}

TEST(GcsErrors, RetryAfterIsKept) {
  const auto wait = [](std::string text) {
    sys::HttpResponse busy = answer(429);
    busy.headers = {{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"}, {"Retry-After", std::move(text)}};
    return refused({.what = "get"}, busy).retry_after();
  };
  EXPECT_EQ(wait("7"), std::chrono::seconds(7));
  EXPECT_EQ(wait("Sun, 06 Nov 1994 08:50:37 GMT"), std::chrono::seconds(60));
  EXPECT_EQ(wait("999999"), std::chrono::hours(1));
  EXPECT_FALSE(wait("soon"));
  EXPECT_FALSE(wait("-1"));
  EXPECT_FALSE(wait("Sun, 06 Nov 1994 08:00:00 GMT"));
  EXPECT_FALSE(refused({.what = "get"}, answer(503)).retry_after());
}

TEST(GcsErrors, APageThatIsNoJsonIsStillASentence) {
  const Error error =
      refused({.what = "get gs://b/k"}, {.status = 502, .body = "<html><b>Bad Gateway</b></html>"});
  EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(error.sentence(), "get gs://b/k: try again (the answer was 502, 'Bad Gateway')");
  EXPECT_EQ(code(Kind::kWrite, answer(501)), ErrorCode::kFailed);
  const Error redirect = refused({.what = "get gs://b/k"}, {.status = 302});
  EXPECT_EQ(redirect.code(), ErrorCode::kFailed);
  EXPECT_NE(redirect.sentence().find("endpoint"), std::string::npos);
}

}  // namespace
}  // namespace outlast::store::gcs
