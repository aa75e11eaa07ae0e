#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "cloud/credentials.h"
#include "cloud/gcp_credentials.h"
#include "cloud/testing/fake_world.h"
#include "cloud/testing/planted_secrets.h"

namespace outlast::cloud {
namespace {

using testing::FakeWorld;

constexpr const char* kImpersonationUrl =
    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@p:generateAccessToken";

class GcpExternalAccount : public ::testing::Test {
 protected:
  FakeWorld fake_;
  Json file_ = {{"type", "external_account"},
                {"audience", "//iam.googleapis.com/pool"},
                {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
                {"token_url", "https://sts.googleapis.com/v1/token"}};

  Result<BearerToken> get() {
    fake_.set("GOOGLE_APPLICATION_CREDENTIALS", fake_.write("key.json", file_.dump()));
    return make_gcp_credentials(fake_.world(), "the scope")->get({});
  }
  std::string token() {
    const Result<BearerToken> got = get();
    return got ? got->token.reveal() : "error: " + got.error().to_string();
  }
  Error error() {
    const Result<BearerToken> got = get();
    EXPECT_FALSE(got.has_value());
    if (got) return {ErrorCode::kFailed, "there was a token"};
    testing::expect_no_secret(got.error().to_string());
    return got.error();
  }
  void expect_exchange(const std::string& subject, const std::string& scope,
                       sys::HttpHeaders headers = {}) {
    fake_.http.expect(
        {.method = "POST",
         .url = "https://sts.googleapis.com/v1/token",
         .headers = std::move(headers),
         .body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&"
                 "requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&"
                 "audience=%2F%2Fiam.googleapis.com%2Fpool&scope=" +
                 scope +
                 "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt&"
                 "subject_token=" +
                 subject,
         .answer = {.status = 200, .body = R"({"access_token":"fed","expires_in":3600})"}});
  }
  void TearDown() override { EXPECT_EQ(fake_.http.missing(), 0U); }
};

TEST_F(GcpExternalAccount, ExchangesTheTokenInAFile) {
  file_["credential_source"] = {{"file", fake_.write("subject", "subj\n")}};
  expect_exchange("subj", "the%20scope");
  EXPECT_EQ(token(), "fed");
}

TEST_F(GcpExternalAccount, ExchangesTheTokenOfAUrlInAJsonAnswer) {
  file_["credential_source"] = {
      {"url", "http://169.254.169.254/token?x=y"},
      {"headers", {{"Metadata", "True"}}},
      {"format", {{"type", "json"}, {"subject_token_field_name", "access_token"}}}};
  file_["client_id"] = "id";
  file_["client_secret"] = "sec";
  fake_.http.expect({.url = "http://169.254.169.254/token?x=y",
                     .headers = {{"Metadata", "True"}},
                     .direct = true,
                     .answer = {.status = 200, .body = R"({"access_token":"subj"})"}});
  expect_exchange("subj", "the%20scope", {{"Authorization", "Basic aWQ6c2Vj"}});
  EXPECT_EQ(token(), "fed");
}

TEST_F(GcpExternalAccount, ThenImpersonatesAServiceAccount) {
  file_["credential_source"] = {{"file", fake_.write("subject", "subj")}};
  file_["service_account_impersonation_url"] = kImpersonationUrl;
  expect_exchange("subj", "https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform");
  fake_.http.expect(
      {.method = "POST",
       .url = kImpersonationUrl,
       .headers = {{"Authorization", "Bearer fed"}},
       .body = R"({"lifetime":"3600s","scope":["the scope"]})",
       .answer = {.status = 200,
                  .body = R"({"accessToken":"imp","expireTime":"2027-01-15T09:00:00Z"})"}});
  EXPECT_EQ(token(), "imp");
}

TEST_F(GcpExternalAccount, ALoginCanImpersonateToo) {
  file_ = {{"type", "impersonated_service_account"},
           {"service_account_impersonation_url", kImpersonationUrl},
           {"delegates", {"d"}},
           {"source_credentials",
            {{"type", "authorized_user"},
             {"client_id", "c"},
             {"client_secret", "s"},
             {"refresh_token", "r"}}}};
  fake_.http.expect(
      {.method = "POST",
       .url = "https://oauth2.googleapis.com/token",
       .answer = {.status = 200, .body = R"({"access_token":"src","expires_in":9})"}});
  fake_.http.expect(
      {.method = "POST",
       .url = kImpersonationUrl,
       .headers = {{"Authorization", "Bearer src"}},
       .body = R"({"delegates":["d"],"lifetime":"3600s","scope":["the scope"]})",
       .answer = {.status = 403,
                  .body = R"({"error":{"message":"no","status":"PERMISSION_DENIED"}})"}});
  EXPECT_NE(error().to_string().find("Service Account Token Creator"), std::string::npos);
}

TEST_F(GcpExternalAccount, ARefusalDoesNotShowTheSubjectToken) {
  file_["credential_source"] = {{"file", fake_.write("subject", "pLaNtEd")}};
  fake_.http.expect(
      {.method = "POST",
       .url = "https://sts.googleapis.com/v1/token",
       .answer = {.status = 400,
                  .body = R"({"error":"invalid_grant","error_description":"pLaNtEd expired"})"}});
  EXPECT_NE(error().to_string().find("invalid_grant: [secret] expired"), std::string::npos);
}

TEST_F(GcpExternalAccount, SourcesThatDoNotWorkAreToldWhy) {
  const std::string empty = fake_.write("empty", "\n");
  const std::string text = fake_.write("text", "pLaNtEd");
  for (const Json& source :
       {Json(), Json("x"), Json{{"environment_id", "aws1"}, {"url", "http://x"}},
        Json{{"executable", {{"command", "x"}}}}, Json{{"file", empty}},
        Json{{"file", fake_.path("nothing")}}, Json{{"file", 7}},
        Json{{"file", text}, {"format", {{"type", "json"}, {"subject_token_field_name", "t"}}}},
        Json{{"file", text}, {"format", {{"type", "json"}}}},
        Json{{"url", "http://x"}, {"headers", {1}}}}) {
    file_["credential_source"] = source;
    EXPECT_FALSE(error().to_string().empty()) << source.dump();
  }
  EXPECT_EQ(fake_.http.count(), 0U);
  file_["token_url"] = "http://evil.example/";
  EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace outlast::cloud
