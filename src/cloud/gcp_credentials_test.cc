#include "cloud/gcp_credentials.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/rsa.h"
#include "base/testing/rsa_test_keys.h"
#include "cloud/credentials.h"
#include "cloud/testing/fake_world.h"
#include "cloud/testing/planted_secrets.h"
#include "cloud/url_encoding.h"

namespace outlast::cloud {
namespace {

using testing::FakeWorld;

constexpr const char* kMetadataUrl =
    "http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token?scopes="
    "https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fdevstorage.read_write";
constexpr const char* kToken =
    R"({"access_token":"ya29.t","expires_in":3599,"token_type":"Bearer"})";

std::string account_file(const std::string& token_uri = "https://oauth2.googleapis.com/token") {
  return Json{{"type", "service_account"},
              {"client_email", "train@p.iam.gserviceaccount.com"},
              {"private_key_id", "kid7"},
              {"private_key", outlast::testing::kRsaPrivateKey},
              {"token_uri", token_uri}}
      .dump();
}

constexpr const char* kUserFile =
    R"({"type":"authorized_user","client_id":"cid","client_secret":"pLaNtEd1",)"
    R"("refresh_token":"pLaNtEd2"})";

class GcpChainTest : public ::testing::Test {
 protected:
  FakeWorld fake_;
  std::unique_ptr<GcpCredentials> credentials_ =
      make_gcp_credentials(fake_.world(), std::string(kGcpStorageScope));

