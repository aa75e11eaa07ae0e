#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "job/money.h"

// Where a job may run. Which keys each cloud takes and needs is in the field table (fields.h).
namespace outlast::job {

enum class Cloud { kGcp, kAws, kAzure, kSlurm, kSsh, kLocal };
// In the order of Cloud.
inline constexpr std::array<std::string_view, 6> kCloudWords = {"gcp",   "aws", "azure",
                                                                "slurm", "ssh", "local"};

enum class SpotPolicy {
  kAlways,  // wait for a spot machine, however long
  kPrefer,  // spot if there is one, on-demand otherwise or when the deadline needs it
  kNever,   // on-demand only
};
// In the order of SpotPolicy.
inline constexpr std::array<std::string_view, 3> kSpotWords = {"always", "prefer", "never"};

std::string_view to_string(Cloud cloud);
std::string_view to_string(SpotPolicy policy);
// The size of a disk in the unit people chose it in: "200GB" where that is exact, else "50GiB".
// Read back by parse_bytes().
std::string format_disk(std::uint64_t bytes);

// One entry of `places`. What the cloud does not take, or was not given, is empty.
struct Place {
  Cloud cloud = Cloud::kLocal;
  std::string machine;
  std::string region;
  std::string zone;
  std::string image;
  std::optional<std::uint64_t> disk_bytes;
  std::optional<Money> max_price;  // per hour
  std::optional<SpotPolicy> spot;  // instead of the job's
  std::string partition;           // slurm, as are the next three
  std::string account;
  std::string qos;
  std::string constraint;
  std::string host;  // ssh, as are the next two
  std::string user;
  std::optional<std::uint16_t> port;

  friend bool operator==(const Place&, const Place&) = default;
};

}  // namespace outlast::job
