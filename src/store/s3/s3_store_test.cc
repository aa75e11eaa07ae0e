#include "store/s3/s3_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "cloud/sigv4.h"
#include "store/object_store.h"
#include "store/s3/testing/scripted_http.h"
#include "sys/http.h"

namespace outlast::store::s3::testing {
namespace {

class S3StoreTest : public ::testing::Test {
 protected:
  void open(const S3Options& options) {
    auto store = make_s3_store(options, http_, clock_, keys_);
    ASSERT_TRUE(store) << store.error().to_string();
    store_ = *std::move(store);
  }
  void SetUp() override { open({.bucket = "bkt", .endpoint = "http://127.0.0.1:9000"}); }
  void TearDown() override { EXPECT_TRUE(http_.all_used()); }

  Result<std::string> put(const std::string& text, const WriteIf& condition = {}) {
    return store_->put("a b", as_bytes(text), condition, {});
  }
  Result<std::string> get(const GetOptions& options = {}) {
    std::string text;
    const auto info = store_->get("a b", options,
                                  [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                                    text += as_text(piece);
                                    return {};
                                  },
                                  {});
    if (!info) return info.error();
    return text;
  }
  template <typename T>
  static ErrorCode code_of(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kFailed : result.error().code();
  }

  ScriptedHttp http_;
  StoppedClock clock_;
  NumberedKeys keys_;
  std::unique_ptr<ObjectStore> store_;
};

const sys::HttpHeaders kWritten = {{"ETag", "\"e1\""}};
const sys::HttpHeaders kKept = {{"ETag", "\"e1\""}, {"x-amz-checksum-crc32c", "mnG7TA=="}};
const sys::HttpHeaders kHello = {{"ETag", "\"e1\""},
                                 {"Content-Length", "5"},
                                 {"Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT"}};

TEST_F(S3StoreTest, APutIsSignedAndGivesTheEtagAsVersion) {
  http_.answer(200, kWritten);
  EXPECT_EQ(put("hello").value(), "e1");
  const SentRequest& sent = http_.sent.at(0);
  EXPECT_EQ(sent.method, "PUT");
  EXPECT_EQ(sent.url, "http://127.0.0.1:9000/bkt/a%20b");
  EXPECT_EQ(sent.body, "hello");
  EXPECT_EQ(sent.header("Host"), "127.0.0.1:9000");
  EXPECT_EQ(sent.header("X-Amz-Date"), "20260102T030405Z");
  EXPECT_EQ(sent.header("X-Amz-Content-Sha256"), sha256(as_bytes("hello")).hex());
  EXPECT_EQ(sent.header("x-amz-checksum-crc32c"), "mnG7TA==");
  EXPECT_FALSE(sent.has("If-Match") || sent.has("If-None-Match"));
}

TEST_F(S3StoreTest, TheHashIsLeftOutOnceTheServerHasKeptAChecksum) {
  for (int i = 0; i < 3; ++i) http_.answer(200, i == 0 ? kWritten : kKept);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(put("hello"));
  EXPECT_EQ(http_.sent[1].header("X-Amz-Content-Sha256"), sha256(as_bytes("hello")).hex());
  EXPECT_EQ(http_.sent[2].header("X-Amz-Content-Sha256"), cloud::kUnsignedPayload);
  EXPECT_EQ(http_.sent[2].header("x-amz-checksum-crc32c"), "mnG7TA==");
}

TEST_F(S3StoreTest, TheHashStaysWhereOthersListenIn) {
  open({.bucket = "bkt", .endpoint = "http://s3.example.org"});
  http_.answer(200, kKept);
  http_.answer(200, kKept);
  ASSERT_TRUE(put("hello") && put("hello"));
  EXPECT_EQ(http_.sent[1].header("X-Amz-Content-Sha256"), sha256(as_bytes("hello")).hex());
}

TEST_F(S3StoreTest, AServerThatRefusesChecksumsGetsTheOldOne) {
  http_.refuse(501, "NotImplemented");
  http_.answer(200, kWritten);
  http_.answer(200, kWritten);
  ASSERT_TRUE(put("hello") && put("hello"));
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_FALSE(http_.sent[i].has("x-amz-checksum-crc32c"));
    EXPECT_EQ(http_.sent[i].header("Content-MD5"), "XUFAKrxLKna5cZ2REBfFkg==");
    EXPECT_EQ(http_.sent[i].header("X-Amz-Content-Sha256"), sha256(as_bytes("hello")).hex());
  }
}

TEST_F(S3StoreTest, ARefusalThatHadNothingToDoWithChecksumsTeachesNothing) {
  http_.refuse(501, "NotImplemented");
  http_.refuse(501, "NotImplemented");
  EXPECT_EQ(code_of(put("hello")), ErrorCode::kFailed);
  http_.answer(200, kWritten);
  ASSERT_TRUE(put("hello"));
  EXPECT_TRUE(http_.sent[2].has("x-amz-checksum-crc32c"));
}

TEST_F(S3StoreTest, ConditionsAreHeadersAndTheirLossHasItsOwnCode) {
  http_.refuse(412, "PreconditionFailed");
  EXPECT_EQ(code_of(put("x", WriteIf::absent())), ErrorCode::kAlreadyExists);
  EXPECT_EQ(http_.sent[0].header("If-None-Match"), "*");
  http_.answer(200, kWritten);
  ASSERT_TRUE(put("x", WriteIf::version_is("e0")));
  EXPECT_EQ(http_.sent[1].header("If-Match"), "\"e0\"");
  http_.refuse(412, "PreconditionFailed");
  EXPECT_EQ(code_of(put("x", WriteIf::version_is("e0"))), ErrorCode::kConditionFailed);
  http_.refuse(404, "NoSuchKey");
  EXPECT_EQ(code_of(put("x", WriteIf::version_is("e0"))), ErrorCode::kConditionFailed);
  http_.refuse(404, "NoSuchBucket");
  EXPECT_EQ(code_of(put("x", WriteIf::version_is("e0"))), ErrorCode::kNotFound);
  http_.refuse(409, "ConditionalRequestConflict");
  EXPECT_EQ(code_of(put("x", WriteIf::absent())), ErrorCode::kUnavailable);
}

TEST_F(S3StoreTest, AVersionThatNoServerGivesIsNeverSent) {
  for (const char* version : {"", "a\"b", "a\r\nX-Evil: 1", "*"}) {
    if (std::string_view(version) == "*") http_.refuse(412, "PreconditionFailed");
    if (std::string_view(version) == "*") http_.answer(200, kHello);
    EXPECT_EQ(code_of(put("x", WriteIf::version_is(version))), ErrorCode::kConditionFailed);
  }
  // A star is an ETag like any other, in its quotes.
  EXPECT_EQ(http_.sent.at(0).header("If-Match"), "\"*\"");
}

TEST_F(S3StoreTest, AServerThatComparesWithTheQuotesGetsNone) {
  http_.refuse(412, "PreconditionFailed");
  http_.answer(200, kHello);
  http_.answer(200, {{"ETag", "\"e2\""}});
  EXPECT_EQ(put("x", WriteIf::version_is("e1")).value(), "e2");
  EXPECT_EQ(http_.sent[1].method, "HEAD");
  EXPECT_EQ(http_.sent[2].header("If-Match"), "e1");
  http_.refuse(412, "PreconditionFailed");
  EXPECT_EQ(code_of(put("x", WriteIf::version_is("e1"))), ErrorCode::kConditionFailed);
  EXPECT_EQ(http_.sent[3].header("If-Match"), "e1");
}

TEST_F(S3StoreTest, AServerThatWasRightOnceIsNotSuspectedAgain) {
  http_.answer(200, kWritten);
  ASSERT_TRUE(put("x", WriteIf::version_is("e0")));
  http_.refuse(412, "PreconditionFailed");
  EXPECT_EQ(code_of(put("x", WriteIf::version_is("e1"))), ErrorCode::kConditionFailed);
}

TEST_F(S3StoreTest, AMissingVersionIsLookedUp) {
  http_.answer(200);
  http_.answer(200, kHello);
  EXPECT_EQ(put("hello").value(), "e1");
  http_.answer(200);
  http_.answer(503);
  EXPECT_EQ(code_of(put("hello")), ErrorCode::kUnknownOutcome);
}

TEST_F(S3StoreTest, ALostAnswerToAWriteIsNotGuessed) {
  http_.fail(ErrorCode::kUnknownOutcome);
  EXPECT_EQ(code_of(put("x")), ErrorCode::kUnknownOutcome);
  http_.fail(ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(put("x")), ErrorCode::kUnavailable);
  http_.answer(502, {}, "<html>Bad Gateway</html>");
  EXPECT_EQ(code_of(put("x")), ErrorCode::kUnknownOutcome);
}

TEST_F(S3StoreTest, TheRightRegionIsLearntOnce) {
  open({.bucket = "bkt"});
  http_.answer(301, {{"x-amz-bucket-region", "eu-west-3"}});
  http_.answer(200, kWritten);
  http_.answer(200, kWritten);
  ASSERT_TRUE(put("x") && put("x"));
  EXPECT_EQ(http_.sent[0].url, "https://bkt.s3.us-east-1.amazonaws.com/a%20b");
  EXPECT_EQ(http_.sent[0].signed_region(), "us-east-1");
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(http_.sent[i].url, "https://bkt.s3.eu-west-3.amazonaws.com/a%20b");
    EXPECT_EQ(http_.sent[i].signed_region(), "eu-west-3");
  }
}

