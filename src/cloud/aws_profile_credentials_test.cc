#include "cloud/aws_profile_credentials.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "cloud/aws_credentials.h"
#include "cloud/credentials.h"
#include "cloud/testing/fake_world.h"
#include "cloud/testing/planted_secrets.h"
#include "sys/process.h"

namespace outlast::cloud {
namespace {

using testing::FakePrograms;
using testing::FakeWorld;

constexpr const char* kAssumed =
    "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIAROLE</AccessKeyId>"
    "<SecretAccessKey>rsecret</SecretAccessKey><SessionToken>rtoken</SessionToken>"
    "<Expiration>2027-01-15T09:00:00Z</Expiration></Credentials></AssumeRoleResult>"
    "</AssumeRoleResponse>";
// What an independent implementation of the signature gives for the request below.
constexpr const char* kBaseSignature =
    "AWS4-HMAC-SHA256 Credential=AKIABASE/20270115/eu-west-1/sts/aws4_request, "
    "SignedHeaders=accept;content-type;host;x-amz-date, "
    "Signature=5d6d650f868278ca5a83a60e163692e4df57ecbd13923731f78049afa7dd74e9";
constexpr const char* kEnvironmentSignature =
    "AWS4-HMAC-SHA256 Credential=AKIAENV/20270115/us-east-1/sts/aws4_request, "
    "SignedHeaders=accept;content-type;host;x-amz-date;x-amz-security-token, "
    "Signature=570d5d0ce4332bb7604a509d90215ac5e6b76edf8fab8221ca6a068ee6beb6ba";
constexpr const char* kAssumeBody =
    "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A2%3Arole%2Fgoal&"
    "RoleSessionName=outlast-m1&DurationSeconds=3600";

class AwsProfileChain : public ::testing::Test {
 protected:
  FakeWorld fake_;
  AwsInstanceMetadata instance_{fake_.world()};
  std::string origin_;

