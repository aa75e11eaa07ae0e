#include "store/gcs/gcs_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/secret.h"
#include "cloud/credentials.h"
#include "store/gcs/gcs_answers.h"
#include "store/gcs/testing/gcs_rig.h"
#include "store/gcs/testing/scripted_http_client.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/posix_world.h"

namespace outlast::store {
namespace {

using gcs::testing::ScriptedHttpClient;

// Gives "first", and after forget() "second", …
class CountedCredentials : public cloud::CredentialSource<cloud::BearerToken> {
 public:
  Result<cloud::BearerToken> get(const sys::CallContext&) override {
    return cloud::BearerToken{.token = Secret<std::string>("token-" + std::to_string(forgotten_))};
  }
  void forget() override { ++forgotten_; }
  std::string origin() override { return "the counted credentials"; }

 private:
  int forgotten_ = 0;
};

class GcsStoreTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(http.is_done()); }

  static std::string object_json(const std::string& name, const std::string& content) {
    return R"({"name":")" + name + R"(","size":")" + std::to_string(content.size()) +
           R"(","generation":"17","crc32c":")" + gcs::format_crc32c(crc32c(as_bytes(content))) +
           R"("})";
  }
  static sys::HttpResponse media(int status, const std::string& body, const std::string& whole) {
    return {.status = status,
            .headers = {{"x-goog-generation", "17"},
                        {"x-goog-stored-content-length", std::to_string(whole.size())},
                        {"x-goog-hash", "crc32c=" + gcs::format_crc32c(crc32c(as_bytes(whole)))}},
            .body = body};
  }
  Result<std::string> get(const GetOptions& options = {}) {
    std::string text;
    OUTLAST_TRY(store->get("a/b", options,
                           [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                             text += as_text(piece);
                             return {};
                           },
                           {}));
    return text;
  }

  sys::RealWorld real;
  ScriptedHttpClient http;
  CountedCredentials credentials;
  std::unique_ptr<ObjectStore> store =
      make_gcs_store({.bucket = "bkt", .endpoint = "https://gcs.test/"}, http, real.world().clock,
                     credentials, nullptr);
};

TEST_F(GcsStoreTest, APutSendsNameAndChecksumBeforeTheBytes) {
  http.plan(sys::HttpResponse{.status = 200, .body = object_json("a/b", "123456789")});
  const auto version = store->put("a/b", as_bytes("123456789"), WriteIf::absent(), {});
  ASSERT_TRUE(version) << version.error().to_string();
  EXPECT_EQ(*version, "17");
  const auto& sent = http.sent().at(0);
  EXPECT_EQ(sent.method, "POST");
  EXPECT_EQ(sent.url,
            "https://gcs.test/upload/storage/v1/b/bkt/o?uploadType=multipart&ifGenerationMatch=0");
  EXPECT_EQ(sent.header("Authorization"), "Bearer token-0");
  EXPECT_EQ(sent.header("Content-Type"), "multipart/related; boundary=outlast-part-0");
  EXPECT_EQ(sent.body,
            "--outlast-part-0\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
            R"({"crc32c":"4waSgw==","name":"a/b"})"
            "\r\n--outlast-part-0\r\nContent-Type: application/octet-stream\r\n\r\n"
            "123456789\r\n--outlast-part-0--\r\n");
}

TEST_F(GcsStoreTest, AVersionThatIsNoGenerationNeverMeansAbsent) {
  for (const char* version : {"0", "nonsense", "-1"}) {
    http.plan(sys::HttpResponse{.status = 412});
    const auto put = store->put("a", as_bytes("x"), WriteIf::version_is(version), {});
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code(), ErrorCode::kConditionFailed);
    EXPECT_TRUE(http.sent().back().url.ends_with("ifGenerationMatch=9223372036854775807"));
  }
}

TEST_F(GcsStoreTest, OtherBytesThanWereSentAreCorrupt) {
  http.plan(sys::HttpResponse{.status = 200, .body = object_json("a", "xyz")});
  EXPECT_EQ(store->put("a", as_bytes("abc"), {}, {}).error().code(), ErrorCode::kCorrupt);
  http.plan(sys::HttpResponse{.status = 200, .body = object_json("a", "abcd")});
  EXPECT_EQ(store->put("a", as_bytes("abc"), {}, {}).error().code(), ErrorCode::kCorrupt);
}

