#include "store/gcs/gcs_answers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "store/gcs/testing/fuzz_gcs_answers.h"
#include "sys/file_ops.h"
#include "sys/http.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::store::gcs {
namespace {

constexpr const char* kObject =
    R"({"kind":"storage#object","name":"a/b c","size":"12345678901","generation":"1700000000000001",)"
    R"("metageneration":"1","crc32c":"4waSgw==","updated":"2026-11-15T08:30:00.123Z"})";

TEST(GcsAnswers, AnObjectIsRead) {
  const auto object = read_object(kObject);
  ASSERT_TRUE(object) << object.error().to_string();
  EXPECT_EQ(object->key, "a/b c");
  EXPECT_EQ(object->size, 12'345'678'901U);
  EXPECT_EQ(object->version, "1700000000000001");
  EXPECT_EQ(object->crc32c, 0xe3069283U);  // of "123456789", the check value of CRC-32C
  EXPECT_EQ(object->modified, WallTime(std::chrono::milliseconds(1'794'731'400'123)));
}

TEST(GcsAnswers, AnObjectWithoutAChecksumIsRead) {
  const auto object = read_object(R"({"name":"a","size":7,"generation":9,"crc32c":"nonsense"})");
  ASSERT_TRUE(object) << object.error().to_string();
  EXPECT_EQ(object->size, 7U);
  EXPECT_EQ(object->version, "9");
  EXPECT_FALSE(object->crc32c);
}

TEST(GcsAnswers, ASizeOfNothingMayBeLeftOut) {
  for (const char* sum : {R"("crc32c":"AAAAAA==")", R"("md5Hash":"1B2M2Y8AsgTpgAmY7PhCfg==")"}) {
    const auto object = read_object(std::string(R"({"name":"a","generation":"9",)") + sum + "}");
    ASSERT_TRUE(object) << object.error().to_string();
    EXPECT_EQ(object->size, 0U);
  }
  EXPECT_FALSE(read_object(R"({"name":"a","generation":"9","crc32c":"4waSgw=="})"));
}

TEST(GcsAnswers, WhatIsNoObjectIsCorrupt) {
  for (const char* json :
       {"", "[]", "null", "{}", R"({"name":"a"})", R"({"name":"a","size":"7"})",
        R"({"name":"a","size":"-7","generation":"1"})",
        R"({"name":"a","size":"7x","generation":"1"})", R"({"name":7,"size":"7","generation":"1"})",
        R"({"name":"a","size":"","generation":"1"})",
        R"({"name":"a","size":"99999999999999999999","generation":"1"})",
        R"({"name":"a","size":"7","generation":"1")", "<html>"}) {
    const auto object = read_object(json);
    ASSERT_FALSE(object) << json;
    EXPECT_EQ(object.error().code(), ErrorCode::kCorrupt) << json;
  }
}

TEST(GcsAnswers, AListIsRead) {
  const auto page = read_list(std::string(R"({"items":[)") + kObject +
                              R"(],"prefixes":["x/","y/"],"nextPageToken":"abc="})");
  ASSERT_TRUE(page) << page.error().to_string();
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].key, "a/b c");
  EXPECT_EQ(page->folders, (std::vector<std::string>{"x/", "y/"}));
  EXPECT_EQ(page->next, "abc=");
}

TEST(GcsAnswers, AnEmptyListHasNothing) {
  for (const char* json : {"{}", R"({"kind":"storage#objects"})",
                           R"({"items":null,"prefixes":null})", R"({"items":[]})"}) {
    const auto page = read_list(json);
    ASSERT_TRUE(page) << json;
    EXPECT_TRUE(page->objects.empty());
    EXPECT_TRUE(page->folders.empty());
    EXPECT_EQ(page->next, "");
  }
}

TEST(GcsAnswers, WhatIsNoListIsCorrupt) {
  for (const char* json : {"", "[]", R"({"items":{}})", R"({"items":[7]})", R"({"items":[{}]})",
                           R"({"prefixes":"x"})", R"({"prefixes":[7]})", "{"}) {
    const auto page = read_list(json);
    ASSERT_FALSE(page) << json;
    EXPECT_EQ(page.error().code(), ErrorCode::kCorrupt) << json;
  }
}

TEST(GcsAnswers, ARefusalIsGooglesOwnWords) {
  const Refusal refusal = read_refusal(
      R"({"error":{"code":412,"message":"did not\nhold","errors":[{"reason":"conditionNotMet"}]}})");
  EXPECT_EQ(refusal.reason, "conditionNotMet");
  EXPECT_EQ(refusal.message, "did not hold");
}