  Result<std::optional<Fetched<AwsKeys>>> fetch() {
    Result<AwsConfig> config = AwsConfig::load(fake_.world().environment, fake_.world().files);
    if (!config) return config.error();
    return AwsProfileCredentials(fake_.world(), instance_).fetch(*config, {});
  }
  std::string id() {
    const auto keys = fetch();
    if (!keys) return "error: " + keys.error().to_string();
    if (*keys) origin_ = (*keys)->origin;
    return *keys ? (*keys)->value.access_key_id : "nothing";
  }
  Error error() {
    const auto keys = fetch();
    EXPECT_FALSE(keys.has_value());
    if (keys) return {ErrorCode::kFailed, "there was no error"};
    testing::expect_no_secret(keys.error().to_string());
    return keys.error();
  }
  void TearDown() override { EXPECT_EQ(fake_.http.missing(), 0U); }
};

TEST_F(AwsProfileChain, AProfileMayHoldKeys) {
  fake_.write(
      ".aws/credentials",
      "[train]\naws_access_key_id = AKIA\naws_secret_access_key = s\naws_session_token = t\n");
  fake_.set("AWS_PROFILE", "train");
  EXPECT_EQ(id(), "AKIA");
  EXPECT_EQ(origin_, "profile 'train' in " + fake_.path(".aws/credentials") + " and " +
                         fake_.path(".aws/config"));
}

TEST_F(AwsProfileChain, HalfAKeyIsAMistake) {
  fake_.write(".aws/credentials", "[default]\naws_secret_access_key = pLaNtEd\n");
  EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(AwsProfileChain, AMissingDefaultIsFineAMissingChoiceIsNot) {
  EXPECT_EQ(id(), "nothing");
  fake_.write(".aws/config", "[default]\nregion = x\n");
  EXPECT_EQ(id(), "nothing");
  fake_.set("AWS_PROFILE", "tarin");
  const Error missing = error();
  EXPECT_EQ(missing.code(), ErrorCode::kPermissionDenied);
  EXPECT_NE(missing.to_string().find("'tarin'"), std::string::npos);
}

TEST_F(AwsProfileChain, ARoleIsAssumedWithTheKeysOfItsSource) {
  fake_.write(".aws/config",
              "[profile goal]\nrole_arn = arn:aws:iam::2:role/goal\nsource_profile = base\n"
              "region = eu-west-1\n");
  fake_.write(".aws/credentials",
              "[base]\naws_access_key_id=AKIABASE\naws_secret_access_key=pLaNtEdBase\n");
  fake_.set("AWS_PROFILE", "goal");
  fake_.http.expect(
      {.method = "POST",
       .url = "https://sts.eu-west-1.amazonaws.com/",
       .headers = {{"Authorization", kBaseSignature}, {"X-Amz-Date", "20270115T080000Z"}},
       .without = {"X-Amz-Security-Token"},
       .body = kAssumeBody,
       .answer = {.status = 200, .body = kAssumed}});
  EXPECT_EQ(id(), "ASIAROLE");
  EXPECT_EQ(origin_, "role arn:aws:iam::2:role/goal of profile 'goal'");
}

TEST_F(AwsProfileChain, ARoleMayBuildOnTheEnvironment) {
  fake_.write(".aws/config",
              "[default]\nrole_arn = arn:aws:iam::2:role/goal\ncredential_source = Environment\n");
  fake_.set("AWS_ACCESS_KEY_ID", "AKIAENV");
  fake_.set("AWS_SECRET_ACCESS_KEY", "pLaNtEdEnv");
  fake_.set("AWS_SESSION_TOKEN", "pLaNtEdToken");
  fake_.set("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:4566");
  fake_.http.expect({.method = "POST",
                     .url = "http://127.0.0.1:4566/",
                     .headers = {{"Authorization", kEnvironmentSignature},
                                 {"X-Amz-Security-Token", "pLaNtEdToken"}},
                     .body = kAssumeBody,
                     .answer = {.status = 200, .body = kAssumed}});
  EXPECT_EQ(id(), "ASIAROLE");
}

TEST_F(AwsProfileChain, ARoleMayBuildOnTheInstanceOrTheContainer) {
  fake_.write(".aws/config",
              "[default]\nrole_arn = arn:aws:iam::2:role/goal\ncredential_source = EcsContainer\n"
              "[profile ec2]\nrole_arn = r\ncredential_source = Ec2InstanceMetadata\n"
              "[profile bad]\nrole_arn = r\ncredential_source = Moon\n");
  fake_.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x");
  fake_.http.expect(
      {.url = "http://169.254.170.2/x",
       .answer = {.status = 200, .body = R"({"AccessKeyId":"ASIAECS","SecretAccessKey":"s"})"}});
  fake_.http.expect({.method = "POST",
                     .url = "https://sts.amazonaws.com/",
                     .answer = {.status = 200, .body = kAssumed}});
  EXPECT_EQ(id(), "ASIAROLE");
  fake_.set("AWS_PROFILE", "bad");
  EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument);
  fake_.set("AWS_PROFILE", "ec2");
  fake_.http.nobody_at("http://169.254.169.254/");
  EXPECT_EQ(error().code(), ErrorCode::kPermissionDenied);
}

TEST_F(AwsProfileChain, RolesCanBeChainedWithTheirSettings) {
  fake_.write(".aws/config",
              "[default]\nrole_arn = one\nsource_profile = two\nexternal_id = x y\n"
              "role_session_name = me\nduration_seconds = 900\n"
              "[profile two]\nrole_arn = two\nsource_profile = base\n"
              "[profile base]\naws_access_key_id=AKIABASE\naws_secret_access_key=s\n");
  fake_.http.expect({.method = "POST",
                     .url = "https://sts.amazonaws.com/",
                     .body = "Action=AssumeRole&Version=2011-06-15&RoleArn=two&"
                             "RoleSessionName=outlast-m1&DurationSeconds=3600",
                     .answer = {.status = 200, .body = kAssumed}});
  fake_.http.expect({.method = "POST",
                     .url = "https://sts.amazonaws.com/",
                     .headers = {{"X-Amz-Security-Token", "rtoken"}},
                     .body = "Action=AssumeRole&Version=2011-06-15&RoleArn=one&RoleSessionName=me&"
                             "DurationSeconds=900&ExternalId=x%20y",
                     .answer = {.status = 200, .body = kAssumed}});
  EXPECT_EQ(id(), "ASIAROLE");
}

TEST_F(AwsProfileChain, AProfileThatIsItsOwnSourceUsesItsOwnKeys) {
  fake_.write(".aws/config",
              "[default]\nrole_arn = r\nsource_profile = default\naws_access_key_id = AKIA\n"
              "aws_secret_access_key = s\n");
  fake_.http.expect({.method = "POST",
                     .url = "https://sts.amazonaws.com/",
                     .answer = {.status = 200, .body = kAssumed}});
  EXPECT_EQ(id(), "ASIAROLE");
}

TEST_F(AwsProfileChain, CyclesAreRefused) {
  fake_.write(".aws/config",
              "[default]\nrole_arn = r\nsource_profile = default\n"
              "[profile a]\nrole_arn = r\nsource_profile = b\n"
              "[profile b]\nrole_arn = r\nsource_profile = c\n"
              "[profile c]\nrole_arn = r\nsource_profile = a\n");
  EXPECT_NE(error().to_string().find("default → default"), std::string::npos);
  fake_.set("AWS_PROFILE", "a");
  const Error cycle = error();
  EXPECT_EQ(cycle.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(cycle.to_string().find("a → b → c → a"), std::string::npos) << cycle.to_string();
}

TEST_F(AwsProfileChain, ARoleThatCannotWorkIsToldWhy) {
  for (const char* settings :
       {"role_arn = r\n", "role_arn = r\nsource_profile = x\n",
        "role_arn = r\nsource_profile = empty\n[profile empty]\nregion = x\n",
        "role_arn = r\nsource_profile = default\ncredential_source = Environment\n",
        "role_arn = r\nsource_profile = default\nmfa_serial = m\n",
        "role_arn = r\ncredential_source = Environment\nduration_seconds = an hour\n"}) {
    fake_.write(".aws/config", std::string("[default]\n") + settings);
    EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument) << settings;
  }
}

TEST_F(AwsProfileChain, ARefusedRoleIsToldWithoutTheKeys) {
  fake_.write(".aws/config",
              "[default]\nrole_arn = arn:r\nsource_profile = base\n"
              "[profile base]\naws_access_key_id=AKIABASE\naws_secret_access_key=pLaNtEd\n");
  fake_.http.expect(
      {.method = "POST",
       .url = "https://sts.amazonaws.com/",
       .answer = {.status = 403,
                  .body = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not for "
                          "pLaNtEd</Message></Error></ErrorResponse>"}});
  EXPECT_EQ(error().to_string(),
            "AWS profile 'default': POST https://sts.amazonaws.com/ was answered with 403 "
            "(AccessDenied: not for [secret]): check that arn:r trusts AKIABASE");
}

TEST_F(AwsProfileChain, AProfileMayHaveAWebIdentity) {
  fake_.write(".aws/config",
              "[default]\nrole_arn = r\nregion = eu-west-1\nweb_identity_token_file = " +
                  fake_.write("token", "tok") + "\n");
  fake_.http.expect(
      {.method = "POST",
       .url = "https://sts.eu-west-1.amazonaws.com/",
       .body = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=r&"
               "RoleSessionName=outlast-m1&DurationSeconds=3600&WebIdentityToken=tok",
       .answer = {.status = 200,
                  .body = "<R><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAW"
                          "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t"
                          "</SessionToken><Expiration>2027-01-15T09:00:00Z</Expiration>"
                          "</Credentials></AssumeRoleWithWebIdentityResult></R>"}});
  EXPECT_EQ(id(), "ASIAW");
}

TEST_F(AwsProfileChain, AProcessMayPrintTheKeys) {
  fake_.write(".aws/config", "[default]\ncredential_process = /opt/get \"a b\" c\n");
  FakePrograms::Program& program = fake_.programs.programs[{"/opt/get", "a b", "c"}];
  program.prints =
      R"({"Version":1,"AccessKeyId":"AKIAPROC","SecretAccessKey":"s","SessionToken":"t",)"
      R"("Expiration":"2027-01-15T09:00:00Z"})";
  EXPECT_EQ(id(), "AKIAPROC");
  EXPECT_EQ(origin_, "credential_process of AWS profile 'default'");

  for (
      const char* prints :
      {"pLaNtEd", "", "[]", R"({"Version":2,"AccessKeyId":"pLaNtEd","SecretAccessKey":"pLaNtEd"})",
       R"({"Version":1,"AccessKeyId":"pLaNtEd"})",
       R"({"Version":1,"AccessKeyId":"a","SecretAccessKey":"pLaNtEd","Expiration":"2020-01-01T00:00:00Z"})"}) {
    program.prints = prints;
    EXPECT_NE(error().to_string().find("'get'"), std::string::npos) << prints;
  }
  program.status = sys::Exited{3};
  EXPECT_NE(error().to_string().find("exited with 3"), std::string::npos);
  fake_.programs.programs.clear();
  EXPECT_EQ(error().code(), ErrorCode::kNotFound);
}

TEST_F(AwsProfileChain, SingleSignOnGoesThroughTheAwsCommand) {
  fake_.write(".aws/config", "[profile corp]\nsso_session = corp\nsso_account_id = 1\n");
  fake_.set("AWS_PROFILE", "corp");
  const Error missing = error();
  EXPECT_EQ(missing.code(), ErrorCode::kPermissionDenied);
  EXPECT_NE(missing.to_string().find("aws sso login --profile corp"), std::string::npos);

  FakePrograms::Program& aws = fake_.programs.programs[{
      "aws", "configure", "export-credentials", "--profile", "corp", "--format", "process"}];
  aws.prints = R"({"Version":1,"AccessKeyId":"ASIASSO","SecretAccessKey":"s"})";
  EXPECT_EQ(id(), "ASIASSO");
  aws.status = sys::Exited{255};
  EXPECT_NE(error().to_string().find("aws sso login --profile corp"), std::string::npos);
}

}  // namespace
}  // namespace outlast::cloud
