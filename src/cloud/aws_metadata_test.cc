#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "cloud/aws_credentials.h"
#include "cloud/credentials.h"
#include "cloud/testing/fake_http.h"
#include "cloud/testing/fake_world.h"
#include "cloud/testing/planted_secrets.h"

namespace outlast::cloud {
namespace {

using testing::FakeExchange;
using testing::FakeWorld;

constexpr const char* kRoles = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
constexpr const char* kRole =
    "http://169.254.169.254/latest/meta-data/iam/security-credentials/train-role";
constexpr const char* kKeys =
    R"({"Code":"Success","LastUpdated":"x","Type":"AWS-HMAC","AccessKeyId":"ASIA1",)"
    R"("SecretAccessKey":"pLaNtEd1","Token":"pLaNtEd2","Expiration":"2027-01-15T14:00:00Z"})";

class AwsMetadata : public ::testing::Test {
 protected:
  FakeWorld fake_;
  std::unique_ptr<CredentialSource<AwsKeys>> credentials_;

  void expect_token(std::string token = "imds") {
    fake_.http.expect({.method = "PUT",
                       .url = "http://169.254.169.254/latest/api/token",
                       .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}},
                       .direct = true,
                       .answer = {.status = 200, .body = std::move(token)}});
  }
  void expect_get(const std::string& url, sys::HttpResponse answer, std::string token = "imds") {
    FakeExchange exchange = {.url = url, .direct = true, .answer = std::move(answer)};
    if (token.empty()) {
      exchange.without = {"X-aws-ec2-metadata-token"};
    } else {
      exchange.headers = {{"X-aws-ec2-metadata-token", token}};
    }
    fake_.http.expect(std::move(exchange));
  }
  Result<AwsKeys> get() {
    if (!credentials_) credentials_ = make_aws_credentials(fake_.world());
    return credentials_->get({});
  }
  // The error's sentence, in which no secret may stand.
  std::string refused() {
    const Result<AwsKeys> keys = get();
    EXPECT_FALSE(keys.has_value());
    if (keys) return "";
    testing::expect_no_secret(keys.error().to_string());
    return keys.error().to_string();
  }
  void TearDown() override { EXPECT_EQ(fake_.http.missing(), 0U); }
};

TEST_F(AwsMetadata, GivesTheRoleOfTheInstance) {
  expect_token();
  expect_get(kRoles, {.status = 200, .body = "train-role\n"});
  expect_get(kRole, {.status = 200, .body = kKeys});
  const Result<AwsKeys> keys = get();
  ASSERT_TRUE(keys.has_value()) << keys.error().to_string();
  EXPECT_EQ(keys->access_key_id, "ASIA1");
  EXPECT_EQ(keys->secret_key.reveal(), "pLaNtEd1");
  EXPECT_EQ(keys->session_token.reveal(), "pLaNtEd2");
  EXPECT_EQ(credentials_->origin(), "role 'train-role' of this instance");
}

TEST_F(AwsMetadata, RefreshesBeforeExpiryWithTheSameToken) {
  expect_token();
  expect_get(kRoles, {.status = 200, .body = "train-role"});
  expect_get(kRole, {.status = 200, .body = kKeys});
  ASSERT_TRUE(get().has_value());
  fake_.clock.pass(std::chrono::hours(5));
  ASSERT_TRUE(get().has_value());
  fake_.clock.pass(std::chrono::minutes(55));
  expect_get(kRoles, {.status = 200, .body = "train-role"});
  expect_get(kRole, {.status = 200,
                     .body = R"({"AccessKeyId":"ASIA2","SecretAccessKey":"s","Token":"t",)"
                             R"("Expiration":"2027-01-15T20:00:00Z"})"});
  EXPECT_EQ(get()->access_key_id, "ASIA2");
}

TEST_F(AwsMetadata, AnExpiredTokenIsReplacedOnce) {
  expect_token("old");
  expect_get(kRoles, {.status = 401}, "old");
  expect_token("new");
  expect_get(kRoles, {.status = 200, .body = "train-role"}, "new");
  expect_get(kRole, {.status = 200, .body = kKeys}, "new");
  EXPECT_TRUE(get().has_value());
}

TEST_F(AwsMetadata, InAContainerWhereThePutHangsVersionOneIsTried) {
  for (int i = 0; i < 2; ++i) {
    fake_.http.expect({.method = "PUT",
                       .url = "http://169.254.169.254/latest/api/token",
                       .fails_with = ErrorCode::kUnknownOutcome});
  }
  expect_get(kRoles, {.status = 200, .body = "train-role"}, "");
  expect_get(kRole, {.status = 200, .body = kKeys}, "");
  EXPECT_TRUE(get().has_value());
}

