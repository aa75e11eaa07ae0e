// A server that speaks Azure's protocol, and every way to prove to it who we are: the suite of all
// stores, and what is Azure's own. Run it through tests/servers/run azurite -- …, or by hand
// against the Azurite whose URL OUTLAST_TEST_AZURE_ENDPOINT is:
// http://127.0.0.1:PORT/devstoreaccount1.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/azure_signing.h"
#include "cloud/connection_string.h"
#include "cloud/credentials.h"
#include "store/azure/azure_answers.h"
#include "store/azure/azure_store.h"
#include "store/testing/store_suite.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::store::testing {
namespace {

using cloud::AzureAuth;
using Credentials = cloud::FixedCredentials<AzureAuth>;

struct Server {
  AzureOptions options = {};  // with a container of its own
  Secret<Bytes> key = {};
};

using MakeAuth = std::function<AzureAuth(const Server& server, WallTime expires)>;

AzureAuth by_key(const Server& server, WallTime /*expires*/) {
  return cloud::AzureSharedKey{server.key};
}
AzureAuth by_account_sas(const Server& server, WallTime expires) {
  return cloud::AzureSas{cloud::sign_account_sas(
      {.account = server.options.account, .permissions = "rwdlac", .expires = expires},
      server.key)};
}
AzureAuth by_service_sas(const Server& server, WallTime expires) {
  return cloud::AzureSas{cloud::sign_service_sas({.account = server.options.account,
                                                  .container = server.options.container,
                                                  .permissions = "racwdl",
                                                  .expires = expires},
                                                 server.key)};
}

// The server that the environment names, and the emulators' public key if it says nothing else.
Result<Server> find_server(sys::World& world) {
  cloud::AzureConnection connection{
      .account = "devstoreaccount1",
      .key =
          Secret<std::string>(std::string("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErC"
                                          "z4I6tq/K1SZFPTOtr/KBHBeksoGMGw==")),
      .blob_endpoint = world.environment.get("OUTLAST_TEST_AZURE_ENDPOINT").value_or("")};
  if (world.environment.get("OUTLAST_TEST_SERVER") == "azurite") {
    OUTLAST_TRY_ASSIGN(connection,
                       cloud::parse_connection_string(
                           world.environment.get("AZURE_STORAGE_CONNECTION_STRING").value_or("")));
  }
  if (connection.blob_endpoint.empty()) {
    return Error(ErrorCode::kNotFound,
                 "no server: run this through tests/servers/run azurite -- …");
  }
  OUTLAST_TRY_ASSIGN(Bytes key, base64_decode(connection.key.reveal()));
  return Server{.options = {.account = connection.account,
                            .container = "outlast-" + make_token(world.random, 16),
                            .endpoint = connection.blob_endpoint},
                .key = Secret<Bytes>(std::move(key))};
}

using OnServer = std::function<void(sys::World& world, const Server& server)>;

// A container of its own for `body`, removed afterwards.
void with_container(const OnServer& body) {
  sys::testing::real_world().run([&](sys::World& world, const std::string&) {
    const auto server = find_server(world);
    if (!server) GTEST_SKIP() << server.error().to_string();
    Credentials owner(by_key(*server, {}), "the emulator's key");
    AzureClient client(server->options, world.http, world.clock, owner);
    const auto change = [&](const char* method) {
      const auto answer = client.send(
          {.verb = method, .method = method, .query = {{"restype", "container"}}, .writes = true},
          {});
      ASSERT_TRUE(answer) << answer.error().to_string();
      ASSERT_TRUE(answer->ok()) << answer->error().to_string();
    };
    change("PUT");
    if (::testing::Test::HasFatalFailure()) return;
    body(world, *server);
    change("DELETE");
  });
}

// A store on a container of its own, opened with this proof.
void with_store(const MakeAuth& make_auth, const StoreMaker::Body& body) {
  with_container([&](sys::World& world, const Server& server) {
    Credentials credentials(make_auth(server, world.clock.wall_now() + std::chrono::hours(1)),
                            "a test");
    const auto store = make_azure_store(server.options, world.http, world.clock, credentials);
    body(*store, world);
  });
}

StoreMaker azure(const std::string& name, const MakeAuth& make_auth) {
  std::vector<Deviation> deviations = {
      {.test = "AnyNameIsAGoodName",
       .why = "three of the names are refused, see "
              "AzureServer.AnyNameButThoseThatAzureWouldChangeIsGood"},
      {.test = "KeysAreOrderedByTheirBytes",
       .why = "Azurite orders by units of UTF-16 across pages, see "
              "AzureServer.KeysOfOnePlaneAreOrderedByTheirBytes"}};
  if (name != "SharedKey") {
    deviations.push_back({.test = "SignedUrlsAreWellFormedOrRefused",
                          .why = "only the account's key can sign one, see "
                                 "AzureStore.OnlyTheAccountsKeySignsUrls"});
  }
  return {.name = "Azure, " + name,
          .run = [=](const StoreMaker::Body& body) { with_store(make_auth, body); },
          .deviations = deviations,
          .same_clock = true};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Azure, StoreSuite,
                         ::testing::Values(azure("SharedKey", by_key),
                                           azure("account SAS", by_account_sas),
                                           azure("service SAS", by_service_sas)));

namespace {

Result<std::string> text_of(ObjectStore& store, const std::string& key) {
  std::string text;
  OUTLAST_TRY(store.get(key, {},
                        [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                          text += as_text(piece);
                          return {};
                        },
                        {}));
  return text;
}

std::vector<std::string> keys_of(ObjectStore& store, ListOptions options = {}) {
  std::vector<std::string> keys;
  do {
    const auto page = store.list(options, {});
    EXPECT_TRUE(page) << page.error().to_string();
    if (!page) break;
    for (const ObjectInfo& object : page->objects) keys.push_back(object.key);
    options.page_token = page->next;
  } while (!options.page_token.empty());
  return keys;
}

TEST(AzureServer, AnyNameButThoseThatAzureWouldChangeIsGood) {
  with_store(by_key, [](ObjectStore& store, sys::World&) {
    std::vector<std::string> keys = {
        "with space",     " leading",     "trailing ",
        "plus+plus",      "percent%",     "a%2Fb",
        "a%20b",          "amp&amp;",     "ask?x=1",
        "hash#tag",       "equals=",      "quote'\"quote",
        "<tag>&lt;",      "colon:semi;",  "comma,at@",
        "brackets[]{}()", "dollar$",      "star*",
        "bar|bar",        "tilde~caret^", "back`tick",
        ".hidden",        "dot/.dot",     "UPPER",
        "upper",          "-dash",        "e\u0301 decomposed",
        "x.tmp",          "x~",           "unicode/\u00e9\u65e5\u672c\U0001f600"};
    for (const std::string& key : keys) {
      const auto put = store.put(key, as_bytes("content of " + key), {}, {});
      ASSERT_TRUE(put) << put.error().to_string();
    }
    for (const std::string& key : keys) {
      EXPECT_EQ(text_of(store, key).value_or("(unreadable)"), "content of " + key);
      EXPECT_FALSE(keys_of(store, {.prefix = key}).empty()) << key;
    }
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(keys_of(store), keys);
    for (const std::string& key : keys) EXPECT_TRUE(store.remove(key, {})) << key;
    EXPECT_TRUE(keys_of(store).empty());
    for (const char* bad : {"back\\slash", "...", "dot./.dot", "file."}) {
      const auto put = store.put(bad, {}, {}, {});
      ASSERT_FALSE(put) << bad;
      EXPECT_EQ(put.error().code(), ErrorCode::kInvalidArgument);
    }
  });
}

TEST(AzureServer, KeysOfOnePlaneAreOrderedByTheirBytes) {
  with_store(by_key, [](ObjectStore& store, sys::World&) {
    std::vector<std::string> keys = {"B",   "a",  "a b",    "a!",           "a-b",
                                     "a.b", "a0", "aB",     "ab",           "e\u0301",
                                     "z",   "~",  "\u00e9", "\u65e5\u672c", "\uff61"};
    for (const std::string& key : keys) ASSERT_TRUE(store.put(key, as_bytes(key), {}, {})) << key;
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(keys_of(store), keys);
    EXPECT_EQ(keys_of(store, {.page_max = 3}), keys);
  });
}

TEST(AzureServer, ASignedUrlReadsItsObjectAndNoOther) {
  with_store(by_key, [](ObjectStore& store, sys::World& world) {
    ASSERT_TRUE(store.put("run 1/a+b \u00e9", as_bytes("hello"), {}, {}));
    ASSERT_TRUE(store.put("other", as_bytes("not for you"), {}, {}));
    const auto url = store.signed_url("run 1/a+b \u00e9", std::chrono::minutes(5), {});
    ASSERT_TRUE(url) << url.error().to_string();
    const auto answer = world.http.send({.url = url->reveal()}, {});
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "hello");
    const auto other = store.signed_url("other", std::chrono::minutes(5), {});
    ASSERT_TRUE(other);
    const std::string query = url->reveal().substr(url->reveal().find('?'));
    const std::string path = other->reveal().substr(0, other->reveal().find('?'));
    EXPECT_EQ(world.http.send({.url = path + query}, {})->status, 403);
  });
}

TEST(AzureServer, ChecksumsAreKeptAndChecked) {
  with_container([](sys::World& world, const Server& server) {
    const AzureOptions& options = server.options;
    Credentials credentials(by_key(server, {}), "a test");
    const auto store = make_azure_store(options, world.http, world.clock, credentials);
    ASSERT_TRUE(store->put("ours", as_bytes("hello"), {}, {}));
    EXPECT_EQ(store->head("ours", {})->crc32c, crc32c(as_bytes("hello")));

    // What another program wrote has an MD5, right or wrong.
    AzureClient client(options, world.http, world.clock, credentials);
    const auto write = [&](const std::string& key, const sys::HttpHeaders& more) {
      sys::HttpHeaders headers = more;
      headers.emplace_back("x-ms-blob-type", "BlockBlob");
      const auto answer = client.send(
          {.method = "PUT", .key = key, .headers = headers, .body = as_bytes("hello")}, {});
      ASSERT_TRUE(answer && answer->ok());
    };
    write("theirs", {});
    write("damaged", {});
    const auto label =
        client.send({.method = "PUT",
                     .key = "damaged",
                     .query = {{"comp", "properties"}},
                     .headers = {{"x-ms-blob-content-md5", base64_encode(md5(as_bytes("hallo")))}}},
                    {});
    ASSERT_TRUE(label && label->ok());
    write("mislabelled", {{std::string(kAzureCrc32cHeader), "00000000"}});
    EXPECT_EQ(text_of(*store, "theirs").value(), "hello");
    EXPECT_FALSE(store->head("theirs", {})->crc32c);
    for (const char* key : {"damaged", "mislabelled"}) {
      const auto read = text_of(*store, key);
      ASSERT_FALSE(read) << key;
      EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt) << key;
    }
  });
}

