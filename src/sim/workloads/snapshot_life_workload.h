#pragma once

#include "sim/workloads/workload.h"

namespace outlast::sim {

// A job whose trainer has its state in the agent's arenas, on machines that are preempted with and
// without notice; agents are killed, trainers crash, also in the middle of a save.
Workload snapshot_life_workload();

}  // namespace outlast::sim