TEST_F(S3StoreTest, AnotherServersRegionIsLearntFromItsWords) {
  http_.refuse(400, "AuthorizationHeaderMalformed", {}, "<Region>here</Region>");
  http_.answer(200, kWritten);
  ASSERT_TRUE(put("x"));
  EXPECT_EQ(http_.sent[1].url, "http://127.0.0.1:9000/bkt/a%20b");
  EXPECT_EQ(http_.sent[1].signed_region(), "here");
}

TEST_F(S3StoreTest, ServersThatSendUsInCirclesAreLeft) {
  open({.bucket = "bkt"});
  http_.refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "eu-west-3"}});
  http_.refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "us-east-1"}});
  EXPECT_EQ(code_of(put("x")), ErrorCode::kInvalidArgument);
}

TEST_F(S3StoreTest, AWrongClockIsSetByTheServersOnce) {
  const sys::HttpHeaders date = {{"Date", "Fri, 02 Jan 2026 05:04:05 GMT"}};
  http_.refuse(403, "RequestTimeTooSkewed", date);
  http_.answer(200, kWritten);
  http_.answer(200, kWritten);
  ASSERT_TRUE(put("x") && put("x"));
  EXPECT_EQ(http_.sent[0].header("X-Amz-Date"), "20260102T030405Z");
  EXPECT_EQ(http_.sent[1].header("X-Amz-Date"), "20260102T050405Z");
  EXPECT_EQ(http_.sent[2].header("X-Amz-Date"), "20260102T050405Z");
  http_.refuse(403, "RequestTimeTooSkewed", date);
  http_.refuse(403, "RequestTimeTooSkewed", date);
  EXPECT_EQ(code_of(put("x")), ErrorCode::kFailed);
}

