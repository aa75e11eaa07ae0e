#include "cloud/aws_profile.h"

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "cloud/aws_instance_metadata.h"
#include "cloud/ini.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr std::uint64_t kAwsFileBytesMax = 4U << 20U;

std::string variable(sys::Environment& environment, std::string_view name) {
  return environment.get(name).value_or("");
}

std::string home_path(sys::Environment& environment, std::string_view below) {
  const std::string home = variable(environment, "HOME");
  return home.empty() ? "" : sys::join_path(home, below);
}

std::string aws_file_path(sys::Environment& environment, std::string_view name,
                          std::string_view usual) {
  const std::string path = variable(environment, name);
  if (path.empty()) return home_path(environment, usual);
  return path.starts_with("~/") ? home_path(environment, path.substr(2)) : path;
}

Result<IniFile> read_aws_file(sys::FileSystem& files, const std::string& path) {
  if (path.empty()) return IniFile{};
  Result<std::string> text = sys::read_file(files, path, kAwsFileBytesMax);
  if (!text && text.error().code() == ErrorCode::kNotFound) return IniFile{};
  if (!text) return std::move(text).error().while_doing("read the AWS settings");
  return parse_ini(*text).while_doing(path);
}

void take_settings(const IniFile& file, std::string_view section, AwsProfile& profile,
                   bool& found) {
  for (const IniSection& candidate : file) {
    if (candidate.name != section) continue;
    found = true;
    for (const IniSetting& setting : candidate.settings) {
      profile.settings.insert_or_assign(setting.key, setting.value);
      for (const auto& [key, value] : setting.nested) {
        profile.settings.insert_or_assign(fmt::format("{}.{}", setting.key, key), value);
      }
    }
  }
}

bool is_true(std::string_view text) {
  return text == "true" || text == "True" || text == "TRUE";
}

std::string without_slash_at_end(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// "s3" -> "AWS_ENDPOINT_URL_S3".
std::string endpoint_variable(std::string_view service) {
  std::string name = "AWS_ENDPOINT_URL_";
  for (const char c : service) {
    if (c >= 'a' && c <= 'z') {
      name += static_cast<char>(c - 'a' + 'A');
    } else {
      name += c == '-' || c == ' ' ? '_' : c;
    }
  }
  return name;
}

// Nested settings of a [services …] section.
std::string endpoint_of_services(const AwsConfig& config, const std::string& services,
                                 std::string_view service) {
  const IniSection* section = config.section("services", services);
  const IniSetting* block = section == nullptr ? nullptr : section->find(service);
  if (block == nullptr) return "";
  std::string url;
  for (const auto& [key, value] : block->nested) {
    if (key == "endpoint_url") url = value;
  }
  return url;
}

}  // namespace

std::string AwsProfile::get(std::string_view key) const {
  const auto found = settings.find(key);
  return found == settings.end() ? "" : found->second;
}

Result<AwsConfig> AwsConfig::load(sys::Environment& environment, sys::FileSystem& files) {
  AwsConfig config;
  for (const std::string_view name : {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}) {
    const std::string chosen = variable(environment, name);
    if (chosen.empty()) continue;
    config.profile_name_ = chosen;
    config.profile_is_chosen_ = true;
    break;
  }
  config.credentials_path_ =
      aws_file_path(environment, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials");
  config.config_path_ = aws_file_path(environment, "AWS_CONFIG_FILE", ".aws/config");
  OUTLAST_TRY_ASSIGN(config.credentials_, read_aws_file(files, config.credentials_path_));
  OUTLAST_TRY_ASSIGN(config.config_, read_aws_file(files, config.config_path_));
  return config;
}

std::optional<AwsProfile> AwsConfig::profile(std::string_view name) const {
  AwsProfile profile = {.name = std::string(name)};
  bool found = false;
  if (name == "default") take_settings(config_, "default", profile, found);
  take_settings(config_, fmt::format("profile {}", name), profile, found);
  take_settings(credentials_, name, profile, found);
  if (!found) return std::nullopt;
  return profile;
}

const IniSection* AwsConfig::section(std::string_view kind, std::string_view name) const {
  const std::string wanted = fmt::format("{} {}", kind, name);
  const IniSection* last = nullptr;
  for (const IniSection& candidate : config_) {
    if (candidate.name == wanted) last = &candidate;
  }
  return last;
}

std::string AwsConfig::where() const {
  if (credentials_path_.empty() && config_path_.empty()) return "~/.aws (HOME is not set)";
  return fmt::format("{} and {}", credentials_path_, config_path_);
}

Result<std::string> find_aws_region(sys::World& world, const sys::CallContext& ctx) {
  for (const std::string_view name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    std::string region = variable(world.environment, name);
    if (!region.empty()) return region;
  }
  OUTLAST_TRY_ASSIGN(const AwsConfig config, AwsConfig::load(world.environment, world.files));
  if (const std::optional<AwsProfile> profile = config.profile(config.profile_name())) {
    if (profile->has("region")) return profile->get("region");
  }
  return AwsInstanceMetadata(world).region(ctx);
}

Result<std::string> find_aws_endpoint(sys::Environment& environment, sys::FileSystem& files,
                                      std::string_view service) {
  if (is_true(variable(environment, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"))) return "";
  for (const std::string& name : {endpoint_variable(service), std::string("AWS_ENDPOINT_URL")}) {
    std::string url = variable(environment, name);
    if (!url.empty()) return without_slash_at_end(std::move(url));
  }
  OUTLAST_TRY_ASSIGN(const AwsConfig config, AwsConfig::load(environment, files));
  const std::optional<AwsProfile> profile = config.profile(config.profile_name());
  if (!profile || is_true(profile->get("ignore_configured_endpoint_urls"))) return "";
  std::string url;
  if (profile->has("services"))
    url = endpoint_of_services(config, profile->get("services"), service);
  // The older form: the block in the profile itself.
  if (url.empty()) url = profile->get(fmt::format("{}.endpoint_url", service));
  if (url.empty()) url = profile->get("endpoint_url");
  return without_slash_at_end(std::move(url));
}

Result<std::string> find_aws_setting(sys::Environment& environment, sys::FileSystem& files,
                                     std::string_view block, std::string_view key) {
  OUTLAST_TRY_ASSIGN(const AwsConfig config, AwsConfig::load(environment, files));
  const std::optional<AwsProfile> profile = config.profile(config.profile_name());
  return profile ? profile->get(fmt::format("{}.{}", block, key)) : std::string();
}

}  // namespace outlast::cloud
