#pragma once

#include "sim/workloads/workload.h"

namespace outlast::sim {

// Lives of a job: machines that run the agent with a trainer, are preempted with and without
// notice, and take the job over from each other, on a store that fails.
Workload agent_life_workload();

}  // namespace outlast::sim
