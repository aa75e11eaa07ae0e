#include "job/place_facts.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace outlast::job {

std::string describe(const PlaceFacts& place) {
  const std::string_view spot = place.spot.value_or(false) ? "spot " : "";
  const std::string_view machine = place.machine.empty() ? "machine" : place.machine;
  const std::string& where = place.zone.empty() ? place.region : place.zone;
  return fmt::format("a {}{} of {}{}{}", spot, machine, place.cloud, where.empty() ? "" : " in ",
                     where);
}

}  // namespace outlast::job
