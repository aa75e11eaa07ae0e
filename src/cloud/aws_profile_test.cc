#include "cloud/aws_profile.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "cloud/testing/fake_world.h"
#include "cloud/testing/planted_secrets.h"

namespace outlast::cloud {
namespace {

using testing::FakeWorld;

std::string endpoint(FakeWorld& fake, const std::string& service) {
  const Result<std::string> url =
      find_aws_endpoint(fake.world().environment, fake.world().files, service);
  return url ? *url : "error: " + url.error().to_string();
}

TEST(AwsProfile, CredentialsFileWinsOverConfigFile) {
  FakeWorld fake;
  fake.write(".aws/config",
             "[profile train]\nregion = eu-west-1\naws_access_key_id = config\n[train]\nx = y\n");
  fake.write(".aws/credentials", "[train]\naws_access_key_id = credentials\n");
  const Result<AwsConfig> config = AwsConfig::load(fake.world().environment, fake.world().files);
  ASSERT_TRUE(config.has_value());
  const std::optional<AwsProfile> profile = config->profile("train");
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->get("aws_access_key_id"), "credentials");
  EXPECT_EQ(profile->get("region"), "eu-west-1");
  EXPECT_FALSE(profile->has("x")) << "a section without 'profile' is none in the config file";
  EXPECT_FALSE(config->profile("other").has_value());
}

TEST(AwsProfile, DefaultNeedsNoPrefix) {
  FakeWorld fake;
  fake.write(".aws/config",
             "[default]\nregion = a\noutput = json\n[profile default]\nregion = b\n");
  const Result<AwsConfig> config = AwsConfig::load(fake.world().environment, fake.world().files);
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->profile_name(), "default");
  EXPECT_FALSE(config->profile_is_chosen());
  EXPECT_EQ(config->profile("default")->get("region"), "b");
  EXPECT_EQ(config->profile("default")->get("output"), "json");
}

TEST(AwsProfile, VariablesMoveTheFilesAndChooseTheProfile) {
  FakeWorld fake;
  fake.set("AWS_CONFIG_FILE", fake.write("else/config", "[profile p]\nregion = there\n"));
  fake.write("tilde/credentials", "[p]\naws_access_key_id = id\n");
  fake.set("AWS_SHARED_CREDENTIALS_FILE", "~/tilde/credentials");
  fake.set("AWS_PROFILE", "p");
  const Result<AwsConfig> config = AwsConfig::load(fake.world().environment, fake.world().files);
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->profile_name(), "p");
  EXPECT_TRUE(config->profile_is_chosen());
  EXPECT_EQ(config->profile("p")->get("region"), "there");
  EXPECT_EQ(config->profile("p")->get("aws_access_key_id"), "id");
}

TEST(AwsProfile, WithoutAHomeThereAreNoFiles) {
  FakeWorld fake;
  fake.environment.variables.erase("HOME");
  const Result<AwsConfig> config = AwsConfig::load(fake.world().environment, fake.world().files);
  ASSERT_TRUE(config.has_value());
  EXPECT_FALSE(config->profile("default").has_value());
}

TEST(AwsProfile, AMalformedFileIsNamedButNotShown) {
  FakeWorld fake;
  const std::string path = fake.write(".aws/credentials", "[default]\npLaNtEd\n");
  const Result<AwsConfig> config = AwsConfig::load(fake.world().environment, fake.world().files);
  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(config.error().to_string().find(path + ": line 2"), std::string::npos);
  testing::expect_no_secret(config.error().to_string());
}

TEST(AwsRegion, ComesFromVariablesThenFromTheProfile) {
  FakeWorld fake;
  fake.write(".aws/config", "[default]\nregion = of-profile\n");
  EXPECT_EQ(find_aws_region(fake.world(), {}).value(), "of-profile");
  fake.set("AWS_DEFAULT_REGION", "of-default");
  EXPECT_EQ(find_aws_region(fake.world(), {}).value(), "of-default");
  fake.set("AWS_REGION", "of-region");
  EXPECT_EQ(find_aws_region(fake.world(), {}).value(), "of-region");
}

TEST(AwsRegion, ComesFromTheInstanceIfNothingElseSays) {
  FakeWorld fake;
  fake.http.expect({.method = "PUT",
                    .url = "http://169.254.169.254/latest/api/token",
                    .answer = {.status = 200, .body = "tok"}});
  fake.http.expect({.url = "http://169.254.169.254/latest/meta-data/placement/region",
                    .headers = {{"X-aws-ec2-metadata-token", "tok"}},
                    .answer = {.status = 200, .body = "ap-south-1\n"}});
  EXPECT_EQ(find_aws_region(fake.world(), {}).value(), "ap-south-1");
  EXPECT_EQ(fake.http.missing(), 0U);
}

TEST(AwsRegion, IsEmptyWhereNobodyKnows) {
  FakeWorld fake;
  fake.http.nobody_at("http://169.254.169.254/");
  EXPECT_EQ(find_aws_region(fake.world(), {}).value(), "");
}

TEST(AwsEndpoint, EachSourceWinsOverTheOnesBelow) {
  FakeWorld fake;
  EXPECT_EQ(endpoint(fake, "s3"), "");
  fake.write(".aws/config",
             "[default]\nendpoint_url = http://profile/\n"
             "[profile p]\nendpoint_url = http://profile\nservices = dev\n"
             "[services dev]\ns3 =\n  endpoint_url = http://services\n");
  EXPECT_EQ(endpoint(fake, "s3"), "http://profile");
  fake.set("AWS_PROFILE", "p");
  EXPECT_EQ(endpoint(fake, "s3"), "http://services");
  EXPECT_EQ(endpoint(fake, "sts"), "http://profile");
  fake.set("AWS_ENDPOINT_URL", "http://all/");
  EXPECT_EQ(endpoint(fake, "s3"), "http://all");
  fake.set("AWS_ENDPOINT_URL_S3", "http://only-s3");
  EXPECT_EQ(endpoint(fake, "s3"), "http://only-s3");
  EXPECT_EQ(endpoint(fake, "sts"), "http://all");
  fake.set("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
  EXPECT_EQ(endpoint(fake, "s3"), "");
}

TEST(AwsEndpoint, TheProfileCanSwitchItOff) {
  FakeWorld fake;
  fake.write(".aws/config",
             "[default]\nendpoint_url = http://profile\nignore_configured_endpoint_urls = true\n");
  EXPECT_EQ(endpoint(fake, "s3"), "");
}

TEST(AwsSetting, ReadsNestedBlocks) {
  FakeWorld fake;
  fake.write(".aws/config", "[default]\ns3 =\n  addressing_style = path\n");
  EXPECT_EQ(find_aws_setting(fake.world().environment, fake.world().files, "s3", "addressing_style")
                .value(),
            "path");
  EXPECT_EQ(find_aws_setting(fake.world().environment, fake.world().files, "s3", "payload").value(),
            "");
}

}  // namespace
}  // namespace outlast::cloud