TEST_F(GcsStoreTest, AnAnswerThatMakesNoSenseLeavesAPutInDoubt) {
  http.plan(sys::HttpResponse{.status = 200, .body = "<html>welcome to the hotel</html>"});
  EXPECT_EQ(store->put("a", as_bytes("abc"), {}, {}).error().code(), ErrorCode::kUnknownOutcome);
}

TEST_F(GcsStoreTest, ARefusedTokenIsReplacedOnce) {
  http.plan(sys::HttpResponse{.status = 401});
  http.plan(sys::HttpResponse{.status = 200, .body = object_json("a", "x")});
  ASSERT_TRUE(store->put("a", as_bytes("x"), {}, {}));
  ASSERT_EQ(http.sent().size(), 2U);
  EXPECT_EQ(http.sent()[1].header("Authorization"), "Bearer token-1");
  EXPECT_EQ(http.sent()[1].body, http.sent()[0].body);

  http.plan(sys::HttpResponse{.status = 401});
  http.plan(sys::HttpResponse{.status = 401});
  const auto head = store->head("a", {});
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code(), ErrorCode::kPermissionDenied);
  EXPECT_NE(head.error().to_string().find("the counted credentials"), std::string::npos);
  EXPECT_EQ(head.error().to_string().find("token-"), std::string::npos);
}

TEST_F(GcsStoreTest, AReadAsksForMediaAsItWasStored) {
  http.plan(media(200, "hello", "hello"));
  EXPECT_EQ(get().value_or("(failed)"), "hello");
  EXPECT_EQ(http.sent()[0].url, "https://gcs.test/storage/v1/b/bkt/o/a%2Fb?alt=media");
  EXPECT_EQ(http.sent()[0].header("Accept-Encoding"), "gzip");
  EXPECT_EQ(http.sent()[0].header("Range"), "(none)");
}

TEST_F(GcsStoreTest, DamagedBytesAreCorrupt) {
  http.plan(media(200, "hellO", "hello"));
  EXPECT_EQ(get().error().code(), ErrorCode::kCorrupt);
}

TEST_F(GcsStoreTest, ACutAnswerIsNotTheWholeObject) {
  http.plan(media(200, "hel", "hello"));
  EXPECT_FALSE(get());
}

TEST_F(GcsStoreTest, AServerThatIgnoresTheRangeIsCutToIt) {
  const GetOptions options{.range = ByteRange{.offset = 3, .length = 4}};
  http.plan(media(200, "0123456789", "0123456789"));
  EXPECT_EQ(get(options).value_or("(failed)"), "3456");
  EXPECT_EQ(http.sent()[0].header("Range"), "bytes=3-6");
  http.plan(media(200, "01234", "01234"));
  EXPECT_EQ(get(options).value_or("(failed)"), "34");
  http.plan(media(200, "012", "012"));
  EXPECT_EQ(get(options).error().code(), ErrorCode::kInvalidArgument);
  http.plan(media(200, "", ""));
  EXPECT_EQ(get(options).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(GcsStoreTest, ACutReadStillEndsWithTheSinksError) {
  http.plan(media(200, "0123456789", "0123456789"));
  const auto info = store->get("a/b", {.range = ByteRange{.offset = 3, .length = 1}},
                               [](const ObjectInfo&, BytesView) -> Result<void> {
                                 return Error(ErrorCode::kNoSpace, "the cup is full");
                               },
                               {});
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code(), ErrorCode::kNoSpace);
}

TEST_F(GcsStoreTest, AnotherPartThanWasAskedForIsCorrupt) {
  sys::HttpResponse other = media(206, "0123", "0123456789");
  other.headers.emplace_back("Content-Range", "bytes 0-3/10");
  http.plan(other);
  EXPECT_EQ(get({.range = ByteRange{.offset = 3, .length = 4}}).error().code(),
            ErrorCode::kCorrupt);
}

TEST_F(GcsStoreTest, ARangeToTheEndOfEverythingDoesNotOverflow) {
  sys::HttpResponse part = media(206, "789", "0123456789");
  part.headers.emplace_back("Content-Range", "bytes 7-9/10");
  http.plan(part);
  EXPECT_EQ(get({.range = ByteRange{.offset = 7, .length = UINT64_MAX}}).value_or("(failed)"),
            "789");
  EXPECT_EQ(http.sent()[0].header("Range"), "bytes=7-");
}

TEST_F(GcsStoreTest, AServerThatIgnoresTheVersionIsNoticed) {
  http.plan(media(200, "hello", "hello"));
  EXPECT_EQ(get({.if_version = "16"}).error().code(), ErrorCode::kConditionFailed);
  EXPECT_EQ(http.sent()[0].url,
            "https://gcs.test/storage/v1/b/bkt/o/a%2Fb?alt=media&ifGenerationMatch=16");
}

TEST_F(GcsStoreTest, AListAsksForWhatItNeeds) {
  http.plan(
      sys::HttpResponse{.status = 200, .body = R"({"prefixes":["p/x/"],"nextPageToken":"t"})"});
  const auto page = store->list({.prefix = "p/",
                                 .start_after = "p/a b",
                                 .folders = true,
                                 .page_max = 5000,
                                 .page_token = "s="},
                                {});
  ASSERT_TRUE(page) << page.error().to_string();
  EXPECT_EQ(page->next, "t");
  EXPECT_EQ(page->folders, (std::vector<std::string>{"p/x/"}));
  EXPECT_EQ(http.sent()[0].url,
            "https://gcs.test/storage/v1/b/bkt/o?fields=items%28name%2Csize%2Cgeneration%2Ccrc32c"
            "%2Cupdated%29%2Cprefixes%2CnextPageToken&maxResults=1000&prefix=p%2F&delimiter=%2F"
            "&startOffset=p%2Fa%20b%20&pageToken=s%3D");
}

TEST_F(GcsStoreTest, AServerThatIgnoresStartOffsetIsCutToIt) {
  http.plan(sys::HttpResponse{.status = 200,
                              .body = R"({"items":[)" + object_json("a", "") + "," +
                                      object_json("c", "") + "," + object_json("d", "") +
                                      R"(],"prefixes":["b/","c/","e/"]})"});
  const auto page = store->list({.start_after = "c/x", .folders = true}, {});
  ASSERT_TRUE(page);
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].key, "d");
  EXPECT_EQ(page->folders, (std::vector<std::string>{"c/", "e/"}));
}

