// The stand-in is as strict as the service it stands for.
#include "store/gcs/testing/gcs_stand_in.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "sys/http.h"
#include "sys/http_server.h"

namespace outlast::store::gcs::testing {
namespace {

constexpr std::uint64_t kGranule = 256U << 10U;

class GcsStandInTest : public ::testing::Test {
 protected:
  sys::HttpResponse send(const std::string& method, const std::string& target,
                         const std::string& body = "", sys::HttpHeaders headers = {}) {
    headers.emplace_back("Authorization", "Bearer t0ken");
    headers.emplace_back("Host", "stand-in:1234");
    return stand_in_.handle(
        {.method = method, .target = target, .headers = std::move(headers), .body = body});
  }
  int insert(const std::string& name, const std::string& body, const std::string& more = "") {
    return send("POST", "/upload/storage/v1/b/bkt/o?uploadType=media&name=" + name + more, body)
        .status;
  }
  static std::string value(const sys::HttpResponse& answer, const std::string& key) {
    const auto json = parse_json(answer.body);
    return json ? json_string(*json, key).value_or("(none)") : "(no JSON)";
  }
  static std::string header(const sys::HttpResponse& answer, const std::string& name) {
    return std::string(sys::find_header(answer.headers, name).value_or("(none)"));
  }
  std::string generation_of(const std::string& name) {
    return value(send("GET", "/storage/v1/b/bkt/o/" + name), "generation");
  }
  // The target of a session for 3 granules and a bit.
  std::string start_session(const std::string& more = "") {
    const auto answer =
        send("POST", "/upload/storage/v1/b/bkt/o?uploadType=resumable&name=big" + more, "",
             {{"X-Upload-Content-Length", std::to_string(kTotal)}});
    EXPECT_EQ(answer.status, 200);
    const std::string location = header(answer, "Location");
    const std::string origin = "http://stand-in:1234";
    EXPECT_TRUE(location.starts_with(origin + "/upload/storage/v1/b/bkt/o?")) << location;
    return location.substr(origin.size());
  }
  sys::HttpResponse chunk(const std::string& session, std::uint64_t first, std::uint64_t bytes) {
    return send(
        "PUT", session, std::string(bytes, 'x'),
        {{"Content-Range", fmt::format("bytes {}-{}/{}", first, first + bytes - 1, kTotal)}});
  }
  sys::HttpResponse ask(const std::string& session) {
    return send("PUT", session, "", {{"Content-Range", fmt::format("bytes */{}", kTotal)}});
  }

