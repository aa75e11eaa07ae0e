#include "job/place_facts.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace outlast::job {

PlaceFacts merged(const PlaceFacts& known, const PlaceFacts& found) {
  const bool is_inside = found.cloud == "slurm" || found.cloud == "kubernetes";
  const bool keeps = is_inside && !known.cloud.empty();
  PlaceFacts both = keeps ? known : found;
  const PlaceFacts& other = keeps ? found : known;
  both.tags.insert(other.tags.begin(), other.tags.end());
  return both;
}

std::string describe(const PlaceFacts& place) {
  const std::string_view spot = place.spot.value_or(false) ? "spot " : "";
  const std::string_view machine =
      place.machine.empty() ? std::string_view("machine") : std::string_view(place.machine);
  const std::string& where = place.zone.empty() ? place.region : place.zone;
  return fmt::format("a {}{} of {}{}{}", spot, machine, place.cloud, where.empty() ? "" : " in ",
                     where);
}

}  // namespace outlast::job