TEST(AzureServer, TheChecksumOfAnUploadIsThatOfTheWholeAlsoWhenAnotherFinishesIt) {
  with_store(by_key, [](ObjectStore& store, sys::World&) {
    const std::string text = "the quick brown fox jumps over the lazy dog";
    const UploadPlan plan{.size = text.size(), .part_bytes = 10};
    const auto part = [&](std::uint64_t index) {
      return as_bytes(text).subspan(index * 10, plan.bytes_of(index));
    };
    Secret<std::string> token;
    {
      const auto upload = store.start_upload("big", plan, {});
      ASSERT_TRUE(upload) << upload.error().to_string();
      for (const std::uint64_t index : {4, 1, 0}) {
        ASSERT_TRUE((*upload)->put_part(index, part(index), {}));
      }
      // Which of the two counts is not known to the next one.
      ASSERT_TRUE((*upload)->put_part(2, part(1), {}));
      ASSERT_TRUE((*upload)->put_part(2, part(2), {}));
      token = (*upload)->token();
    }
    UploadPlan another = plan;
    another.part_bytes = 11;
    EXPECT_EQ(store.resume_upload("big", another, token, {}).error().code(),
              ErrorCode::kInvalidArgument);
    const auto upload = store.resume_upload("big", plan, token, {});
    ASSERT_TRUE(upload) << upload.error().to_string();
    EXPECT_EQ((*upload)->stored_parts(), (std::vector<std::uint64_t>{0, 1, 4}));
    for (const std::uint64_t index : {3, 2}) {
      ASSERT_TRUE((*upload)->put_part(index, part(index), {}));
    }
    const auto version = (*upload)->complete({});
    ASSERT_TRUE(version) << version.error().to_string();
    EXPECT_EQ(store.head("big", {})->crc32c, crc32c(as_bytes(text)));
    EXPECT_EQ(text_of(store, "big").value(), text);
    EXPECT_EQ(store.resume_upload("big", plan, token, {}).error().code(), ErrorCode::kNotFound);
  });
}