TEST_F(S3StoreTest, ExpiredCredentialsAreFetchedAnewOnce) {
  http_.refuse(400, "ExpiredToken");
  http_.answer(200, kWritten);
  ASSERT_TRUE(put("x"));
  EXPECT_NE(http_.sent[1].header("Authorization").find("Credential=AK1/"), std::string::npos);
  http_.refuse(400, "ExpiredToken");
  http_.refuse(400, "ExpiredToken");
  EXPECT_EQ(code_of(put("x")), ErrorCode::kPermissionDenied);
  EXPECT_EQ(keys_.forgotten, 2);
}

TEST_F(S3StoreTest, NoSecretIsInASentence) {
  http_.refuse(403, "SignatureDoesNotMatch");
  const auto refused = put("x");
  ASSERT_FALSE(refused);
  const std::string text = refused.error().to_string();
  EXPECT_EQ(text.find("hush"), std::string::npos) << text;
  EXPECT_NE(text.find("put s3://bkt/a b: "), std::string::npos) << text;
  EXPECT_NE(text.find("the credentials are from the test"), std::string::npos) << text;
}

TEST_F(S3StoreTest, AReadIsCheckedAgainstTheStoredChecksum) {
  sys::HttpHeaders headers = kHello;
  headers.emplace_back("x-amz-checksum-crc32c", "mnG7TA==");
  http_.answer(200, headers, "hello");
  EXPECT_EQ(get().value(), "hello");
  EXPECT_EQ(http_.sent[0].header("x-amz-checksum-mode"), "ENABLED");
  http_.answer(200, headers, "hellO");
  EXPECT_EQ(code_of(get()), ErrorCode::kCorrupt);
  headers.back().second = "AAAAAA==-2";
  http_.answer(200, headers, "hello");
  EXPECT_EQ(get().value(), "hello");
}

