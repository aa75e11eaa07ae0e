#include "cloud/sigv4.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "cloud/url_encoding.h"
#include "sys/http.h"

namespace outlast::cloud {
namespace {

using sys::HttpHeaders;

AwsKeys example_keys() {
  return {.access_key_id = "AKIAIOSFODNN7EXAMPLE",
          .secret_key = Secret<std::string>("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")};
}

std::string value_of(const HttpHeaders& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "";
}

std::string signature_of(const HttpHeaders& headers) {
  const std::string value = value_of(headers, "Authorization");
  return value.substr(value.rfind('=') + 1);
}

class SigV4Documented : public ::testing::Test {
 protected:
  WallTime now_ = parse_rfc3339("2013-05-24T00:00:00Z").value();
  SigningKey key_ =
      derive_signing_key(example_keys(), {.region = "us-east-1", .service = "s3"}, now_);
};

constexpr std::string_view kHost = "examplebucket.s3.amazonaws.com";

TEST_F(SigV4Documented, GetOfARange) {
  const HttpHeaders headers = {{"Range", "bytes=0-9"}};
  const HttpHeaders added =
      sign_v4({.host = kHost, .path = "/test.txt", .headers = &headers}, key_, now_);
  EXPECT_EQ(value_of(added, "Authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(value_of(added, "X-Amz-Date"), "20130524T000000Z");
  EXPECT_EQ(value_of(added, "X-Amz-Content-Sha256"), kEmptyPayload);
  EXPECT_EQ(added.size(), 3U);
}

TEST_F(SigV4Documented, PutOfAnObject) {
  const HttpHeaders headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                               {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
  const std::string hash = sha256(as_bytes("Welcome to Amazon S3.")).hex();
  EXPECT_EQ(signature_of(sign_v4({.method = "PUT",
                                  .host = kHost,
                                  .path = percent_encode_path("/test$file.text"),
                                  .headers = &headers,
                                  .payload_hash = hash},
                                 key_, now_)),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST_F(SigV4Documented, QueriesWithAndWithoutValues) {
  const Query lifecycle = {{"lifecycle", ""}};
  EXPECT_EQ(signature_of(sign_v4({.host = kHost, .query = &lifecycle}, key_, now_)),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  const Query list = {{"prefix", "J"}, {"max-keys", "2"}};
  EXPECT_EQ(signature_of(sign_v4({.host = kHost, .query = &list}, key_, now_)),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_F(SigV4Documented, SeedAndKeyOfAChunkedPut) {
  const HttpHeaders headers = {{"content-encoding", "aws-chunked"},
                               {"content-length", "66824"},
                               {"x-amz-decoded-content-length", "66560"},
                               {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
  std::string previous =
      signature_of(sign_v4({.method = "PUT",
                            .host = "s3.amazonaws.com",
                            .path = "/examplebucket/chunkObject.txt",
                            .headers = &headers,
                            .payload_hash = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"},
                           key_, now_));
  EXPECT_EQ(previous, "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9");
  struct Chunk {
    std::size_t size = 0;
    const char* signature = "";
  };
  for (const Chunk& chunk :
       {Chunk{.size = 65536,
              .signature = "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"},
        Chunk{.size = 1024,
              .signature = "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"},
        Chunk{.size = 0,
              .signature = "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"}}) {
    const std::string to_sign =
        "AWS4-HMAC-SHA256-PAYLOAD\n20130524T000000Z\n20130524/us-east-1/s3/aws4_request\n" +
        previous + "\n" + std::string(kEmptyPayload) + "\n" +
        sha256(as_bytes(std::string(chunk.size, 'a'))).hex();
    previous = hmac_sha256(key_.key.reveal(), as_bytes(to_sign)).hex();
    EXPECT_EQ(previous, chunk.signature);
  }
}

TEST_F(SigV4Documented, PresignedGet) {
  const Secret<std::string> query =
      presign_v4({.host = kHost, .path = "/test.txt"}, key_, now_, std::chrono::hours(24));
  EXPECT_EQ(query.reveal(),
            "X-Amz-Algorithm=AWS4-HMAC-SHA256"
            "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
            "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
            "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST(SigV4, SignsATemporaryKeysTokenAndAnAwkwardPath) {
  const WallTime now = parse_rfc3339("2026-01-02T03:04:05Z").value();
  AwsKeys keys = example_keys();
  keys.session_token = Secret<std::string>("AQoDYXdzEPT//////////wEXAMPLE");
  const SigningKey key = derive_signing_key(keys, {.region = "us-west-2", .service = "s3"}, now);
  const Query query = {{"uploadId", "VXBsb2Fk/+=="}, {"partNumber", "3"}};
  const HttpHeaders added = sign_v4({.method = "PUT",
                                     .host = "bkt.s3.us-west-2.amazonaws.com",
                                     .path = percent_encode_path("/ckpt/run 1/a+b=c.bin"),
                                     .query = &query,
                                     .payload_hash = kUnsignedPayload},
                                    key, now);
  EXPECT_EQ(signature_of(added),
            "e3d769693fb159705f2ad59eac0818d7f355e6e0038d976d7fbf26529c2643b3");
  EXPECT_EQ(value_of(added, "X-Amz-Security-Token"), "AQoDYXdzEPT//////////wEXAMPLE");
}

TEST(SigV4, SignsOtherServicesWithoutTheHashHeader) {
  const WallTime now = parse_rfc3339("2026-01-02T03:04:05Z").value();
  const SigningKey key =
      derive_signing_key(example_keys(), {.region = "us-east-1", .service = "ec2"}, now);
  const HttpHeaders headers = {
      {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
  const std::string hash = sha256(as_bytes("Action=DescribeInstances&Version=2016-11-15")).hex();
  const HttpHeaders added = sign_v4({.method = "POST",
                                     .host = "ec2.us-east-1.amazonaws.com",
                                     .headers = &headers,
                                     .payload_hash = hash},
                                    key, now);
  EXPECT_EQ(signature_of(added),
            "cc37a9177e2d70f4ddea5bfabafadfb284b815500e4061ada7664c88af3e5346");
  EXPECT_EQ(value_of(added, "X-Amz-Content-Sha256"), "");
}

class SigV4OfTheService : public ::testing::Test {
 protected:
  std::string sign(std::string_view path, const HttpHeaders& headers = {}) {
    return signature_of(sign_v4({.host = "h", .path = path, .headers = &headers}, key_, now_));
  }
  WallTime now_ = parse_rfc3339("2026-01-02T03:04:05Z").value();
  SigningKey key_ =
      derive_signing_key(example_keys(), {.region = "us-east-1", .service = "service"}, now_);
};

TEST_F(SigV4OfTheService, NormalisesThePath) {
  EXPECT_EQ(sign("/a//b/./c/../d/"), sign("/a/b/d/"));
  EXPECT_EQ(sign("/a/.."), sign("/"));
  EXPECT_EQ(sign("/.."), sign(""));
  EXPECT_NE(sign("/a"), sign("/a/"));
  EXPECT_NE(sign("/a%20b"), sign("/a b"));
}

TEST_F(SigV4OfTheService, ReadsHeadersAsTheServerDoes) {
  EXPECT_EQ(sign("/", {{"X-A", "  one \t two "}, {"X-B", "3"}}),
            sign("/", {{"x-b", "3"}, {"x-a", "one two"}}));
  EXPECT_EQ(sign("/", {{"X-A", "1"}, {"X-A", "2"}}), sign("/", {{"x-a", "1,2"}}));
  EXPECT_EQ(sign("/", {{"User-Agent", "u"}, {"Expect", "e"}}), sign("/"));
  // By name, not by "name:value": one name may be the start of another.
  EXPECT_EQ(sign("/", {{"x-a-b", "1"}, {"x-a", "2"}}), sign("/", {{"x-a", "2"}, {"x-a-b", "1"}}));
}

TEST(SigV4, AKeyFitsItsDayOnly) {
  const WallTime now = parse_rfc3339("2026-01-02T23:59:59Z").value();
  const SigningKey key =
      derive_signing_key(example_keys(), {.region = "us-east-1", .service = "s3"}, now);
  EXPECT_TRUE(key.fits(now));
  EXPECT_FALSE(key.fits(now + std::chrono::seconds(1)));
}

TEST(SigV4, APresignedQueryHoldsTheTokenAndTheRequestsOwn) {
  const WallTime now = parse_rfc3339("2026-01-02T03:04:05Z").value();
  AwsKeys keys = example_keys();
  keys.session_token = Secret<std::string>("a/b");
  const SigningKey key = derive_signing_key(keys, {.region = "us-east-1", .service = "s3"}, now);
  const Query own = {{"versionId", "v 1"}};
  const std::string query =
      presign_v4({.host = "h", .path = "/k", .query = &own}, key, now, std::chrono::minutes(1))
          .reveal();
  EXPECT_NE(query.find("X-Amz-Security-Token=a%2Fb"), std::string::npos);
  EXPECT_NE(query.find("versionId=v%201"), std::string::npos);
  EXPECT_NE(query.find("X-Amz-Expires=60&"), std::string::npos);
}

}  // namespace
}  // namespace outlast::cloud
