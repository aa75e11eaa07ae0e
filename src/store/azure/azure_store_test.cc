#include "store/azure/azure_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "store/azure/testing/scripted_azure.h"

namespace outlast::store {
namespace {

using testing::CountedCredentials;
using testing::object_headers;
using testing::ScriptedAzure;
using testing::ScriptedStore;

cloud::AzureAuth token_auth() {
  return cloud::BearerToken{Secret<std::string>(std::string("t0ken"))};
}
cloud::AzureAuth sas_auth() {
  return cloud::AzureSas{Secret<std::string>(std::string("sv=1&sig=s%3D"))};
}

Result<std::string> read(ObjectStore& store, const std::string& key,
                         const GetOptions& options = {}) {
  std::string text;
  OUTLAST_TRY(store.get(key, options,
                        [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                          text += as_text(piece);
                          return {};
                        },
                        {}));
  return text;
}

sys::HttpHeaders with(sys::HttpHeaders headers, const std::string& name, const std::string& value) {
  headers.emplace_back(name, value);
  return headers;
}

TEST(AzureStore, APutCarriesItsChecksumsAndCondition) {
  ScriptedStore scripted;
  scripted.azure.answer(201, {{"ETag", "\"0x8D1\""}});
  EXPECT_EQ(scripted.store->put("a b/c", as_bytes("hello"), WriteIf::absent(), {}).value(),
            "0x8D1");
  const ScriptedAzure::Request& sent = scripted.azure.last();
  EXPECT_EQ(sent.method, "PUT");
  EXPECT_EQ(sent.url, "https://acc.blob.core.windows.net/jobs/a%20b/c");
  EXPECT_EQ(sent.header("If-None-Match"), "*");
  EXPECT_EQ(sent.header("If-Match"), "(none)");
  EXPECT_EQ(sent.header("Content-MD5"), "XUFAKrxLKna5cZ2REBfFkg==");
  EXPECT_EQ(sent.header("x-ms-blob-content-md5"), "XUFAKrxLKna5cZ2REBfFkg==");
  EXPECT_EQ(sent.header("x-ms-meta-outlastcrc32c"), "9a71bb4c");
  EXPECT_EQ(sent.header("x-ms-version"), "2021-12-02");
  EXPECT_EQ(sent.header("x-ms-date"), "Sun, 15 Nov 2026 08:30:00 GMT");
  EXPECT_TRUE(sent.header("Authorization").starts_with("SharedKey acc:"));
  EXPECT_EQ(sent.body, "hello");
  scripted.azure.answer(201, {{"ETag", "\"0x8D2\""}});
  ASSERT_TRUE(scripted.store->put("a", {}, WriteIf::version_is("0x8D1"), {}));
  EXPECT_EQ(scripted.azure.last().header("If-Match"), "\"0x8D1\"");
}

TEST(AzureStore, ASuccessWithoutAVersionIsNotTakenForOne) {
  ScriptedStore scripted;
  scripted.azure.answer(200, {}, "<html>Log in to the hotel's network</html>");
  const auto put = scripted.store->put("a", as_bytes("x"), {}, {});
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code(), ErrorCode::kUnknownOutcome);
  scripted.azure.answer(200, {{"Content-Length", "5"}}, "hello");
  EXPECT_EQ(read(*scripted.store, "a").error().code(), ErrorCode::kCorrupt);
}

TEST(AzureStore, ALostAnswerToAWriteIsUnknownAndOneNeverSentIsNot) {
  for (const ErrorCode code : {ErrorCode::kUnknownOutcome, ErrorCode::kUnavailable,
                               ErrorCode::kDeadlineExceeded, ErrorCode::kCancelled}) {
    ScriptedStore scripted;
    scripted.azure.fail(code);
    const auto put = scripted.store->put("a", as_bytes("x"), {}, {});
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code(), code);
    EXPECT_EQ(put.error().to_string(), "put az://acc/jobs/a: no answer");
    scripted.azure.fail(code);
    EXPECT_EQ(scripted.store->remove("a", {}).error().code(), code);
  }
}

TEST(AzureStore, ASasStandsInTheUrlAndATokenInAHeader) {
  ScriptedStore by_sas(sas_auth());
  by_sas.azure.refuse(404, "BlobNotFound");
  ASSERT_TRUE(by_sas.store->remove("a", {}));
  EXPECT_EQ(by_sas.azure.last().url, "https://acc.blob.core.windows.net/jobs/a?sv=1&sig=s%3D");
  EXPECT_EQ(by_sas.azure.last().header("Authorization"), "(none)");
  by_sas.azure.answer(200, {}, "<EnumerationResults><Blobs/></EnumerationResults>");
  ASSERT_TRUE(by_sas.store->list({.prefix = "p/"}, {}));
  EXPECT_EQ(by_sas.azure.last().url,
            "https://acc.blob.core.windows.net/jobs?restype=container&comp=list&prefix=p%2F&"
            "maxresults=1000&sv=1&sig=s%3D");
  ScriptedStore by_token(token_auth());
  by_token.azure.refuse(404, "BlobNotFound");
  ASSERT_TRUE(by_token.store->remove("a", {}));
  EXPECT_EQ(by_token.azure.last().header("Authorization"), "Bearer t0ken");
}

