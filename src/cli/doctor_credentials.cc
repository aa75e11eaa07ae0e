#include <fmt/core.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/doctor.h"
#include "sys/file_ops.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

constexpr std::array<std::string_view, 7> kAwsVariables = {"AWS_ACCESS_KEY_ID",
                                                           "AWS_SECRET_ACCESS_KEY",
                                                           "AWS_SESSION_TOKEN",
                                                           "AWS_PROFILE",
                                                           "AWS_WEB_IDENTITY_TOKEN_FILE",
                                                           "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                                           "AWS_CONTAINER_CREDENTIALS_FULL_URI"};
constexpr std::array<std::string_view, 2> kAwsFiles = {".aws/credentials", ".aws/config"};

constexpr std::array<std::string_view, 2> kGoogleVariables = {"GOOGLE_APPLICATION_CREDENTIALS",
                                                              "CLOUDSDK_AUTH_ACCESS_TOKEN"};
constexpr std::array<std::string_view, 1> kGoogleFiles = {
    ".config/gcloud/application_default_credentials.json"};

constexpr std::array<std::string_view, 8> kAzureVariables = {
    "AZURE_STORAGE_ACCOUNT",   "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_CONNECTION_STRING",
    "AZURE_CLIENT_ID",         "AZURE_CLIENT_SECRET",
    "AZURE_TENANT_ID",         "AZURE_FEDERATED_TOKEN_FILE"};
constexpr std::array<std::string_view, 1> kAzureFiles = {".azure"};

bool is_set(sys::World& world, std::string_view variable) {
  return !world.environment.get(variable).value_or("").empty();
}

// Names of variables that are set and paths that exist. Values are neither kept nor shown, and no
// file is opened.
Finding look_for(sys::World& world, std::string name, std::span<const std::string_view> variables,
                 std::span<const std::string_view> files) {
  std::vector<std::string> found;
  for (const std::string_view variable : variables) {
    if (is_set(world, variable)) found.emplace_back(variable);
  }
  const std::string home = world.environment.get("HOME").value_or("");
  for (const std::string_view file : files) {
    if (!home.empty() && world.files.stat(sys::join_path(home, file))) {
      found.push_back(fmt::format("~/{}", file));
    }
  }
  if (found.empty()) {
    return {std::move(name), Health::kNote, "no credentials found (no command needs them yet)", ""};
  }
  return {std::move(name), Health::kOk, fmt::format("found {}", fmt::join(found, ", ")), ""};
}

}  // namespace

std::vector<Finding> check_credentials(sys::World& world) {
  std::vector<Finding> findings = {
      look_for(world, "AWS keys", kAwsVariables, kAwsFiles),
      look_for(world, "Google keys", kGoogleVariables, kGoogleFiles),
      look_for(world, "Azure keys", kAzureVariables, kAzureFiles),
  };
  if (is_set(world, "AWS_ACCESS_KEY_ID") != is_set(world, "AWS_SECRET_ACCESS_KEY")) {
    findings[0].health = Health::kWarning;
    findings[0].advice =
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY work only together: set both.";
  }
  return findings;
}

}  // namespace outlast::cli