TEST(AzureServer, ErrorsSayWhatToDo) {
  with_container([](sys::World& world, const Server& server) {
    const AzureOptions& options = server.options;
    const auto why = [&](const AzureOptions& where, const AzureAuth& auth) {
      Credentials credentials(auth, "a test");
      const auto store = make_azure_store(where, world.http, world.clock, credentials);
      const auto put = store->put("a/b", as_bytes("x"), {}, {});
      EXPECT_FALSE(put);
      return put ? std::string() : put.error().to_string();
    };
    AzureOptions missing = options;
    missing.container = "outlast-no-such";
    EXPECT_EQ(why(missing, by_key(server, {})),
              fmt::format("put az://{0}/outlast-no-such/a/b: there is no container outlast-no-such "
                          "in {0}: create it with 'az storage container create --account-name {0} "
                          "--name outlast-no-such'",
                          options.account));
    // Azurite says AuthorizationFailure where Azure says AuthenticationFailed.
    const std::string wrong =
        why(options, cloud::AzureSharedKey{Secret<Bytes>(base64_decode("d3Jvbmc=").value())});
    EXPECT_NE(wrong.find("does not accept the account key (a test)"), std::string::npos) << wrong;
    const WallTime past = world.clock.wall_now() - std::chrono::hours(1);
    const std::string expired = why(options, by_account_sas(server, past));
    EXPECT_NE(expired.find("the SAS (a test)"), std::string::npos) << expired;
    EXPECT_EQ(expired.find("sig="), std::string::npos) << expired;
    const std::string read_only =
        why(options, cloud::AzureSas{cloud::sign_service_sas(
                         {.account = options.account,
                          .container = options.container,
                          .permissions = "rl",
                          .expires = world.clock.wall_now() + std::chrono::hours(1)},
                         server.key)});
    EXPECT_NE(read_only.find("does not permit this"), std::string::npos) << read_only;
  });
}

}  // namespace
}  // namespace outlast::store::testing
