#include "cloud/aws_credentials.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "cloud/credentials.h"
#include "cloud/testing/fake_world.h"
#include "cloud/testing/planted_secrets.h"

namespace outlast::cloud {
namespace {

using testing::FakeWorld;

constexpr const char* kWebIdentityAnswer =
    "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
    "<AssumeRoleWithWebIdentityResult><Credentials><SessionToken>wtoken</SessionToken>"
    "<SecretAccessKey>wsecret</SecretAccessKey><Expiration>2027-01-15T09:00:00Z</Expiration>"
    "<AccessKeyId>ASIAWEB</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult>"
    "</AssumeRoleWithWebIdentityResponse>";

class AwsChainTest : public ::testing::Test {
 protected:
  FakeWorld fake_;
  std::unique_ptr<CredentialSource<AwsKeys>> credentials_ = make_aws_credentials(fake_.world());

  std::string id() {
    const Result<AwsKeys> keys = credentials_->get({});
    return keys ? keys->access_key_id : "error: " + keys.error().to_string();
  }
  Error error() {
    const Result<AwsKeys> keys = credentials_->get({});
    EXPECT_FALSE(keys.has_value());
    if (keys) return {ErrorCode::kFailed, "there were keys"};
    testing::expect_no_secret(keys.error().to_string());
    return keys.error();
  }
  void set_web_identity(const std::string& token) {
    fake_.set("AWS_WEB_IDENTITY_TOKEN_FILE", fake_.write("token", token));
    fake_.set("AWS_ROLE_ARN", "arn:aws:iam::1:role/r");
  }
  void TearDown() override { EXPECT_EQ(fake_.http.missing(), 0U); }
};

TEST_F(AwsChainTest, TheEnvironmentComesFirst) {
  fake_.set("AWS_ACCESS_KEY_ID", "AKIAENV");
  fake_.set("AWS_SECRET_ACCESS_KEY", "esecret");
  fake_.set("AWS_SESSION_TOKEN", "etoken");
  fake_.set("AWS_PROFILE", "p");
  set_web_identity("x");
  fake_.write(".aws/credentials", "[p]\naws_access_key_id=AKIAPROF\naws_secret_access_key=s\n");
  fake_.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x");
  const Result<AwsKeys> keys = credentials_->get({});
  ASSERT_TRUE(keys.has_value());
  EXPECT_EQ(keys->access_key_id, "AKIAENV");
  EXPECT_EQ(keys->secret_key.reveal(), "esecret");
  EXPECT_EQ(keys->session_token.reveal(), "etoken");
  EXPECT_EQ(credentials_->origin(), "AWS_ACCESS_KEY_ID in the environment");
}

TEST_F(AwsChainTest, HalfAKeyIsAMistake) {
  fake_.set("AWS_SECRET_ACCESS_KEY", "pLaNtEd");
  EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument);
  fake_.set("AWS_SECRET_ACCESS_KEY", "");
  fake_.set("AWS_ACCESS_KEY_ID", "AKIA");
  EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument);
  fake_.set("AWS_SECRET_ACCESS_KEY", "pLaNtEd\n");
  EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(AwsChainTest, ThenTheWebIdentityWhoseFileIsReadEachTime) {
  fake_.write(".aws/credentials",
              "[default]\naws_access_key_id=AKIAPROF\naws_secret_access_key=s\n");
  fake_.set("AWS_REGION", "eu-west-1");
  set_web_identity("one\n");
  fake_.http.expect({.method = "POST",
                     .url = "https://sts.eu-west-1.amazonaws.com/",
                     .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
                     .without = {"Authorization"},
                     .body = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&"
                             "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=outlast-m1&"
                             "DurationSeconds=3600&WebIdentityToken=one",
                     .direct = false,
                     .answer = {.status = 200, .body = kWebIdentityAnswer}});
  const Result<AwsKeys> keys = credentials_->get({});
  ASSERT_TRUE(keys.has_value()) << keys.error().to_string();
  EXPECT_EQ(keys->access_key_id, "ASIAWEB");
  EXPECT_EQ(keys->secret_key.reveal(), "wsecret");
  EXPECT_EQ(keys->session_token.reveal(), "wtoken");

  fake_.clock.pass(std::chrono::minutes(56));
  fake_.write("token", "two");
  fake_.set("AWS_ROLE_SESSION_NAME", "me");
  fake_.http.expect({.method = "POST",
                     .url = "https://sts.eu-west-1.amazonaws.com/",
                     .body = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&"
                             "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=me&"
                             "DurationSeconds=3600&WebIdentityToken=two",
                     .answer = {.status = 200, .body = kWebIdentityAnswer}});
  EXPECT_EQ(id(), "ASIAWEB");
}

TEST_F(AwsChainTest, TheEndpointOfStsFollowsRegionAndVariables) {
  set_web_identity("t");
  struct Case {
    std::string variable;
    std::string value;
    std::string url;
  };
  for (const Case& c :
       {Case{"HOST", "x", "https://sts.amazonaws.com/"},
        Case{"AWS_DEFAULT_REGION", "us-west-2", "https://sts.us-west-2.amazonaws.com/"},
        Case{"AWS_REGION", "cn-north-1", "https://sts.cn-north-1.amazonaws.com.cn/"},
        Case{"AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1/sts/", "http://127.0.0.1:1/sts/"}}) {
    fake_.set(c.variable, c.value);
    fake_.http.expect(
        {.method = "POST", .url = c.url, .answer = {.status = 200, .body = kWebIdentityAnswer}});
    EXPECT_EQ(id(), "ASIAWEB") << c.url;
    credentials_->forget();
  }
  fake_.set("AWS_ENDPOINT_URL_STS", "http://sts.example");
  EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument) << "a token in the clear";
}