TEST(GcsAnswers, ARefusalMayBeAnything) {
  EXPECT_EQ(read_refusal("").message, "");
  EXPECT_EQ(read_refusal("Not Found").message, "Not Found");
  EXPECT_EQ(read_refusal("<html><h1>502 Bad\tGateway</h1>\n</html>").message, "502 Bad Gateway");
  EXPECT_EQ(read_refusal(R"({"error":"invalid_grant","error_description":"expired"})").reason,
            "invalid_grant");
  EXPECT_EQ(read_refusal(R"({"error":7})").message, "");
  EXPECT_EQ(read_refusal(R"({"error":{"errors":[]}})").reason, "");
  EXPECT_EQ(read_refusal(R"({"error":{"errors":[7]}})").reason, "");
  EXPECT_LE(read_refusal(std::string(10'000, 'x')).message.size(), 300U);
  EXPECT_EQ(read_refusal("\xff\x1b[31mred").message, "[31mred");
}

TEST(GcsAnswers, HeadersTellOfTheObject) {
  const sys::HttpResponse whole{.status = 200,
                                .headers = {{"X-Goog-Generation", "17"},
                                            {"x-goog-hash", "md5=7Qdih1MuhjZehB6Sv8UNjA=="},
                                            {"x-goog-hash", "crc32c=4waSgw=="},
                                            {"X-Goog-Stored-Content-Length", "9"},
                                            {"Content-Length", "5"},
                                            {"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"}}};
  const auto read = read_headers(whole);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->generation, "17");
  EXPECT_EQ(read->size, 9U);
  EXPECT_EQ(read->offset, 0U);
  EXPECT_EQ(read->crc32c, 0xe3069283U);
  EXPECT_EQ(read->modified, WallTime(std::chrono::seconds(784111777)));
}

TEST(GcsAnswers, ChecksumsMayShareAHeader) {
  for (const char* hash : {"crc32c=4waSgw==,md5=7Qdih1MuhjZehB6Sv8UNjA==",
                           "md5=7Qdih1MuhjZehB6Sv8UNjA==, crc32c=4waSgw==",
                           "crc32c=4waSgw== md5=7Qdih1MuhjZehB6Sv8UNjA=="}) {
    const auto read =
        read_headers({.status = 200, .headers = {{"x-goog-hash", hash}, {"Content-Length", "9"}}});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->crc32c, 0xe3069283U) << hash;
  }
}

TEST(GcsAnswers, APartTellsWhichItIs) {
  const auto range = [](std::string text) {
    return read_headers({.status = 206, .headers = {{"Content-Range", std::move(text)}}});
  };
  const auto good = range("bytes 3-6/10");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->offset, 3U);
  EXPECT_EQ(good->size, 10U);
  for (const char* bad : {"", "bytes */10", "bytes 3-6/*", "bytes 6-3/10", "bytes 3-10/10",
                          "bytes 3/10-6", "3-6/10", "bytes -/", "bytes 3-6/10x"}) {
    EXPECT_FALSE(range(bad)) << bad;
  }
  EXPECT_FALSE(read_headers({.status = 200}));
}

TEST(GcsAnswers, ASessionTellsWhatItHolds) {
  const auto stored = [](std::string text) {
    return read_stored_bytes({.status = 308, .headers = {{"Range", std::move(text)}}});
  };
  EXPECT_EQ(read_stored_bytes({.status = 308}).value(), 0U);
  EXPECT_EQ(stored("bytes=0-262143").value(), 262'144U);
  EXPECT_EQ(stored("0-9").value(), 10U);
  for (const char* bad :
       {"bytes=1-5", "bytes=0-", "bytes=-5", "", "bytes=0-18446744073709551615"}) {
    EXPECT_FALSE(stored(bad)) << bad;
  }
}

TEST(GcsAnswers, ChecksumsAreBigEndianInBase64) {
  EXPECT_EQ(format_crc32c(crc32c(as_bytes("123456789"))), "4waSgw==");
  EXPECT_EQ(parse_crc32c("4waSgw=="), 0xe3069283U);
  for (const char* bad : {"", "4waSgw", "4waSgwAA", "????"}) EXPECT_FALSE(parse_crc32c(bad)) << bad;
}

TEST(GcsAnswers, ZeroIsNoGeneration) {
  EXPECT_TRUE(is_generation("1"));
  EXPECT_TRUE(is_generation("9223372036854775807"));
  for (const char* bad : {"", "0", "00", "01", "-1", "+1", "1x", " 1", "9223372036854775808"}) {
    EXPECT_FALSE(is_generation(bad)) << bad;
  }
}

TEST(GcsAnswers, OddAnswersBreakNoPromise) {
  for (const char* text :
       {"", "{}", "[]", "\"\\u0000\"", R"({"error":{"message":"\ud834\udd1e\u0007"}})",
        R"({"items":[{"name":"\u0000","size":0,"generation":0}]})", "<a<b>>c", "\xed\xa0\x80",
        "bytes 0-0/1", "bytes=0-0", kObject}) {
    testing::fuzz_gcs_answers(text);
  }
}

TEST(GcsAnswers, EveryAnswerThatWasEverInterestingKeepsThePromises) {
  sys::testing::real_world().run([](sys::World& world, const std::string&) {
    const std::string folder = OUTLAST_SOURCE_DIR "/tests/corpus/gcs_answers";
    const auto entries = world.files.list(folder);
    ASSERT_TRUE(entries) << entries.error().to_string();
    ASSERT_FALSE(entries->empty());
    for (const auto& entry : *entries) {
      const auto bytes = sys::read_file(world.files, folder + "/" + entry.name, 1U << 20U);
      ASSERT_TRUE(bytes) << bytes.error().to_string();
      testing::fuzz_gcs_answers(*bytes);
    }
  });
}

}  // namespace
}  // namespace outlast::store::gcs