TEST_F(S3StoreTest, ARangeIsWhatWasAskedFor) {
  const ByteRange range{.offset = 2, .length = 3};
  sys::HttpHeaders headers = kHello;
  headers.emplace_back("Content-Range", "bytes 2-4/100");
  http_.answer(206, headers, "llo");
  EXPECT_EQ(get({.range = range, .if_version = "e1"}).value(), "llo");
  EXPECT_EQ(http_.sent[0].header("Range"), "bytes=2-4");
  EXPECT_EQ(http_.sent[0].header("If-Match"), "\"e1\"");
  headers.back().second = "bytes 3-5/100";
  http_.answer(206, headers, "lo!");
  EXPECT_EQ(code_of(get({.range = range})), ErrorCode::kFailed);
  http_.answer(200, kHello, "hello");
  EXPECT_EQ(code_of(get({.range = range})), ErrorCode::kFailed);
  http_.refuse(416, "InvalidRange");
  EXPECT_EQ(code_of(get({.range = range})), ErrorCode::kInvalidArgument);
  http_.refuse(412, "PreconditionFailed");
  EXPECT_EQ(code_of(get({.range = range, .if_version = "e0"})), ErrorCode::kConditionFailed);
  EXPECT_EQ(code_of(get({.range = ByteRange{.offset = 2, .length = 0}})),
            ErrorCode::kInvalidArgument);
}