TEST(AzureStore, ATokenIsNotSentInTheClear) {
  ScriptedAzure azure;
  CountedCredentials credentials(token_auth());
  const auto store = make_azure_store(
      {.account = "acc", .container = "jobs", .endpoint = "http://blobs.example/acc"}, azure, azure,
      credentials);
  const auto head = store->head("a", {});
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(azure.requests().empty());
}

TEST(AzureStore, CredentialsThatWereRefusedAreFetchedAnewOnce) {
  ScriptedStore scripted(token_auth());
  scripted.azure.refuse(401, "InvalidAuthenticationInfo");
  scripted.azure.answer(200, object_headers(5));
  ASSERT_TRUE(scripted.store->head("a", {}));
  EXPECT_EQ(scripted.credentials.forgotten(), 1);
  scripted.azure.refuse(401, "InvalidAuthenticationInfo");
  scripted.azure.refuse(403, "AuthenticationFailed");
  EXPECT_EQ(scripted.store->head("a", {}).error().code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(scripted.credentials.forgotten(), 2);
  scripted.azure.refuse(403, "AuthorizationPermissionMismatch");
  EXPECT_EQ(scripted.store->head("a", {}).error().code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(scripted.credentials.forgotten(), 2) << "a new token has no more rights";
}

TEST(AzureStore, AReadIsCheckedAgainstWhatIsStored) {
  ScriptedStore scripted;
  scripted.azure.answer(200, with(object_headers(5), "x-ms-meta-outlastcrc32c", "9a71bb4c"),
                        "hello");
  EXPECT_EQ(read(*scripted.store, "a").value(), "hello");
  scripted.azure.answer(200, with(object_headers(5), "x-ms-meta-outlastcrc32c", "9a71bb4c"),
                        "hallo");
  EXPECT_EQ(read(*scripted.store, "a").error().code(), ErrorCode::kCorrupt);
  scripted.azure.answer(200, with(object_headers(5), "Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="),
                        "hello");
  EXPECT_EQ(read(*scripted.store, "a").value(), "hello");
  scripted.azure.answer(200, with(object_headers(5), "Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="),
                        "hallo");
  EXPECT_EQ(read(*scripted.store, "a").error().code(), ErrorCode::kCorrupt);
  scripted.azure.answer(200, object_headers(5), "hell");
  EXPECT_EQ(read(*scripted.store, "a").error().code(), ErrorCode::kUnknownOutcome);
}

TEST(AzureStore, ARangeMustBeTheOneThatWasAskedFor) {
  ScriptedStore scripted;
  const GetOptions options{.range = ByteRange{.offset = 2, .length = 2}, .if_version = "0x8D1"};
  scripted.azure.answer(206, with(object_headers(2), "Content-Range", "bytes 2-3/5"), "ll");
  EXPECT_EQ(read(*scripted.store, "a", options).value(), "ll");
  EXPECT_EQ(scripted.azure.last().header("x-ms-range"), "bytes=2-3");
  EXPECT_EQ(scripted.azure.last().header("If-Match"), "\"0x8D1\"");
  scripted.azure.answer(200, object_headers(5), "hello");
  EXPECT_FALSE(read(*scripted.store, "a", options)) << "the range was ignored";
  scripted.azure.answer(206, with(object_headers(2), "Content-Range", "bytes 0-1/5"), "he");
  EXPECT_FALSE(read(*scripted.store, "a", options));
  scripted.azure.refuse(416, "InvalidRange");
  EXPECT_EQ(read(*scripted.store, "a", options).error().code(), ErrorCode::kInvalidArgument);
  scripted.azure.refuse(412, "ConditionNotMet");
  EXPECT_EQ(read(*scripted.store, "a", options).error().code(), ErrorCode::kConditionFailed);
}

std::string list_of(const std::vector<std::string>& names, const std::string& next) {
  std::string body = "<EnumerationResults><Blobs>";
  for (const std::string& name : names) {
    body += name.ends_with('/')
                ? "<BlobPrefix><Name>" + name + "</Name></BlobPrefix>"
                : "<Blob><Name>" + name +
                      "</Name><Properties><Last-Modified>Sun, 15 Nov 2026 08:00:00 GMT"
                      "</Last-Modified><Etag>0x8D1</Etag><Content-Length>1</Content-Length>"
                      "</Properties></Blob>";
  }
  return body + "</Blobs><NextMarker>" + next + "</NextMarker></EnumerationResults>";
}

TEST(AzureStore, AListGoesOnUntilThereIsSomethingToGive) {
  ScriptedStore scripted;
  scripted.azure.answer(200, {}, list_of({"a", "b"}, "m1"));
  scripted.azure.answer(200, {}, list_of({}, "m2"));
  scripted.azure.answer(200, {}, list_of({"c", "d"}, "m3"));
  const auto page = scripted.store->list({.start_after = "c", .page_max = 9000}, {});
  ASSERT_TRUE(page) << page.error().to_string();
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].key, "d");
  EXPECT_EQ(page->next, "m3");
  EXPECT_EQ(scripted.azure.last().url,
            "https://acc.blob.core.windows.net/jobs?restype=container&comp=list&marker=m2&"
            "maxresults=5000");
  EXPECT_GE(scripted.azure.last().gathered_bytes_max, 5000U * 4096U) << "5,000 long names";
}

