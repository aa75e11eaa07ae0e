#include "job/place.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.h"

namespace outlast::job {

std::string_view to_string(Cloud cloud) {
  return kCloudWords.at(static_cast<std::size_t>(cloud));
}

std::string_view to_string(SpotPolicy policy) {
  return kSpotWords.at(static_cast<std::size_t>(policy));
}

std::string format_disk(std::uint64_t bytes) {
  constexpr std::uint64_t kGigabyte = 1'000'000'000;
  const bool decimal = bytes % kGigabyte == 0 && bytes % (std::uint64_t{1} << 30U) != 0;
  return decimal ? fmt::format("{}GB", bytes / kGigabyte) : format_bytes(bytes);
}

}  // namespace outlast::job