  std::string token() {
    const Result<BearerToken> got = credentials_->get({});
    return got ? got->token.reveal() : "error: " + got.error().to_string();
  }
  Error error() {
    const Result<BearerToken> got = credentials_->get({});
    EXPECT_FALSE(got.has_value());
    if (got) return {ErrorCode::kFailed, "there was a token"};
    testing::expect_no_secret(got.error().to_string());
    return got.error();
  }
  void use_file(std::string_view text) {
    fake_.set("GOOGLE_APPLICATION_CREDENTIALS", fake_.write("key.json", text));
  }
  void TearDown() override { EXPECT_EQ(fake_.http.missing(), 0U); }
};

TEST_F(GcpChainTest, AServiceAccountSignsForItsToken) {
  use_file(account_file());
  fake_.http.expect({.method = "POST",
                     .url = "https://oauth2.googleapis.com/token",
                     .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
                     .direct = false,
                     .answer = {.status = 200, .body = kToken}});
  EXPECT_EQ(token(), "ya29.t");
  EXPECT_EQ(credentials_->origin(),
            "service account train@p.iam.gserviceaccount.com in " + fake_.path("key.json"));

  const std::string body = fake_.http.last_body();
  const std::string_view start =
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  ASSERT_TRUE(body.starts_with(start));
  const std::string jwt = *percent_decode(body.substr(start.size()));
  const std::size_t first = jwt.find('.');
  const std::size_t second = jwt.rfind('.');
  EXPECT_EQ(as_text(*base64_decode(jwt.substr(0, first), Base64::kUrl)),
            R"({"alg":"RS256","kid":"kid7","typ":"JWT"})");
  EXPECT_EQ(as_text(*base64_decode(jwt.substr(first + 1, second - first - 1), Base64::kUrl)),
            R"({"aud":"https://oauth2.googleapis.com/token","exp":1800003600,"iat":1800000000,)"
            R"("iss":"train@p.iam.gserviceaccount.com",)"
            R"("scope":"https://www.googleapis.com/auth/devstorage.read_write"})");
  EXPECT_TRUE(rsa_sha256_verifies(outlast::testing::kRsaPublicKey, as_bytes(jwt.substr(0, second)),
                                  *base64_decode(jwt.substr(second + 1), Base64::kUrl))
                  .value());
}

TEST_F(GcpChainTest, TokensAreRefreshedBeforeTheyExpire) {
  use_file(account_file("http://127.0.0.1:5/token"));
  for (const char* answer : {kToken, R"({"access_token":"ya29.u","expires_in":3599})"}) {
    fake_.http.expect({.method = "POST",
                       .url = "http://127.0.0.1:5/token",
                       .answer = {.status = 200, .body = answer}});
  }
  EXPECT_EQ(token(), "ya29.t");
  fake_.clock.pass(std::chrono::minutes(50));
  EXPECT_EQ(token(), "ya29.t");
  fake_.clock.pass(std::chrono::minutes(5));
  EXPECT_EQ(token(), "ya29.u");
}

TEST_F(GcpChainTest, AServiceAccountSignsUrls) {
  use_file(account_file());
  GcpSigner* signer = credentials_->signer();
  ASSERT_NE(signer, nullptr);
  EXPECT_EQ(signer, credentials_->signer());
  EXPECT_EQ(signer->email(), "train@p.iam.gserviceaccount.com");
  const Result<Bytes> signature = signer->sign(as_bytes("m"), {});
  ASSERT_TRUE(signature.has_value());
  EXPECT_TRUE(
      rsa_sha256_verifies(outlast::testing::kRsaPublicKey, as_bytes("m"), *signature).value());
}

TEST_F(GcpChainTest, NobodyElseSignsUrls) {
  EXPECT_EQ(credentials_->signer(), nullptr);
  use_file(kUserFile);
  EXPECT_EQ(make_gcp_credentials(fake_.world(), "s")->signer(), nullptr);
  use_file("nonsense");
  EXPECT_EQ(make_gcp_credentials(fake_.world(), "s")->signer(), nullptr);
}

TEST_F(GcpChainTest, ALoginIsFoundWhereGcloudKeepsIt) {
  fake_.write(".config/gcloud/application_default_credentials.json", kUserFile);
  fake_.http.expect({.method = "POST",
                     .url = "https://oauth2.googleapis.com/token",
                     .body = "grant_type=refresh_token&client_id=cid&client_secret=pLaNtEd1&"
                             "refresh_token=pLaNtEd2",
                     .answer = {.status = 200, .body = kToken}});
  EXPECT_EQ(token(), "ya29.t");
}

TEST_F(GcpChainTest, CloudsdkConfigMovesTheLogin) {
  fake_.write("else/application_default_credentials.json", kUserFile);
  fake_.write(".config/gcloud/application_default_credentials.json", "not this");
  fake_.set("CLOUDSDK_CONFIG", fake_.path("else"));
  fake_.http.expect({.method = "POST",
                     .url = "https://oauth2.googleapis.com/token",
                     .answer = {.status = 200, .body = kToken}});
  EXPECT_EQ(token(), "ya29.t");
}

TEST_F(GcpChainTest, TheNamedFileWinsOverTheLoginAndTheMachine) {
  fake_.write(".config/gcloud/application_default_credentials.json", kUserFile);
  use_file(account_file("http://127.0.0.1:5/token"));
  fake_.http.expect({.method = "POST",
                     .url = "http://127.0.0.1:5/token",
                     .answer = {.status = 200, .body = kToken}});
  EXPECT_EQ(token(), "ya29.t");
}

TEST_F(GcpChainTest, AnExpiredLoginSaysHowToLogInWithoutTheSecrets) {
  use_file(kUserFile);
  fake_.http.expect(
      {.method = "POST",
       .url = "https://oauth2.googleapis.com/token",
       .answer = {
           .status = 400,
           .body = R"({"error":"invalid_grant","error_description":"pLaNtEd2 is revoked."})"}});
  EXPECT_EQ(error().to_string(),
            "POST https://oauth2.googleapis.com/token was answered with 400 (invalid_grant: "
            "[secret] is revoked): log in again with 'gcloud auth application-default login'");
}

TEST_F(GcpChainTest, ANamedFileThatIsNotThereIsAMistake) {
  fake_.set("GOOGLE_APPLICATION_CREDENTIALS", fake_.path("nothing.json"));
  const Error missing = error();
  EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
  EXPECT_NE(missing.to_string().find("GOOGLE_APPLICATION_CREDENTIALS"), std::string::npos);
}

TEST_F(GcpChainTest, BadFilesAreNamedButNotShown) {
  for (const std::string& text :
       {std::string("pLaNtEd"), std::string("[\"pLaNtEd\"]"), std::string("{\"pLaNtEd\":1}"),
        std::string(R"({"type":"pLaNtEd"})"), std::string(R"({"type":7})"),
        std::string("\xFF\xFE\x00pLaNtEd", 10), std::string(R"({"type":"authorized_user"})"),
        std::string(R"({"type":"service_account","client_email":"e","private_key":"pLaNtEd"})"),
        std::string(R"({"type":"service_account","client_email":"e"})"),
        std::string(R"({"type":"authorized_user","client_id":"c","client_secret":"pLaNtEd",)"
                    R"("refresh_token":"pLaNtEd","token_uri":"http://evil.example/"})"),
        std::string(R"({"type":"impersonated_service_account"})"),
        std::string(R"({"type":"a","type":"pLaNtEd"})")}) {
    use_file(text);
    const Error bad = error();
    EXPECT_EQ(bad.code(), ErrorCode::kInvalidArgument) << text;
    EXPECT_NE(bad.to_string().find(fake_.path("key.json")), std::string::npos) << bad.to_string();
  }
}

TEST_F(GcpChainTest, HostileAnswersBecomeSentences) {
  use_file(kUserFile);
  for (const std::string& body :
       {std::string("<html>pLaNtEd</html>"), std::string(""), std::string("{}"),
        std::string(R"({"access_token":"pLaNtEd"})"),
        std::string(R"({"access_token":"pLaNtEd","expires_in":0})"),
        std::string(R"({"access_token":"pLaNtEd","expires_in":-1})"),
        std::string(R"({"access_token":"","expires_in":3599})"),
        std::string(R"({"access_token":"pLaNtEd\r\nX: y","expires_in":3599})"),
        std::string("{\"access_token\":\"\xFF\"}"), std::string(100'000, '[')}) {
    fake_.http.expect({.method = "POST",
                       .url = "https://oauth2.googleapis.com/token",
                       .answer = {.status = 200, .body = body}});
    EXPECT_NE(error().to_string().find("https://oauth2.googleapis.com/token"), std::string::npos)
        << body.substr(0, 100);
  }
}

TEST_F(GcpChainTest, AMachineAsksItsMetadataServer) {
  fake_.http.expect(
      {.url = kMetadataUrl,
       .headers = {{"Metadata-Flavor", "Google"}},
       .direct = true,
       .answer = {.status = 200, .headers = {{"metadata-flavor", "Google"}}, .body = kToken}});
  EXPECT_EQ(token(), "ya29.t");
  EXPECT_EQ(credentials_->origin(), "the service account of this machine");
}

TEST_F(GcpChainTest, VariablesMoveTheMetadataServer) {
  const std::string path = "/computeMetadata/v1/instance/service-accounts/default/token?scopes=s";
  struct Case {
    std::string variable;
    std::string value;
    std::string base;
  };
  for (const Case& c : {Case{"GCE_METADATA_URL", "http://h1:1/computeMetadata/v1/", "http://h1:1"},
                        Case{"GCE_METADATA_IP", "10.0.0.1", "http://10.0.0.1"},
                        Case{"GCE_METADATA_HOST", "h3:3", "http://h3:3"}}) {
    fake_.set(c.variable, c.value);
    fake_.http.expect(
        {.url = c.base + path,
         .answer = {.status = 200, .headers = {{"Metadata-Flavor", "Google"}}, .body = kToken}});
    EXPECT_TRUE(make_gcp_credentials(fake_.world(), "s")->get({}).has_value()) << c.base;
  }
}

TEST_F(GcpChainTest, AMachineWithoutAServiceAccountIsTold) {
  fake_.http.expect(
      {.url = kMetadataUrl, .answer = {.status = 404, .headers = {{"Metadata-Flavor", "Google"}}}});
  EXPECT_NE(error().to_string().find("give this machine a service account"), std::string::npos);
}

TEST_F(GcpChainTest, AnAnswerWithoutTheFlavorIsSomebodyElses) {
  fake_.http.expect({.url = kMetadataUrl, .answer = {.status = 200, .body = kToken}});
  EXPECT_EQ(error().code(), ErrorCode::kPermissionDenied);
}

TEST_F(GcpChainTest, TheLoginOfGcloudComesLastAndTheAbsenceIsRemembered) {
  fake_.http.nobody_at("http://169.254.169.254/");
  fake_.programs.programs[{"gcloud", "auth", "print-access-token"}] = {.prints = "ya29.g\n"};
  EXPECT_EQ(token(), "ya29.g");
  EXPECT_EQ(credentials_->origin(), "the login of gcloud");
  const std::size_t asked = fake_.http.count();
  credentials_->forget();
  EXPECT_EQ(token(), "ya29.g");
  EXPECT_EQ(fake_.http.count(), asked);
  fake_.programs.programs.begin()->second.prints = "WARNING: pLaNtEd\nya29\n";
  credentials_->forget();
  EXPECT_EQ(error().code(), ErrorCode::kFailed);
}

TEST_F(GcpChainTest, WithNothingTheSentenceSaysWhatWasTriedAndWhatToDo) {
  fake_.set("NO_GCE_CHECK", "true");
  const Error nothing = error();
  EXPECT_EQ(nothing.code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(nothing.to_string(),
            "no Google credentials were found: GOOGLE_APPLICATION_CREDENTIALS is not set, " +
                fake_.path(".config/gcloud/application_default_credentials.json") +
                " is not there, no metadata server answered, and gcloud is not installed; run "
                "'gcloud auth application-default login', or set GOOGLE_APPLICATION_CREDENTIALS to "
                "the key file of a service account");
  EXPECT_EQ(fake_.http.count(), 0U);
}

}  // namespace
}  // namespace outlast::cloud
