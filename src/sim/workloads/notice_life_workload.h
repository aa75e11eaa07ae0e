#pragma once

#include "sim/workloads/workload.h"

namespace outlast::sim {

// A job on a cloud's machines, whose metadata service says when they end: what was heard in time
// costs no step, whatever the network between the two does.
Workload notice_life_workload();

}  // namespace outlast::sim
