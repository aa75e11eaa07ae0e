#include "store/s3/s3_address.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "store/s3/s3_store.h"

namespace outlast::store::s3 {
namespace {

// "https://host/path region".
std::string shown(const S3Options& options, const std::string& key = "a b/c") {
  const auto address = address_of(options);
  if (!address) return address.error().to_string();
  return address->origin() + address->path_of(key) + " " + address->region;
}

TEST(S3Address, AmazonsBucketIsInTheHost) {
  EXPECT_EQ(shown({.bucket = "bkt"}), "https://bkt.s3.us-east-1.amazonaws.com/a%20b/c us-east-1");
  EXPECT_EQ(shown({.bucket = "bkt", .region = "eu-west-3"}),
            "https://bkt.s3.eu-west-3.amazonaws.com/a%20b/c eu-west-3");
  EXPECT_EQ(shown({.bucket = "bkt", .region = "cn-north-1"}, ""),
            "https://bkt.s3.cn-north-1.amazonaws.com.cn/ cn-north-1");
}

TEST(S3Address, NamesThatNoCertificateCoversAreInThePath) {
  for (const char* bucket : {"with.dots", "UPPER", "under_score"}) {
    EXPECT_EQ(shown({.bucket = bucket}, "k"),
              "https://s3.us-east-1.amazonaws.com/" + std::string(bucket) + "/k us-east-1");
  }
}

TEST(S3Address, AnotherEndpointHasTheBucketInThePath) {
  EXPECT_EQ(shown({.bucket = "bkt", .endpoint = "http://127.0.0.1:9000"}),
            "http://127.0.0.1:9000/bkt/a%20b/c us-east-1");
  EXPECT_EQ(shown({.bucket = "bkt", .region = "auto", .endpoint = "https://S3.Example.org:443/x/"}),
            "https://s3.example.org/x/bkt/a%20b/c auto");
  EXPECT_EQ(shown({.bucket = "bkt",
                   .endpoint = "https://s3.example.org",
                   .addressing = S3Addressing::kHost},
                  ""),
            "https://bkt.s3.example.org/ us-east-1");
}

TEST(S3Address, AmazonsOwnEndpointSaysTheRegion) {
  EXPECT_EQ(shown({.bucket = "bkt", .endpoint = "https://s3.us-west-2.amazonaws.com"}, ""),
            "https://bkt.s3.us-west-2.amazonaws.com/ us-west-2");
  EXPECT_EQ(shown({.bucket = "bkt", .endpoint = "https://s3.amazonaws.com"}, ""),
            "https://bkt.s3.us-east-1.amazonaws.com/ us-east-1");
  // An endpoint inside a private network belongs to it, whatever the region.
  EXPECT_EQ(
      shown({.bucket = "bkt", .endpoint = "https://vpce-1.s3.us-west-2.vpce.amazonaws.com"}, ""),
      "https://vpce-1.s3.us-west-2.vpce.amazonaws.com/bkt us-east-1");
}

TEST(S3Address, MovesToAnotherRegion) {
  EXPECT_EQ(address_in({.bucket = "bkt"}, "eu-west-3")->host, "bkt.s3.eu-west-3.amazonaws.com");
  const S3Options own{.bucket = "bkt", .endpoint = "http://localhost:9000"};
  EXPECT_EQ(address_in(own, "eu-west-3")->host, "localhost:9000");
  EXPECT_EQ(address_in(own, "eu-west-3")->region, "eu-west-3");
  for (const char* bad : {"", "a b", "x.evil.org/", "\r\nX: 1"}) {
    EXPECT_FALSE(address_in({.bucket = "bkt"}, bad)) << bad;
  }
}

TEST(S3Address, KnowsWhoIsSafeFromListeners) {
  const auto safe = [](const char* endpoint) {
    return address_of({.bucket = "bkt", .endpoint = endpoint})->safe_wire;
  };
  for (const char* yes : {"https://s3.example.org", "http://localhost:9000", "http://127.0.0.1:1",
                          "http://[::1]:9000", "http://s3.localhost"}) {
    EXPECT_TRUE(safe(yes)) << yes;
  }
  for (const char* no : {"http://s3.example.org", "http://127.evil.org", "http://10.0.0.1:9000"}) {
    EXPECT_FALSE(safe(no)) << no;
  }
}

TEST(S3Address, RefusesWhatIsNoBucketRegionOrEndpoint) {
  for (const S3Options& bad :
       {S3Options{.bucket = ""}, S3Options{.bucket = "ab"}, S3Options{.bucket = "a/b"},
        S3Options{.bucket = "..."}, S3Options{.bucket = "with space"},
        S3Options{.bucket = "bkt", .region = "no where"},
        S3Options{.bucket = "bkt", .endpoint = "s3.example.org"},
        S3Options{.bucket = "bkt", .endpoint = "ftp://s3.example.org"},
        S3Options{.bucket = "bkt", .endpoint = "https://s3.example.org?x=1"}}) {
    const auto address = address_of(bad);
    ASSERT_FALSE(address) << bad.bucket << " " << bad.region << " " << bad.endpoint;
    EXPECT_EQ(address.error().code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace outlast::store::s3
