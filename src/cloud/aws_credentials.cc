#include "cloud/aws_credentials.h"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "cloud/aws_container_credentials.h"
#include "cloud/aws_instance_metadata.h"
#include "cloud/aws_profile.h"
#include "cloud/aws_profile_credentials.h"
#include "cloud/aws_sts.h"
#include "cloud/caching_credentials.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

using FoundKeys = std::optional<Fetched<AwsKeys>>;

Result<FoundKeys> web_identity_keys(sys::World& world, const sys::CallContext& ctx) {
  const std::string file = world.environment.get("AWS_WEB_IDENTITY_TOKEN_FILE").value_or("");
  if (file.empty()) return std::nullopt;
  const StsRole role = {
      .arn = world.environment.get("AWS_ROLE_ARN").value_or(""),
      .session_name = world.environment.get("AWS_ROLE_SESSION_NAME").value_or("")};
  if (role.arn.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not: set it to the role "
                 "that the token is for");
  }
  OUTLAST_TRY_ASSIGN(Fetched<AwsKeys> keys,
                     assume_role_with_web_identity(world, role, file, nullptr, ctx));
  return FoundKeys(std::move(keys));
}

class AwsChain : public CredentialFetcher<AwsKeys> {
 public:
  explicit AwsChain(sys::World& world) : world_(world), instance_(world) {}

  Result<Fetched<AwsKeys>> fetch(const sys::CallContext& ctx) override {
    OUTLAST_TRY_ASSIGN(FoundKeys keys, find_aws_environment_keys(world_));
    if (keys) return *std::move(keys);
    OUTLAST_TRY_ASSIGN(keys, web_identity_keys(world_, ctx));
    if (keys) return *std::move(keys);
    OUTLAST_TRY_ASSIGN(const AwsConfig config, AwsConfig::load(world_.environment, world_.files));
    OUTLAST_TRY_ASSIGN(keys, AwsProfileCredentials(world_, instance_).fetch(config, ctx));
    if (keys) return *std::move(keys);
    OUTLAST_TRY_ASSIGN(keys, fetch_aws_container_keys(world_, ctx));
    if (keys) return *std::move(keys);
    OUTLAST_TRY_ASSIGN(keys, instance_.role_keys(ctx));
    if (keys) return *std::move(keys);
    return Error(
        ErrorCode::kPermissionDenied,
        fmt::format(
            "no AWS credentials were found: AWS_ACCESS_KEY_ID, AWS_WEB_IDENTITY_TOKEN_FILE "
            "and AWS_CONTAINER_CREDENTIALS_… are not set, profile '{}' in {} gives none, and "
            "the instance metadata service {}; run 'aws configure', or set "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            config.profile_name(), config.where(), instance_.absence()));
  }

 private:
  sys::World& world_;
  AwsInstanceMetadata instance_;
};

}  // namespace

std::unique_ptr<CredentialSource<AwsKeys>> make_aws_credentials(sys::World& world) {
  return std::make_unique<CachingCredentials<AwsKeys>>(std::make_unique<AwsChain>(world),
                                                       world.clock, world.threads);
}

}  // namespace outlast::cloud