TEST_F(S3StoreTest, AHugeRangeDoesNotWrapAround) {
  http_.answer(416);
  EXPECT_EQ(code_of(get({.range = ByteRange{.offset = 1, .length = ~std::uint64_t{0}}})),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(http_.sent[0].header("Range"), "bytes=1-9223372036854775807");
}

TEST_F(S3StoreTest, AHeadsRefusalIsExplainedByARead) {
  http_.answer(404);
  http_.refuse(404, "NoSuchBucket");
  const auto missing = store_->head("k", {});
  EXPECT_EQ(code_of(missing), ErrorCode::kNotFound);
  EXPECT_NE(missing.error().to_string().find("no such bucket"), std::string::npos);
  http_.answer(403);
  http_.refuse(403, "RequestTimeTooSkewed", {{"Date", "Fri, 02 Jan 2026 05:04:05 GMT"}});
  http_.answer(206, kHello, "h");
  http_.answer(200, kHello);
  EXPECT_EQ(store_->head("k", {})->size, 5U);
  // From now on the bucket is known to exist.
  http_.answer(404);
  EXPECT_EQ(code_of(store_->head("k", {})), ErrorCode::kNotFound);
}

TEST_F(S3StoreTest, AListIsAskedForPageByPage) {
  http_.answer(200, {},
               "<ListBucketResult><IsTruncated>true</IsTruncated>"
               "<NextContinuationToken>t/1</NextContinuationToken></ListBucketResult>");
  const ListOptions options{
      .prefix = "p q/", .start_after = "p q/a", .folders = true, .page_max = 5000};
  const auto page = store_->list(options, {});
  ASSERT_TRUE(page) << page.error().to_string();
  EXPECT_EQ(http_.sent[0].url,
            "http://127.0.0.1:9000/bkt?list-type=2&encoding-type=url&max-keys=1000&prefix=p%20q%2F"
            "&delimiter=%2F&start-after=p%20q%2Fa");
  http_.answer(200, {}, "<ListBucketResult/>");
  EXPECT_EQ(store_->list({.page_token = page->next}, {})->next, "");
  EXPECT_NE(http_.sent[1].url.find("&continuation-token=t%2F1"), std::string::npos);
  http_.answer(200, {}, "<html>Welcome to the hotel</html>");
  EXPECT_EQ(code_of(store_->list({}, {})), ErrorCode::kFailed);
  EXPECT_EQ(code_of(store_->list({.page_max = 0}, {})), ErrorCode::kInvalidArgument);
}

TEST_F(S3StoreTest, RemovingNothingIsFine) {
  http_.answer(204);
  http_.refuse(404, "NoSuchKey");
  EXPECT_TRUE(store_->remove("k", {}));
  EXPECT_TRUE(store_->remove("k", {}));
  http_.refuse(404, "NoSuchBucket");
  EXPECT_EQ(code_of(store_->remove("k", {})), ErrorCode::kNotFound);
}

TEST_F(S3StoreTest, RemoveIfLooksFirstWhereTheServerMayNot) {
  EXPECT_FALSE(store_->properties().conditional_remove);
  http_.answer(200, kHello);
  EXPECT_EQ(code_of(store_->remove_if("k", "e0", {})), ErrorCode::kConditionFailed);
  http_.answer(200, kHello);
  http_.answer(204);
  EXPECT_TRUE(store_->remove_if("k", "e1", {}));
  EXPECT_EQ(http_.sent.back().method, "DELETE");
  EXPECT_EQ(http_.sent.back().header("If-Match"), "\"e1\"");
  http_.answer(404);
  EXPECT_TRUE(store_->remove_if("k", "e1", {}));
}

TEST_F(S3StoreTest, AmazonJudgesTheRemovalItself) {
  open({.bucket = "bkt", .region = "us-east-1"});
  EXPECT_TRUE(store_->properties().conditional_remove);
  EXPECT_TRUE(store_->properties().conditional_upload);
  http_.answer(204);
  EXPECT_TRUE(store_->remove_if("k", "e1", {}));
  http_.refuse(412, "PreconditionFailed");
  http_.answer(200, kHello);
  EXPECT_EQ(code_of(store_->remove_if("k", "e0", {})), ErrorCode::kConditionFailed);
  http_.refuse(412, "PreconditionFailed");
  http_.answer(404);
  EXPECT_TRUE(store_->remove_if("k", "e0", {}));
}

TEST_F(S3StoreTest, ASignedUrlIsForTheBucketsRegion) {
  open({.bucket = "bkt"});
  http_.answer(301, {{"x-amz-bucket-region", "eu-west-3"}});
  http_.answer(200, kHello);
  const auto url = store_->signed_url("a b", std::chrono::hours(1), {});
  ASSERT_TRUE(url) << url.error().to_string();
  EXPECT_TRUE(url->reveal().starts_with(
      "https://bkt.s3.eu-west-3.amazonaws.com/a%20b?X-Amz-Algorithm=AWS4-HMAC-SHA256&"));
  EXPECT_NE(url->reveal().find("%2Feu-west-3%2Fs3%2F"), std::string::npos);
  EXPECT_NE(url->reveal().find("X-Amz-Expires=3600&"), std::string::npos);
  for (const Duration bad : {Duration::zero(), Duration(std::chrono::hours(24 * 7 + 1))}) {
    EXPECT_EQ(code_of(store_->signed_url("a", bad, {})), ErrorCode::kInvalidArgument);
  }
}

TEST_F(S3StoreTest, TheServersTimeIsInItsAnswers) {
  http_.answer(200, {{"Date", "Fri, 02 Jan 2026 05:04:05 GMT"}});
  EXPECT_EQ(store_->server_time({}).value(), clock_.now + std::chrono::hours(2));
  EXPECT_EQ(http_.sent[0].method, "HEAD");
  EXPECT_EQ(http_.sent[0].url, "http://127.0.0.1:9000/bkt");
  http_.answer(200);
  EXPECT_FALSE(store_->server_time({}));
}

}  // namespace
}  // namespace outlast::store::s3::testing