TEST_F(AwsMetadata, WhereVersionOneIsRefusedTheHopLimitIsNamed) {
  for (int i = 0; i < 2; ++i) {
    fake_.http.expect({.method = "PUT",
                       .url = "http://169.254.169.254/latest/api/token",
                       .fails_with = ErrorCode::kUnknownOutcome});
  }
  expect_get(kRoles, {.status = 401}, "");
  EXPECT_NE(refused().find("hop limit"), std::string::npos);
}

TEST_F(AwsMetadata, ALaptopPaysForTheAbsenceOnce) {
  fake_.http.nobody_at("http://169.254.169.254/");
  EXPECT_NE(refused().find("did not answer"), std::string::npos);
  const std::size_t asked = fake_.http.count();
  EXPECT_GT(asked, 0U);
  EXPECT_NE(refused().find("did not answer"), std::string::npos);
  EXPECT_EQ(fake_.http.count(), asked);
  fake_.clock.pass(std::chrono::minutes(6));
  refused();
  EXPECT_GT(fake_.http.count(), asked);
}

TEST_F(AwsMetadata, VariablesMoveAndDisableIt) {
  fake_.set("AWS_EC2_METADATA_DISABLED", "true");
  EXPECT_NE(refused().find("AWS_EC2_METADATA_DISABLED"), std::string::npos);
  EXPECT_EQ(fake_.http.count(), 0U);

  fake_.set("AWS_EC2_METADATA_DISABLED", "false");
  fake_.set("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "IPv6");
  fake_.set("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "1");
  fake_.http.expect({.method = "PUT",
                     .url = "http://[fd00:ec2::254]/latest/api/token",
                     .fails_with = ErrorCode::kUnavailable});
  credentials_.reset();
  refused();

  fake_.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1338/");
  fake_.http.expect({.method = "PUT",
                     .url = "http://127.0.0.1:1338/latest/api/token",
                     .fails_with = ErrorCode::kUnavailable});
  credentials_.reset();
  refused();
}

TEST_F(AwsMetadata, AnInstanceWithoutARoleIsTold) {
  expect_token();
  expect_get(kRoles, {.status = 404, .body = "<html>Not Found</html>"});
  EXPECT_NE(refused().find("attach an instance profile"), std::string::npos);
}

TEST_F(AwsMetadata, AnotherCloudAtTheSameAddressIsNotEc2) {
  fake_.http.expect({.method = "PUT",
                     .url = "http://169.254.169.254/latest/api/token",
                     .answer = {.status = 400, .body = "Metadata: true, please"}});
  EXPECT_NE(refused().find("not that of EC2"), std::string::npos);
}

TEST_F(AwsMetadata, KeysThatHaveExpiredAreAskedForAgain) {
  expect_token();
  expect_get(kRoles, {.status = 200, .body = "train-role"});
  const std::string expired =
      R"({"AccessKeyId":"ASIA0","SecretAccessKey":"pLaNtEd","Token":"pLaNtEd",)"
      R"("Expiration":"2027-01-15T07:00:00Z"})";
  expect_get(kRole, {.status = 200, .body = expired});
  expect_get(kRole, {.status = 200, .body = kKeys});
  EXPECT_EQ(get()->access_key_id, "ASIA1");

  credentials_->forget();
  expect_get(kRoles, {.status = 200, .body = "train-role"});
  expect_get(kRole, {.status = 200, .body = expired});
  expect_get(kRole, {.status = 200, .body = expired});
  EXPECT_NE(refused().find("expired at 2027-01-15T07:00:00.000Z"), std::string::npos);
}

TEST_F(AwsMetadata, TheIssuersClockCountsNotOurs) {
  fake_.clock.wall += std::chrono::hours(24);  // ours is a day fast
  expect_token();
  expect_get(kRoles, {.status = 200, .body = "train-role"});
  expect_get(
      kRole,
      {.status = 200, .headers = {{"Date", "Fri, 15 Jan 2027 08:00:00 GMT"}}, .body = kKeys});
  EXPECT_TRUE(get().has_value());
}

TEST_F(AwsMetadata, HostileAnswersBecomeSentences) {
  for (const std::string& body : {
           std::string("<html><body>pLaNtEd login</body></html>"),
           std::string("{}"),
           std::string(""),
           std::string("[1,2]"),
           std::string(R"({"AccessKeyId":"pLaNtEd"})"),
           std::string(R"({"AccessKeyId":1,"SecretAccessKey":"pLaNtEd"})"),
           std::string(R"({"AccessKeyId":"a\nb","SecretAccessKey":"pLaNtEd"})"),
           std::string(R"({"AccessKeyId":"a","SecretAccessKey":"pLaNtEd","Expiration":"soon"})"),
           std::string(R"({"Code":"AssumeRoleUnauthorizedAccess","Message":"m"})"),
           std::string("{\"AccessKeyId\":\"\xFF\xFE pLaNtEd\""),
           std::string(R"({"AccessKeyId":"pLaNtEd","AccessKeyId":"pLaNtEd"})"),
       }) {
    credentials_.reset();
    expect_token();
    expect_get(kRoles, {.status = 200, .body = "train-role"});
    expect_get(kRole, {.status = 200, .body = body});
    EXPECT_NE(refused().find(kRole), std::string::npos) << body;
  }
}

TEST_F(AwsMetadata, ARoleNameThatIsNoneIsNotAskedFor) {
  for (const char* name : {"../../user-data", "<html>", ""}) {
    credentials_.reset();
    expect_token();
    expect_get(kRoles, {.status = 200, .body = name});
    refused();
  }
}

TEST_F(AwsMetadata, AContainerAsksItsAgent) {
  fake_.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/uuid");
  fake_.http.expect({.url = "http://169.254.170.2/v2/credentials/uuid",
                     .without = {"Authorization"},
                     .direct = true,
                     .answer = {.status = 200, .body = kKeys}});
  EXPECT_EQ(get()->access_key_id, "ASIA1");
  EXPECT_EQ(credentials_->origin(), "the role of this container");
}

TEST_F(AwsMetadata, ATokenFileIsReadEachTime) {
  fake_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials");
  fake_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", fake_.write("token", "one\n"));
  fake_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "not this");
  for (const std::string token : {"one", "two"}) {
    fake_.write("token", token);
    fake_.http.expect({.url = "http://169.254.170.23/v1/credentials",
                       .headers = {{"Authorization", token}},
                       .answer = {.status = 200, .body = kKeys}});
    EXPECT_TRUE(get().has_value());
    credentials_->forget();
  }
}

TEST_F(AwsMetadata, AContainerTokenMayStandInTheEnvironment) {
  fake_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "https://creds.example/x?y=z");
  fake_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Basic abc");
  fake_.http.expect({.url = "https://creds.example/x?y=z",
                     .headers = {{"Authorization", "Basic abc"}},
                     .direct = false,
                     .answer = {.status = 200, .body = kKeys}});
  EXPECT_TRUE(get().has_value());
}