TEST_F(GcsStoreTest, RemovingFromAMissingBucketIsNoSuccess) {
  http.plan(
      sys::HttpResponse{.status = 404, .body = R"({"error":{"message":"No such object: a"}})"});
  EXPECT_TRUE(store->remove("a", {}));
  http.plan(sys::HttpResponse{
      .status = 404, .body = R"({"error":{"message":"The specified bucket does not exist."}})"});
  const auto removed = store->remove("a", {});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code(), ErrorCode::kNotFound);
}

TEST_F(GcsStoreTest, AConditionLostToNothingIsASuccess) {
  http.plan(sys::HttpResponse{.status = 412});
  http.plan(sys::HttpResponse{.status = 404});
  EXPECT_TRUE(store->remove_if("a", "17", {}));
  http.plan(sys::HttpResponse{.status = 412});
  http.plan(sys::HttpResponse{.status = 200, .body = object_json("a", "x")});
  EXPECT_EQ(store->remove_if("a", "16", {}).error().code(), ErrorCode::kConditionFailed);
}

TEST_F(GcsStoreTest, LostAnswersAndServerFaultsLeaveWritesInDoubt) {
  http.plan(Error(ErrorCode::kUnknownOutcome, "the connection broke"));
  EXPECT_EQ(store->put("a", as_bytes("x"), WriteIf::absent(), {}).error().code(),
            ErrorCode::kUnknownOutcome);
  http.plan(sys::HttpResponse{.status = 503});
  EXPECT_EQ(store->put("a", as_bytes("x"), WriteIf::absent(), {}).error().code(),
            ErrorCode::kUnknownOutcome);
  http.plan(sys::HttpResponse{.status = 503});
  EXPECT_EQ(store->remove("a", {}).error().code(), ErrorCode::kUnknownOutcome);
  http.plan(sys::HttpResponse{.status = 503});
  EXPECT_EQ(store->head("a", {}).error().code(), ErrorCode::kUnavailable);
}

TEST_F(GcsStoreTest, ARefusalIsDatedToo) {
  http.plan(
      sys::HttpResponse{.status = 403, .headers = {{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"}}});
  EXPECT_EQ(store->server_time({}).value_or(WallTime()), WallTime(std::chrono::seconds(784111777)));
}

TEST_F(GcsStoreTest, WithoutAKeyNothingIsSigned) {
  EXPECT_FALSE(store->properties().signed_urls);
  const auto url = store->signed_url("a", std::chrono::minutes(1), {});
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(url.error().to_string().find("GOOGLE_APPLICATION_CREDENTIALS"), std::string::npos);
}

}  // namespace
}  // namespace outlast::store
