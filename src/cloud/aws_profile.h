#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/ini.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::cloud {

// The settings of one profile. A value; holds keys, so it is never printed.
struct AwsProfile {
  std::string name = {};
  std::map<std::string, std::string, std::less<>> settings = {};

  // "" if it is not set.
  std::string get(std::string_view key) const;
  bool has(std::string_view key) const { return !get(key).empty(); }
};

// The shared files of AWS's tools: AWS_SHARED_CREDENTIALS_FILE, else ~/.aws/credentials, and
// AWS_CONFIG_FILE, else ~/.aws/config. Where both set something, the first counts. Immutable after
// construction.
class AwsConfig {
 public:
  // Files that are not there are empty. kCorrupt, with the line, if one is not an INI file.
  static Result<AwsConfig> load(sys::Environment& environment, sys::FileSystem& files);

  // AWS_PROFILE, else AWS_DEFAULT_PROFILE, else "default".
  const std::string& profile_name() const { return profile_name_; }
  // Whether a variable chose the profile: it must then exist.
  bool profile_is_chosen() const { return profile_is_chosen_; }
  std::optional<AwsProfile> profile(std::string_view name) const;
  // A [services NAME], [sso-session NAME] … section; nullptr if there is none.
  const IniSection* section(std::string_view kind, std::string_view name) const;

  // For people: "~/.aws/credentials and ~/.aws/config".
  std::string where() const;

 private:
  std::string profile_name_ = "default";
  bool profile_is_chosen_ = false;
  std::string credentials_path_ = {};
  std::string config_path_ = {};
  IniFile credentials_ = {};
  IniFile config_ = {};
};

// AWS_REGION, AWS_DEFAULT_REGION, the profile's region, or the instance's own; "" if nothing says.
Result<std::string> find_aws_region(sys::World& world, const sys::CallContext& ctx);

// The URL that replaces the service's own ("s3", "sts", "ec2"): AWS_ENDPOINT_URL_S3,
// AWS_ENDPOINT_URL, the profile's [services …] section, its endpoint_url; "" if nothing does. No
// slash at the end.
Result<std::string> find_aws_endpoint(sys::Environment& environment, sys::FileSystem& files,
                                      std::string_view service);

// A setting of the profile's nested block: ("s3", "addressing_style"); "" if it is not set.
Result<std::string> find_aws_setting(sys::Environment& environment, sys::FileSystem& files,
                                     std::string_view block, std::string_view key);

}  // namespace outlast::cloud
