#include "notice/place_finder.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/azure_metadata.h"
#include "notice/ec2_metadata.h"
#include "notice/gce_metadata.h"
#include "notice/metadata_service.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

constexpr Duration kFindPatience = std::chrono::milliseconds(1500);
constexpr std::string_view kAzureAssetTag = "7783-7084-3265-9085-8269-3286-77";

// What the firmware says; nullopt if it cannot be read.
std::optional<std::string> firmware_text(sys::FileSystem& files, std::string_view name) {
  const Result<std::string> text = sys::read_file(files, std::string(name), 16U << 10U);
  if (!text) return std::nullopt;
  return std::string(ascii_trimmed(*text));
}

struct Firmware {
  std::optional<Cloud> cloud = {};
  bool is_readable = false;
};

Firmware look_at_firmware(sys::FileSystem& files) {
  const auto vendor = firmware_text(files, "/sys/class/dmi/id/sys_vendor");
  const auto product = firmware_text(files, "/sys/class/dmi/id/product_name");
  const auto chassis = firmware_text(files, "/sys/class/dmi/id/chassis_asset_tag");
  const std::string hypervisor =
      ascii_lower(firmware_text(files, "/sys/hypervisor/uuid").value_or(""));
  Firmware found = {.is_readable = vendor || product || chassis};
  // Google also makes laptops: what they are called does not begin with its name.
  const bool is_google = product ? product->starts_with("Google") : vendor == "Google";
  if (is_google) {
    found.cloud = Cloud::kGce;
  } else if (vendor == "Amazon EC2" || product == "Amazon EC2" || hypervisor.starts_with("ec2")) {
    found.cloud = Cloud::kEc2;
  } else if (chassis == kAzureAssetTag) {
    found.cloud = Cloud::kAzure;
  }
  return found;
}

bool is_switched_off(Cloud cloud, sys::Environment& environment) {
  if (cloud == Cloud::kGce) return is_true_variable(environment, "NO_GCE_CHECK");
  if (cloud == Cloud::kEc2) return is_true_variable(environment, "AWS_EC2_METADATA_DISABLED");
  return false;
}

std::vector<Cloud> named_by_variables(sys::Environment& environment) {
  std::vector<Cloud> clouds;
  const auto is_set = [&](std::string_view name) {
    return !environment.get(name).value_or("").empty();
  };
  if (is_set("GCE_METADATA_HOST") || is_set("GCE_METADATA_IP") || is_set("GCE_METADATA_URL")) {
    clouds.push_back(Cloud::kGce);
  }
  if (is_set("AWS_EC2_METADATA_SERVICE_ENDPOINT")) clouds.push_back(Cloud::kEc2);
  if (is_set("OUTLAST_AZURE_METADATA_ENDPOINT")) clouds.push_back(Cloud::kAzure);
  return clouds;
}

bool is_here(sys::World& world, Cloud cloud, const sys::CallContext& ctx) {
  if (cloud == Cloud::kGce) return GceMetadata(world).is_here(ctx);
  if (cloud == Cloud::kEc2) return Ec2Metadata(world).is_here(ctx);
  return AzureMetadata(world).is_here(ctx);
}

}  // namespace

std::string_view to_string(Cloud cloud) {
  if (cloud == Cloud::kGce) return "gce";
  return cloud == Cloud::kEc2 ? "ec2" : "azure";
}

PlaceGuess guess_place(sys::FileSystem& files, sys::Environment& environment) {
  const auto is_off = [&](Cloud cloud) { return is_switched_off(cloud, environment); };
  PlaceGuess guess = {.ask = named_by_variables(environment)};
  if (guess.ask.empty()) {
    const Firmware firmware = look_at_firmware(files);
    if (firmware.cloud && !is_off(*firmware.cloud)) guess.cloud = firmware.cloud;
    if (!firmware.cloud && !firmware.is_readable) {
      guess.ask = {Cloud::kGce, Cloud::kEc2, Cloud::kAzure};
    }
  }
  std::erase_if(guess.ask, is_off);
  return guess;
}

std::optional<Cloud> find_cloud(sys::World& world, const std::vector<Cloud>& clouds,
                                const sys::CallContext& ctx) {
  const sys::CallContext bounded = ctx.until(saturating_add(world.clock.mono_now(), kFindPatience));
  std::vector<char> found(clouds.size(), 0);  // each is written by one thread only
  {
    std::vector<std::unique_ptr<sys::Thread>> threads;
    threads.reserve(clouds.size());
    for (std::size_t i = 0; i < clouds.size(); ++i) {
      threads.push_back(world.threads.spawn(fmt::format("find-{}", to_string(clouds[i])),
                                            [&, i](const std::stop_token&) {
                                              found[i] = is_here(world, clouds[i], bounded) ? 1 : 0;
                                            }));
    }
    for (const auto& thread : threads) thread->join();
  }
  const auto first = std::find(found.begin(), found.end(), 1);
  if (first == found.end()) return std::nullopt;
  return clouds[static_cast<std::size_t>(first - found.begin())];
}

}  // namespace outlast::notice
