#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/aws_instance_metadata.h"
#include "cloud/aws_profile.h"
#include "cloud/caching_credentials.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::cloud {

// The keys that a profile of the shared files stands for: keys of its own, a credential_process, a
// role over another profile, over another source or over a web identity, a single sign-on (through
// the aws command). Confined to its owner.
class AwsProfileCredentials {
 public:
  AwsProfileCredentials(sys::World& world, AwsInstanceMetadata& instance)
      : world_(world), instance_(instance) {}

  // Of the profile that the configuration names. nullopt if nothing chose a profile and there is no
  // default one, or it says nothing about keys. kInvalidArgument if what it says cannot work.
  Result<std::optional<Fetched<AwsKeys>>> fetch(const AwsConfig& config,
                                                const sys::CallContext& ctx);

 private:
  using Keys = std::optional<Fetched<AwsKeys>>;
  // `above` are the profiles that led here, for finding cycles.
  Result<Keys> keys_of(const AwsConfig& config, const AwsProfile& profile,
                       const std::vector<std::string>& above, const sys::CallContext& ctx);
  Result<Fetched<AwsKeys>> keys_of_source(const AwsConfig& config, const AwsProfile& profile,
                                          std::vector<std::string> above,
                                          const sys::CallContext& ctx);
  Result<Keys> keys_of_credential_source(const std::string& source, const sys::CallContext& ctx);
  Result<Fetched<AwsKeys>> role_keys(const AwsConfig& config, const AwsProfile& profile,
                                     const std::vector<std::string>& above,
                                     const sys::CallContext& ctx);
  Result<Fetched<AwsKeys>> process_keys(const AwsProfile& profile, const sys::CallContext& ctx);
  Result<Fetched<AwsKeys>> sign_on_keys(const AwsProfile& profile, const sys::CallContext& ctx);

  sys::World& world_;
  AwsInstanceMetadata& instance_;
};

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; nullopt if they are not set.
// kInvalidArgument if only one of the first two is.
Result<std::optional<Fetched<AwsKeys>>> find_aws_environment_keys(sys::World& world);

}  // namespace outlast::cloud
