#include "cloud/aws_profile_credentials.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/secret.h"
#include "cloud/aws_container_credentials.h"
#include "cloud/aws_instance_metadata.h"
#include "cloud/aws_key_answer.h"
#include "cloud/aws_profile.h"
#include "cloud/aws_sts.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credential_tool.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

Error bad_profile(const AwsProfile& profile, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("AWS profile '{}' {}", profile.name, what)};
}

bool has_own_keys(const AwsProfile& profile) {
  return profile.has("aws_access_key_id") || profile.has("aws_secret_access_key");
}

Result<Fetched<AwsKeys>> own_keys(const AwsConfig& config, const AwsProfile& profile) {
  if (!is_header_text(profile.get("aws_access_key_id")) ||
      !is_header_text(profile.get("aws_secret_access_key"))) {
    return bad_profile(profile,
                       "has only one of aws_access_key_id and aws_secret_access_key, or a line "
                       "break in one: they work only together");
  }
  return Fetched<AwsKeys>{
      .value = {.access_key_id = profile.get("aws_access_key_id"),
                .secret_key = Secret(profile.get("aws_secret_access_key")),
                .session_token = Secret(profile.get("aws_session_token"))},
      .origin = fmt::format("profile '{}' in {}", profile.name, config.where())};
}

Result<StsRole> role_of(const AwsProfile& profile) {
  StsRole role = {.arn = profile.get("role_arn"),
                  .session_name = profile.get("role_session_name"),
                  .external_id = profile.get("external_id")};
  if (const std::string text = profile.get("duration_seconds"); !text.empty()) {
    role.duration_seconds = parse_number<int>(text).value_or(0);
    if (role.duration_seconds <= 0) {
      return bad_profile(profile, "has a duration_seconds that is not a whole number");
    }
  }
  return role;
}

}  // namespace

Result<std::optional<Fetched<AwsKeys>>> AwsProfileCredentials::fetch(const AwsConfig& config,
                                                                     const sys::CallContext& ctx) {
  const std::optional<AwsProfile> profile = config.profile(config.profile_name());
  if (!profile && config.profile_is_chosen()) {
    return Error(ErrorCode::kPermissionDenied,
                 fmt::format("the AWS profile '{}' that AWS_PROFILE names is neither in {}: check "
                             "its name with 'aws configure list-profiles'",
                             config.profile_name(), config.where()));
  }
  if (!profile) return std::nullopt;
  return keys_of(config, *profile, {}, ctx);
}

// The order is that of AWS's own tools: what a profile assumes comes before what it holds.
Result<AwsProfileCredentials::Keys> AwsProfileCredentials::keys_of(
    const AwsConfig& config, const AwsProfile& profile, const std::vector<std::string>& above,
    const sys::CallContext& ctx) {
  if (profile.has("role_arn") && profile.has("web_identity_token_file")) {
    OUTLAST_TRY_ASSIGN(const StsRole role, role_of(profile));
    OUTLAST_TRY_ASSIGN(Fetched<AwsKeys> keys,
                       assume_role_with_web_identity(
                           world_, role, profile.get("web_identity_token_file"), &profile, ctx));
    return Keys(std::move(keys));
  }
  if (profile.has("role_arn")) {
    OUTLAST_TRY_ASSIGN(Fetched<AwsKeys> keys, role_keys(config, profile, above, ctx));
    return Keys(std::move(keys));
  }
  if (profile.has("sso_session") || profile.has("sso_start_url") || profile.has("login_session")) {
    OUTLAST_TRY_ASSIGN(Fetched<AwsKeys> keys, sign_on_keys(profile, ctx));
    return Keys(std::move(keys));
  }
  if (has_own_keys(profile)) {
    OUTLAST_TRY_ASSIGN(Fetched<AwsKeys> keys, own_keys(config, profile));
    return Keys(std::move(keys));
  }
  if (profile.has("credential_process")) {
    OUTLAST_TRY_ASSIGN(Fetched<AwsKeys> keys, process_keys(profile, ctx));
    return Keys(std::move(keys));
  }
  return Keys();
}

Result<Fetched<AwsKeys>> AwsProfileCredentials::role_keys(const AwsConfig& config,
                                                          const AwsProfile& profile,
                                                          const std::vector<std::string>& above,
                                                          const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const StsRole role, role_of(profile));
  if (profile.has("mfa_serial")) {
    return bad_profile(profile,
                       "needs a code of a second factor (mfa_serial), which nobody can type for a "
                       "job: give the job a role or keys without it");
  }
  if (profile.has("source_profile") == profile.has("credential_source")) {
    return bad_profile(profile,
                       "has a role_arn and must have either a source_profile or a "
                       "credential_source beside it");
  }
  OUTLAST_TRY_ASSIGN(const Fetched<AwsKeys> source, keys_of_source(config, profile, above, ctx));
  Result<Fetched<AwsKeys>> keys = assume_role(world_, role, source.value, &profile, ctx);
  if (!keys)
    return std::move(keys).error().while_doing(fmt::format("AWS profile '{}'", profile.name));
  keys->origin = fmt::format("role {} of profile '{}'", role.arn, profile.name);
  return keys;
}

