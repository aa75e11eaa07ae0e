#include "store/gcs/gcs_signed_url.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/time.h"
#include "store/gcs/testing/gcs_rig.h"

namespace outlast::store::gcs {
namespace {

// The first of the signatures that Google publishes for its own libraries.
SignedUrlRequest published() {
  return {.endpoint = "https://storage.googleapis.com",
          .bucket = "test-bucket",
          .key = "test-object",
          .email = "test-iam-credentials@dummy-project-id.iam.gserviceaccount.com",
          .now = *parse_rfc3339("2019-02-01T09:00:00Z"),
          .valid_for = std::chrono::seconds(10)};
}

TEST(GcsSignedUrl, WhatIsSignedIsWhatGooglePublishes) {
  const auto made = unsigned_url(published());
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->canonical_request,
            "GET\n/test-bucket/test-object\n"
            "X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=test-iam-credentials%40"
            "dummy-project-id.iam.gserviceaccount.com%2F20190201%2Fauto%2Fstorage%2Fgoog4_request"
            "&X-Goog-Date=20190201T090000Z&X-Goog-Expires=10&X-Goog-SignedHeaders=host\n"
            "host:storage.googleapis.com\n\nhost\nUNSIGNED-PAYLOAD");
  EXPECT_EQ(made->string_to_sign,
            "GOOG4-RSA-SHA256\n20190201T090000Z\n20190201/auto/storage/goog4_request\n"
            "00e2fb794ea93d7adb703edaebdd509821fcc7d4f1a79ac5c8d2b394df109320");
}

TEST(GcsSignedUrl, TheSignatureStandsAtTheEnd) {
  testing::FakeSigner signer;
  const auto made = unsigned_url(published());
  const auto url = sign_url(published(), signer, {});
  ASSERT_TRUE(made && url);
  EXPECT_EQ(url->reveal(),
            made->url + "&X-Goog-Signature=" + sha256(as_bytes(made->string_to_sign)).hex());
}

TEST(GcsSignedUrl, NamesAreEncodedAndSlashesKept) {
  SignedUrlRequest request = published();
  request.key = "a b/\u00e9+%&?.txt";
  request.endpoint = "http://127.0.0.1:4443";
  const auto made = unsigned_url(request);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->url.starts_with(
      "http://127.0.0.1:4443/test-bucket/a%20b/%C3%A9%2B%25%26%3F.txt?X-Goog-Algorithm="))
      << made->url;
  EXPECT_NE(made->canonical_request.find("\nhost:127.0.0.1:4443\n"), std::string::npos);
}

TEST(GcsSignedUrl, ThePortThatGoesWithoutSayingIsNotSigned) {
  SignedUrlRequest request = published();
  request.endpoint = "https://storage.googleapis.com:443";
  EXPECT_EQ(unsigned_url(request)->canonical_request, unsigned_url(published())->canonical_request);
}

TEST(GcsSignedUrl, GoogleAllowsOneSecondToSevenDays) {
  SignedUrlRequest request = published();
  for (const Duration bad : {Duration(0), Duration(std::chrono::milliseconds(999)),
                             Duration(std::chrono::hours(24 * 7) + std::chrono::seconds(1)),
                             Duration(std::chrono::seconds(-5))}) {
    request.valid_for = bad;
    const auto made = unsigned_url(request);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), ErrorCode::kInvalidArgument);
  }
  request.valid_for = std::chrono::hours(24 * 7);
  EXPECT_TRUE(unsigned_url(request));
}

}  // namespace
}  // namespace outlast::store::gcs