  static constexpr std::uint64_t kTotal = 3 * kGranule + 5;
  GcsStandIn stand_in_{{.buckets = {"bkt"}, .token = "t0ken", .wall_now = [] {
                          return WallTime(std::chrono::seconds(1'700'000'000));
                        }}};
};

TEST_F(GcsStandInTest, WantsTheRightToken) {
  const auto ask_with = [&](sys::HttpHeaders headers) {
    return stand_in_.handle(
        {.method = "GET", .target = "/storage/v1/b/bkt/o", .headers = std::move(headers)});
  };
  EXPECT_EQ(ask_with({}).status, 401);
  EXPECT_EQ(ask_with({{"Authorization", "Bearer wrong"}}).status, 401);
  EXPECT_EQ(ask_with({{"Authorization", "Basic t0ken"}}).status, 401);
  const auto good = ask_with({{"Authorization", "Bearer t0ken"}});
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(header(good, "Date"), "Tue, 14 Nov 2023 22:13:20 GMT");
}

TEST_F(GcsStandInTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(send("GET", "/storage/v1/b/bkt/o?ifGenerationmatch=0").status, 400);
  EXPECT_EQ(send("GET", "/storage/v1/b/bkt/o?prefix=a&prefix=b").status, 400);
  EXPECT_EQ(send("GET", "/storage/v1/b/bkt/o?prefix=%zz").status, 400);
  EXPECT_EQ(send("GET", "/storage/v1/b/bkt/o?maxResults=0").status, 400);
  EXPECT_EQ(send("GET", "/storage/v1/b/bkt/o?versions=true").status, 400);
  EXPECT_EQ(send("GET", "/storage/v1/b/bkt/o/a/b").status, 404);
  EXPECT_EQ(send("GET", "/bkt/a").status, 404);
  EXPECT_EQ(send("PATCH", "/storage/v1/b/bkt").status, 404);
  EXPECT_EQ(insert("a", "x", "&ifGenerationMatch=abc"), 400);
  EXPECT_EQ(insert("", "x"), 400);
  EXPECT_EQ(insert("a%0Ab", "x"), 400);
  EXPECT_EQ(insert(std::string(1025, 'x'), "x"), 400);
  EXPECT_EQ(send("POST", "/upload/storage/v1/b/bkt/o?name=a", "x").status, 400);
}

TEST_F(GcsStandInTest, BucketsAreMadeOnceAndRemovedEmpty) {
  EXPECT_EQ(send("GET", "/storage/v1/b/other").status, 404);
  EXPECT_EQ(send("POST", "/storage/v1/b?project=p", R"({"name":"other"})").status, 200);
  EXPECT_EQ(send("POST", "/storage/v1/b?project=p", R"({"name":"other"})").status, 409);
  EXPECT_EQ(send("POST", "/storage/v1/b?project=p", R"({"name":"NO"})").status, 400);
  EXPECT_EQ(value(send("GET", "/storage/v1/b/other"), "name"), "other");
  EXPECT_EQ(send("DELETE", "/storage/v1/b/other").status, 204);
  EXPECT_EQ(send("GET", "/storage/v1/b/other/o").status, 404);
  EXPECT_EQ(insert("a", "x"), 200);
  EXPECT_EQ(send("DELETE", "/storage/v1/b/bkt").status, 409);
}

TEST_F(GcsStandInTest, GenerationsOnlyGrow) {
  ASSERT_EQ(insert("a", "1"), 200);
  const std::string first = generation_of("a");
  ASSERT_EQ(insert("a", "2"), 200);
  const std::string second = generation_of("a");
  EXPECT_LT(std::stoull(first), std::stoull(second));
  ASSERT_EQ(send("DELETE", "/storage/v1/b/bkt/o/a").status, 204);
  ASSERT_EQ(insert("a", "3"), 200);
  EXPECT_LT(std::stoull(second), std::stoull(generation_of("a")));
}

TEST_F(GcsStandInTest, EveryPreconditionCounts) {
  EXPECT_EQ(insert("a", "1", "&ifGenerationMatch=7"), 412);
  EXPECT_EQ(insert("a", "1", "&ifGenerationNotMatch=0"), 412);
  EXPECT_EQ(insert("a", "1", "&ifGenerationMatch=0"), 200);
  EXPECT_EQ(insert("a", "2", "&ifGenerationMatch=0"), 412);
  EXPECT_EQ(insert("a", "2", "&ifMetagenerationMatch=2"), 412);
  EXPECT_EQ(insert("a", "2", "&ifMetagenerationNotMatch=1"), 412);
  const std::string generation = generation_of("a");
  const std::string object = "/storage/v1/b/bkt/o/a";
  EXPECT_EQ(send("GET", object + "?ifGenerationMatch=7").status, 412);
  EXPECT_EQ(send("GET", object + "?alt=media&ifGenerationMatch=7").status, 412);
  EXPECT_EQ(send("GET", object + "?ifGenerationNotMatch=" + generation).status, 304);
  EXPECT_EQ(send("GET", object + "?generation=7").status, 404);
  EXPECT_EQ(send("GET", object + "?generation=" + generation).status, 200);
  EXPECT_EQ(send("DELETE", object + "?ifGenerationMatch=7").status, 412);
  EXPECT_EQ(send("DELETE", object + "?ifGenerationNotMatch=" + generation).status, 412);
  EXPECT_EQ(send("DELETE", object + "?ifGenerationMatch=" + generation).status, 204);
  EXPECT_EQ(send("DELETE", object + "?ifGenerationMatch=" + generation).status, 404);
}

TEST_F(GcsStandInTest, DeclaredChecksumsAreVerified) {
  const auto multipart = [&](const std::string& json) {
    return send("POST", "/upload/storage/v1/b/bkt/o?uploadType=multipart",
                "--B\r\ncontent-type: application/json\r\n\r\n" + json +
                    "\r\n--B\r\nContent-Type: text/plain\r\n\r\n123456789\r\n--B--",
                {{"Content-Type", "multipart/related; boundary=\"B\""}})
        .status;
  };
  EXPECT_EQ(multipart(R"({"name":"a","crc32c":"4waSgw==","md5Hash":"JfnnlDI7RTiF9RgfG2JNCw=="})"),
            200);
  EXPECT_EQ(multipart(R"({"name":"a","crc32c":"AAAAAA=="})"), 400);
  EXPECT_EQ(multipart(R"({"name":"a","md5Hash":"AAAAAAAAAAAAAAAAAAAAAA=="})"), 400);
  EXPECT_EQ(multipart("{}"), 400);
  EXPECT_EQ(multipart("nonsense"), 400);
  EXPECT_EQ(send("POST", "/upload/storage/v1/b/bkt/o?uploadType=multipart", "--B\r\n",
                 {{"Content-Type", "multipart/related; boundary=B"}})
                .status,
            400);
}

TEST_F(GcsStandInTest, RangesAreRightToTheByte) {
  ASSERT_EQ(insert("a", "0123456789"), 200);
  const auto range = [&](const std::string& text) {
    return send("GET", "/storage/v1/b/bkt/o/a?alt=media", "", {{"Range", text}});
  };
  EXPECT_EQ(range("bytes=3-6").body, "3456");
  EXPECT_EQ(header(range("bytes=3-6"), "Content-Range"), "bytes 3-6/10");
  EXPECT_EQ(range("bytes=7-").body, "789");
  EXPECT_EQ(range("bytes=-3").body, "789");
  EXPECT_EQ(range("bytes=8-99").body, "89");
  EXPECT_EQ(range("bytes=3-6").status, 206);
  EXPECT_EQ(range("bytes=10-").status, 416);
  EXPECT_EQ(header(range("bytes=10-"), "Content-Range"), "bytes */10");
  EXPECT_EQ(range("bytes=6-3").status, 200);
  EXPECT_EQ(range("lines=1-2").body, "0123456789");
}

TEST_F(GcsStandInTest, ListsArePagedAndCut) {
  for (const char* name : {"a", "b%2F1", "b%2F2", "c", "d%2F1", "e"})
    ASSERT_EQ(insert(name, ""), 200);
  const auto list = [&](const std::string& query) {
    std::vector<std::string> names;
    std::string token;
    do {
      const auto answer = send(
          "GET", "/storage/v1/b/bkt/o?" + query + (token.empty() ? "" : "&pageToken=" + token));
      EXPECT_EQ(answer.status, 200) << answer.body;
      const Json json = parse_json(answer.body).value();
      for (const auto& item : json.value("items", Json::array())) {
        names.push_back(item.at("name").get<std::string>());
      }
      for (const auto& prefix : json.value("prefixes", Json::array())) {
        names.push_back(prefix.get<std::string>());
      }
      token = json.value("nextPageToken", "");
      for (std::size_t at = 0; (at = token.find('=', at)) != std::string::npos; at += 3) {
        token.replace(at, 1, "%3D");
      }
    } while (!token.empty());
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(list("maxResults=2"), (Names{"a", "b/1", "b/2", "c", "d/1", "e"}));
  EXPECT_EQ(list("startOffset=b/2&endOffset=e"), (Names{"b/2", "c", "d/1"}));
  EXPECT_EQ(list("maxResults=1&delimiter=/"), (Names{"a", "b/", "c", "d/", "e"}));
  EXPECT_EQ(list("prefix=b/&delimiter=/"), (Names{"b/1", "b/2"}));
  EXPECT_EQ(send("GET", "/storage/v1/b/bkt/o?pageToken=%21").status, 400);
}

TEST_F(GcsStandInTest, ASessionTakesBytesInOrderAndInGranules) {
  const std::string session = start_session("&ifGenerationMatch=0");
  EXPECT_EQ(ask(session).status, 308);
  EXPECT_EQ(header(ask(session), "Range"), "(none)");
  EXPECT_EQ(chunk(session, 0, kGranule + 1).status, 400);
  EXPECT_EQ(chunk(session, kGranule, kGranule).status, 400);
  EXPECT_EQ(chunk(session, 0, kTotal + 1).status, 400);
  EXPECT_EQ(send("PUT", session, "x", {{"Content-Range", "bytes 0-5/10"}}).status, 400);
  EXPECT_EQ(send("PUT", session, "", {{"Content-Range", "bytes */7"}}).status, 400);
  EXPECT_EQ(send("PUT", session, "x", {{"Content-Range", "nonsense"}}).status, 400);
  EXPECT_EQ(header(chunk(session, 0, kGranule), "Range"), "bytes=0-262143");
  EXPECT_EQ(header(chunk(session, 0, 2 * kGranule), "Range"), "bytes=0-524287");
  EXPECT_EQ(header(ask(session), "Range"), "bytes=0-524287");
  EXPECT_EQ(send("GET", "/storage/v1/b/bkt/o/big").status, 404);
  EXPECT_EQ(stand_in_.open_session_count(), 1U);
  const auto end = chunk(session, 2 * kGranule, kGranule + 5);
  EXPECT_EQ(end.status, 200);
  EXPECT_EQ(value(end, "size"), std::to_string(kTotal));
  EXPECT_EQ(chunk(session, 2 * kGranule, kGranule + 5).body, end.body);
  EXPECT_EQ(ask(session).body, end.body);
  EXPECT_EQ(stand_in_.open_session_count(), 0U);
  EXPECT_EQ(stand_in_.object_count("bkt"), 1U);
}

TEST_F(GcsStandInTest, ASessionsConditionIsJudgedAtItsEnd) {
  const std::string session = start_session("&ifGenerationMatch=0");
  ASSERT_EQ(insert("big", "first"), 200);
  EXPECT_EQ(chunk(session, 0, kTotal).status, 412);
  EXPECT_EQ(ask(session).status, 412);
}

TEST_F(GcsStandInTest, ACancelledSessionIsGone) {
  const std::string session = start_session();
  EXPECT_EQ(send("DELETE", session).status, 499);
  EXPECT_EQ(ask(session).status, 410);
  EXPECT_EQ(send("PUT", "/upload/storage/v1/b/bkt/o?uploadType=resumable&upload_id=none").status,
            404);
}

TEST_F(GcsStandInTest, ASessionNeedsNoTokenButNoWrongOne) {
  const std::string session = start_session();
  EXPECT_EQ(
      stand_in_
          .handle({.method = "PUT", .target = session, .headers = {{"Content-Range", "bytes */*"}}})
          .status,
      308);
  EXPECT_EQ(
      stand_in_
          .handle({.method = "PUT", .target = session, .headers = {{"Authorization", "Bearer x"}}})
          .status,
      401);
}

TEST_F(GcsStandInTest, TheHashOfTheLastChunkIsVerified) {
  const std::string session = start_session();
  EXPECT_EQ(send("PUT", session, std::string(kTotal, 'x'),
                 {{"Content-Range", fmt::format("bytes 0-{}/{}", kTotal - 1, kTotal)},
                  {"x-goog-hash", "crc32c=AAAAAA=="}})
                .status,
            400);
  EXPECT_EQ(stand_in_.object_count("bkt"), 0U);
}

}  // namespace
}  // namespace outlast::store::gcs::testing