TEST_F(AwsChainTest, AWebIdentityThatFailsStopsTheChain) {
  fake_.write(".aws/credentials",
              "[default]\naws_access_key_id=AKIAPROF\naws_secret_access_key=s\n");
  set_web_identity("pLaNtEd");
  fake_.http.expect(
      {.method = "POST",
       .url = "https://sts.amazonaws.com/",
       .answer = {.status = 400,
                  .body =
                      "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidIdentityToken"
                      "</Code><Message>pLaNtEd is no token.</Message></Error></ErrorResponse>"}});
  const Error refusal = error();
  EXPECT_EQ(refusal.code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(refusal.to_string(),
            "POST https://sts.amazonaws.com/ was answered with 400 (InvalidIdentityToken: [secret] "
            "is no token): check that arn:aws:iam::1:role/r trusts the identity in " +
                fake_.path("token"));
}

TEST_F(AwsChainTest, AWebIdentityNeedsARoleAndItsFile) {
  fake_.set("AWS_WEB_IDENTITY_TOKEN_FILE", fake_.path("nothing"));
  EXPECT_NE(error().to_string().find("AWS_ROLE_ARN"), std::string::npos);
  fake_.set("AWS_ROLE_ARN", "arn:aws:iam::1:role/r");
  EXPECT_NE(error().to_string().find(fake_.path("nothing")), std::string::npos);
}

TEST_F(AwsChainTest, HostileStsAnswersBecomeSentences) {
  set_web_identity("t");
  for (const char* body :
       {"<html>pLaNtEd</html>", "", "{}", "<AssumeRoleWithWebIdentityResponse/>", "\xFF\xFE",
        "<R><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>pLaNtEd</AccessKeyId>"
        "</Credentials></AssumeRoleWithWebIdentityResult></R>",
        "<R><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>pLaNtEd</AccessKeyId>"
        "<SecretAccessKey>pLaNtEd</SecretAccessKey><SessionToken>pLaNtEd</SessionToken>"
        "<Expiration>2020-01-01T00:00:00Z</Expiration></Credentials>"
        "</AssumeRoleWithWebIdentityResult></R>"}) {
    fake_.http.expect({.method = "POST",
                       .url = "https://sts.amazonaws.com/",
                       .answer = {.status = 200, .body = body}});
    EXPECT_NE(error().to_string().find("https://sts.amazonaws.com/"), std::string::npos) << body;
  }
}

TEST_F(AwsChainTest, ThenTheProfile) {
  fake_.write(".aws/credentials",
              "[default]\naws_access_key_id=AKIAPROF\naws_secret_access_key=s\n");
  fake_.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x");
  EXPECT_EQ(id(), "AKIAPROF");
}

TEST_F(AwsChainTest, ThenTheContainer) {
  fake_.write(".aws/config", "[default]\nregion = eu-west-1\n");
  fake_.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x");
  fake_.http.expect(
      {.url = "http://169.254.170.2/x",
       .answer = {.status = 200, .body = R"({"AccessKeyId":"ASIAECS","SecretAccessKey":"s"})"}});
  EXPECT_EQ(id(), "ASIAECS");
}

TEST_F(AwsChainTest, WithNothingTheSentenceSaysWhatWasTriedAndWhatToDo) {
  fake_.http.nobody_at("http://169.254.169.254/");
  const Error nothing = error();
  EXPECT_EQ(nothing.code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(nothing.to_string(),
            "no AWS credentials were found: AWS_ACCESS_KEY_ID, AWS_WEB_IDENTITY_TOKEN_FILE and "
            "AWS_CONTAINER_CREDENTIALS_… are not set, profile 'default' in " +
                fake_.path(".aws/credentials") + " and " + fake_.path(".aws/config") +
                " gives none, and the instance metadata service did not answer; run 'aws "
                "configure', or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
}

TEST_F(AwsChainTest, ACancelledCallStaysCancelled) {
  set_web_identity("t");
  fake_.http.expect(
      {.method = "POST", .url = "https://sts.amazonaws.com/", .fails_with = ErrorCode::kCancelled});
  EXPECT_EQ(error().code(), ErrorCode::kCancelled);
}

}  // namespace
}  // namespace outlast::cloud