TEST(AzureStore, AFolderIsListedIfSomethingInItComesAfter) {
  for (const bool something : {true, false}) {
    ScriptedStore scripted;
    scripted.azure.answer(200, {}, list_of({"a/", "b/", "c/", "b"}, ""));
    scripted.azure.answer(200, {},
                          list_of(something ? std::vector<std::string>{"b/1", "b/2"}
                                            : std::vector<std::string>{"b/1"},
                                  ""));
    const auto page = scripted.store->list({.start_after = "b/1", .folders = true}, {});
    ASSERT_TRUE(page) << page.error().to_string();
    EXPECT_TRUE(page->objects.empty());
    EXPECT_EQ(page->folders, something ? (std::vector<std::string>{"b/", "c/"})
                                       : (std::vector<std::string>{"c/"}));
  }
}

TEST(AzureStore, RemovingWhatIsNotThereIsNoFailureButAMissingContainerIs) {
  ScriptedStore scripted;
  scripted.azure.refuse(404, "BlobNotFound");
  EXPECT_TRUE(scripted.store->remove_if("a", "0x8D1", {}));
  EXPECT_EQ(scripted.azure.last().header("If-Match"), "\"0x8D1\"");
  scripted.azure.refuse(412, "ConditionNotMet");
  scripted.azure.refuse(404, "BlobNotFound");
  EXPECT_TRUE(scripted.store->remove_if("a", "0x8D1", {}));
  scripted.azure.refuse(412, "ConditionNotMet");
  scripted.azure.answer(200, object_headers(5));
  EXPECT_EQ(scripted.store->remove_if("a", "0x8D0", {}).error().code(),
            ErrorCode::kConditionFailed);
  scripted.azure.refuse(404, "ContainerNotFound");
  EXPECT_EQ(scripted.store->remove("a", {}).error().code(), ErrorCode::kNotFound);
}

TEST(AzureStore, OnlyTheAccountsKeySignsUrls) {
  ScriptedStore by_key;
  const auto url = by_key.store->signed_url("a b", std::chrono::hours(1), {});
  ASSERT_TRUE(url) << url.error().to_string();
  EXPECT_TRUE(url->reveal().starts_with(
      "https://acc.blob.core.windows.net/jobs/a%20b?sv=2021-12-02&se=2026-11-15T09%3A30%3A00Z&"
      "sr=b&sp=r&spr=https&sig="));
  EXPECT_FALSE(by_key.store->signed_url("a b", Duration::zero(), {}));
  for (const cloud::AzureAuth& auth : {sas_auth(), token_auth()}) {
    ScriptedStore other(auth);
    const auto refused = other.store->signed_url("a", std::chrono::hours(1), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(refused.error().to_string().find("t0ken"), std::string::npos);
  }
}

TEST(AzureStore, TheTimeIsTakenFromAnyAnswerOfAzure) {
  ScriptedStore scripted;
  scripted.azure.answer(200, {{"Date", "Sun, 15 Nov 2026 08:31:00 GMT"}});
  EXPECT_EQ(format_rfc3339(scripted.store->server_time({}).value()), "2026-11-15T08:31:00.000Z");
  EXPECT_EQ(scripted.azure.last().url, "https://acc.blob.core.windows.net/jobs?restype=container");
  scripted.azure.answer(403, {{"Date", "Sun, 15 Nov 2026 08:32:00 GMT"}, {"x-ms-request-id", "1"}});
  EXPECT_EQ(format_rfc3339(scripted.store->server_time({}).value()), "2026-11-15T08:32:00.000Z");
  scripted.azure.answer(502, {{"Date", "Sun, 15 Nov 2026 08:33:00 GMT"}});
  EXPECT_EQ(scripted.store->server_time({}).error().code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace outlast::store
