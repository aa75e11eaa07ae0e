#include "sys/process_family.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace outlast::sys {

std::optional<FamilyMember> pick_receiver(const std::vector<FamilyMember>& family,
                                          int signal_number) {
  const auto found = std::find_if(family.begin(), family.end(), [&](const FamilyMember& member) {
    return member.catches(signal_number);
  });
  if (found == family.end()) return std::nullopt;
  return *found;
}

}  // namespace outlast::sys
