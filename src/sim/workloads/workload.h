#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/kernel.h"

namespace outlast::sim {

// A bug that can be switched on, to show that the workload would find it: a checker that has never
// caught anything is not trusted.
struct SeededBug {
  std::string_view name;
  std::string_view summary;
};

struct WorkloadOptions {
  std::uint64_t seed = 1;
  std::string bug = {};     // one of the workload's, or none
  bool keep_trace = false;  // for reading a history
};

// A program of ours (or a small one that stands for it), what happens to it, and what must hold.
struct Workload {
  std::string_view name;
  std::string_view summary;
  std::vector<SeededBug> bugs;
  std::function<Outcome(const WorkloadOptions&)> run;
};

// All there are, in the order in which `outlast sim` lists them. Immutable.
const std::vector<Workload>& workloads();

// kNotFound, with the nearest name, if there is no such workload.
Result<const Workload*> find_workload(std::string_view name);

}  // namespace outlast::sim