TEST_F(AwsMetadata, AContainerTokenNeverGoesOutInTheClear) {
  for (const char* url : {"http://evil.example/", "http://169.254.170.2.evil.example/",
                          "http://127.0.0.1@evil.example/", "http://127.evil.example/",
                          "ftp://127.0.0.1/", "http://169.254.169.254/", "nonsense"}) {
    credentials_.reset();
    fake_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
    fake_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pLaNtEd");
    EXPECT_NE(refused().find("AWS_CONTAINER_CREDENTIALS_FULL_URI must be"), std::string::npos);
    EXPECT_EQ(fake_.http.count(), 0U) << url;
  }
}

TEST_F(AwsMetadata, AContainersRefusalIsToldWithoutTheToken) {
  fake_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost:9/creds?id=pLaNtEd");
  fake_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pLaNtEd token");
  fake_.http.expect(
      {.url = "http://localhost:9/creds?id=pLaNtEd",
       .answer = {.status = 403,
                  .body = R"({"code":"AccessDenied","message":"'pLaNtEd token' is not known"})"}});
  EXPECT_EQ(refused(),
            "GET http://localhost:9/creds was answered with 403 (AccessDenied: '[secret]' is not "
            "known): look at the role of this container");
}

TEST_F(AwsMetadata, AContainerTokenWithALineBreakIsRefused) {
  fake_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost:9/creds");
  fake_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pLaNtEd\r\nX-Evil: 1");
  EXPECT_NE(refused().find("line break"), std::string::npos);
}

TEST_F(AwsMetadata, AFailingAgentIsAskedAgainAndThenNamed) {
  fake_.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x");
  for (int i = 0; i < 3; ++i) {
    fake_.http.expect({.url = "http://169.254.170.2/x", .answer = {.status = 503}});
  }
  const Result<AwsKeys> keys = get();
  ASSERT_FALSE(keys.has_value());
  EXPECT_EQ(keys.error().code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace outlast::cloud
