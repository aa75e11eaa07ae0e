#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sys/call_context.h"
#include "sys/world.h"

// What 'outlast doctor' looks at. Each check reads the machine and changes nothing; a check that
// cannot find out says so instead of failing. No value of a credential is ever read: names and
// paths only.
namespace outlast::cli {

enum class Health {
  kOk,
  kNote,     // good to know; nothing to do
  kWarning,  // works, but not as well or as long as it should
  kFailure,  // outlast cannot be used like this
};
// "ok", "note", "warning", "failure".
std::string_view to_string(Health health);

struct Finding {
  std::string name;  // one or two words
  Health health = Health::kOk;
  std::string finding;  // no full stop
  std::string advice;   // what to do about it; empty if nothing
};

// doctor_machine.cc
Finding check_system(sys::World& world);
Finding check_processors(sys::World& world);
Finding check_memory(sys::World& world);
Finding check_disk(sys::World& world);
Finding check_shared_memory(sys::World& world);
Finding check_huge_pages(sys::World& world);
Finding check_clock(sys::World& world);

// doctor_tools.cc
std::vector<Finding> check_tools(sys::World& world);
// Runs 'criu check', for a few seconds at most.
Finding check_criu(sys::World& world, const sys::CallContext& ctx);

// doctor_credentials.cc
std::vector<Finding> check_credentials(sys::World& world);

// All of them, in the order in which they are shown.
std::vector<Finding> examine(sys::World& world, const sys::CallContext& ctx);

}  // namespace outlast::cli
