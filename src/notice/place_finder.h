#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/file_system.h"
#include "sys/world.h"

// Which cloud we are in.
namespace outlast::notice {

enum class Cloud { kGce, kEc2, kAzure };
std::string_view to_string(Cloud cloud);  // "gce", "ec2", "azure"

// What can be told without asking anybody.
struct PlaceGuess {
  std::optional<Cloud> cloud = {};  // the machine's own firmware says so
  std::vector<Cloud> ask = {};      // otherwise: whose metadata service may be there
  friend bool operator==(const PlaceGuess&, const PlaceGuess&) = default;
};

// Where a variable says that a cloud's metadata service is, that one is asked. Otherwise the
// firmware (DMI) tells; a machine of nobody's is not bothered. Only where it cannot be read are all
// asked. NO_GCE_CHECK and AWS_EC2_METADATA_DISABLED say who is not to be.
PlaceGuess guess_place(sys::FileSystem& files, sys::Environment& environment);

// Asks all of them at once, for a second and a half at most; the first in the list that is there.
std::optional<Cloud> find_cloud(sys::World& world, const std::vector<Cloud>& clouds,
                                const sys::CallContext& ctx);

}  // namespace outlast::notice
