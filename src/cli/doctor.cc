#include "cli/doctor.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::cli {

std::string_view to_string(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kNote:
      return "note";
    case Health::kWarning:
      return "warning";
    case Health::kFailure:
      return "failure";
  }
  return "failure";
}

std::vector<Finding> examine(sys::World& world, const sys::CallContext& ctx) {
  std::vector<Finding> findings = {
      check_system(world),        check_processors(world), check_memory(world), check_disk(world),
      check_shared_memory(world), check_huge_pages(world), check_clock(world),
  };
  const auto append = [&findings](std::vector<Finding> more) {
    std::move(more.begin(), more.end(), std::back_inserter(findings));
  };
  append(check_tools(world));
  findings.push_back(check_criu(world, ctx));
  append(check_credentials(world));
  return findings;
}

}  // namespace outlast::cli