Result<Fetched<AwsKeys>> AwsProfileCredentials::keys_of_source(const AwsConfig& config,
                                                               const AwsProfile& profile,
                                                               std::vector<std::string> above,
                                                               const sys::CallContext& ctx) {
  if (profile.has("credential_source")) {
    const std::string source = profile.get("credential_source");
    OUTLAST_TRY_ASSIGN(Keys keys, keys_of_credential_source(source, ctx));
    if (keys) return *std::move(keys);
    return Error(ErrorCode::kPermissionDenied,
                 fmt::format("AWS profile '{}' wants the credentials of '{}', and there are none: "
                             "run it where they are, or use a source_profile",
                             profile.name, source));
  }
  const std::string name = profile.get("source_profile");
  const std::optional<AwsProfile> source = config.profile(name);
  if (!source) {
    return bad_profile(profile, fmt::format("has the source_profile '{}', which is not in {}", name,
                                            config.where()));
  }
  // Also how a profile that names itself is meant: with its own keys.
  if (has_own_keys(*source)) return own_keys(config, *source);
  above.push_back(profile.name);
  if (std::find(above.begin(), above.end(), name) != above.end()) {
    return bad_profile(profile, fmt::format("is its own source_profile ({} → {}): one of them must "
                                            "have keys",
                                            fmt::join(above, " → "), name));
  }
  OUTLAST_TRY_ASSIGN(Keys keys, keys_of(config, *source, above, ctx));
  if (keys) return *std::move(keys);
  return bad_profile(profile, fmt::format("has the source_profile '{}', which has no keys", name));
}

Result<AwsProfileCredentials::Keys> AwsProfileCredentials::keys_of_credential_source(
    const std::string& source, const sys::CallContext& ctx) {
  if (source == "Environment") return find_aws_environment_keys(world_);
  if (source == "Ec2InstanceMetadata") return instance_.role_keys(ctx);
  if (source == "EcsContainer") return fetch_aws_container_keys(world_, ctx);
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("the credential_source '{}' is not known: use Environment, "
                           "Ec2InstanceMetadata or EcsContainer",
                           source));
}

Result<Fetched<AwsKeys>> AwsProfileCredentials::process_keys(const AwsProfile& profile,
                                                             const sys::CallContext& ctx) {
  const std::string doing = fmt::format("credential_process of AWS profile '{}'", profile.name);
  OUTLAST_TRY_ASSIGN(const std::vector<std::string> argv,
                     split_command(profile.get("credential_process")).while_doing(doing));
  OUTLAST_TRY_ASSIGN(const Secret<std::string> printed,
                     run_credential_tool(world_, argv, ctx).while_doing(doing));
  OUTLAST_TRY_ASSIGN(
      Fetched<AwsKeys> keys,
      parse_process_keys(printed.reveal(), sys::base_name(argv.front()), world_.clock)
          .while_doing(doing));
  keys.origin = doing;
  return keys;
}

Result<Fetched<AwsKeys>> AwsProfileCredentials::sign_on_keys(const AwsProfile& profile,
                                                             const sys::CallContext& ctx) {
  Result<Secret<std::string>> printed = run_credential_tool(
      world_,
      {"aws", "configure", "export-credentials", "--profile", profile.name, "--format", "process"},
      ctx);
  if (!printed && printed.error().code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kPermissionDenied,
                 fmt::format("AWS profile '{}' signs on with SSO, which goes through the aws "
                             "command, and that is not installed: install AWS CLI v2 and run 'aws "
                             "sso login --profile {}'",
                             profile.name, profile.name));
  }
  if (!printed) {
    return std::move(printed).error().while_doing(
        fmt::format("AWS profile '{}' signs on with SSO (if the session has ended, run 'aws sso "
                    "login --profile {}')",
                    profile.name, profile.name));
  }
  OUTLAST_TRY_ASSIGN(
      Fetched<AwsKeys> keys,
      parse_process_keys(printed->reveal(), "aws configure export-credentials", world_.clock));
  keys.origin = fmt::format("the SSO of profile '{}'", profile.name);
  return keys;
}

Result<std::optional<Fetched<AwsKeys>>> find_aws_environment_keys(sys::World& world) {
  const std::string id = world.environment.get("AWS_ACCESS_KEY_ID").value_or("");
  const Secret<std::string> secret(world.environment.get("AWS_SECRET_ACCESS_KEY").value_or(""));
  if (id.empty() && secret.reveal().empty()) return std::nullopt;
  if (!is_header_text(id) || !is_header_text(secret.reveal())) {
    return Error(ErrorCode::kInvalidArgument,
                 "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY work only together and on one line "
                 "each: set both, or none");
  }
  return std::optional(Fetched<AwsKeys>{
      .value = {.access_key_id = id,
                .secret_key = secret,
                .session_token = Secret(world.environment.get("AWS_SESSION_TOKEN").value_or(""))},
      .origin = "AWS_ACCESS_KEY_ID in the environment"});
}

}  // namespace outlast::cloud
