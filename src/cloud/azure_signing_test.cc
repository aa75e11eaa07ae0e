#include "cloud/azure_signing.h"

#include <gtest/gtest.h>

#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"
#include "sys/http.h"

namespace outlast::cloud {
namespace {

// The emulators' public account. The signatures below were computed by Python's hmac.
constexpr const char* kAccount = "devstoreaccount1";
Secret<Bytes> emulator_key() {
  return Secret<Bytes>(
      base64_decode("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/"
                    "K1SZFPTOtr/KBHBeksoGMGw==")
          .value());
}

TEST(AzureSigning, CoversQueryAndHeadersInOrderOfTheirNames) {
  const sys::HttpRequest request{.url =
                                     "https://myaccount.blob.core.windows.net/"
                                     "mycontainer?restype=container&Comp=metadata&timeout=20",
                                 .headers = {{"X-MS-Version", "2015-02-21"},
                                             {"x-ms-date", "  Fri, 26 Jun 2015 23:39:12 GMT "},
                                             {"Accept", "nothing of this"}}};
  EXPECT_EQ(azure_string_to_sign("myaccount", request).value(),
            "GET\n\n\n\n\n\n\n\n\n\n\n\n"
            "x-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n"
            "/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20");
}

TEST(AzureSigning, CoversABodyAndTakesThePathAsItIsSent) {
  const std::string body = "hello world";
  sys::HttpRequest request{.method = "PUT",
                           .url = "http://127.0.0.1:10000/devstoreaccount1/jobs/run%201/a%2Bb",
                           .headers = {{"If-None-Match", "*"},
                                       {"Content-MD5", "XrY7u+Ae7tCTyyK7j1rNww=="},
                                       {"Content-Type", "application/octet-stream"},
                                       {"x-ms-version", "2021-12-02"},
                                       {"x-ms-date", "Sun, 15 Nov 2026 08:30:00 GMT"},
                                       {"x-ms-blob-type", "BlockBlob"}},
                           .body = as_bytes(body)};
  EXPECT_EQ(azure_string_to_sign(kAccount, request).value(),
            "PUT\n\n\n11\nXrY7u+Ae7tCTyyK7j1rNww==\napplication/octet-stream\n\n\n\n*\n\n\n"
            "x-ms-blob-type:BlockBlob\nx-ms-date:Sun, 15 Nov 2026 08:30:00 GMT\n"
            "x-ms-version:2021-12-02\n"
            "/devstoreaccount1/devstoreaccount1/jobs/run%201/a%2Bb");
  EXPECT_EQ(azure_shared_key(kAccount, emulator_key(), request).value().reveal(),
            "SharedKey devstoreaccount1:WQUIelNpZ6zVMQpDu63qeIbCPfnPdqS50qv46dWzMzA=");
  request.body = {};
  EXPECT_NE(azure_string_to_sign(kAccount, request).value().find("PUT\n\n\n\nXrY7"),
            std::string::npos)
      << "a length of 0 is left out";
}

TEST(AzureSigning, DecodesAndSortsWhatTheQuerySays) {
  const sys::HttpRequest request{.url = "http://h/c?prefix=a%2Fb%20%26&include=z&include=m&flag&"};
  const std::string text = azure_string_to_sign("acc", request).value();
  EXPECT_TRUE(text.ends_with("\n/acc/c\nflag:\ninclude:m,z\nprefix:a/b &")) << text;
}

TEST(AzureSigning, RefusesAUrlThatCannotBeSigned) {
  for (const char* bad : {"", "h/c", "http://h", "http://h?x=/", "http://h/c?x=%4"}) {
    const auto signed_text = azure_string_to_sign("acc", {.url = bad});
    ASSERT_FALSE(signed_text) << bad;
    EXPECT_EQ(signed_text.error().code(), ErrorCode::kInvalidArgument) << bad;
  }
}

TEST(AzureSigning, SignsAUrlOfABlobOfAContainerAndOfAnAccount) {
  const WallTime expires = parse_rfc3339("2026-11-15T08:30:00.999Z").value();
  EXPECT_EQ(sign_service_sas({.account = kAccount,
                              .container = "jobs",
                              .blob = "run 1/a+b",
                              .permissions = "r",
                              .expires = expires},
                             emulator_key())
                .reveal(),
            "sv=2021-12-02&se=2026-11-15T08%3A30%3A00Z&sr=b&sp=r&"
            "sig=1wmSFuaVuLJi30Rs%2BtWhI3rFZ3FffPqnMQwsPh%2Bri3w%3D");
  EXPECT_EQ(sign_service_sas({.account = kAccount,
                              .container = "jobs",
                              .permissions = "rl",
                              .starts = parse_rfc3339("2026-11-14T00:00:00Z").value(),
                              .expires = expires,
                              .https_only = true},
                             emulator_key())
                .reveal(),
            "sv=2021-12-02&st=2026-11-14T00%3A00%3A00Z&se=2026-11-15T08%3A30%3A00Z&sr=c&sp=rl&"
            "spr=https&sig=lUNaNgWSqStfEz%2B0vWF6Feo61s9rrvCvvLmdIHoaQkY%3D");
  EXPECT_EQ(sign_account_sas({.account = kAccount, .permissions = "rwdlac", .expires = expires},
                             emulator_key())
                .reveal(),
            "sv=2021-12-02&ss=b&srt=sco&se=2026-11-15T08%3A30%3A00Z&sp=rwdlac&"
            "sig=IggPlWFgGqDS51CyN1wUuCr8ugygQ5WpRznO5SvpLcE%3D");
}

}  // namespace
}  // namespace outlast::cloud
