#pragma once

#include "sim/workloads/workload.h"

namespace outlast::sim {

// Machines that save one job's state after another and die, while another one prunes what they
// leave. What was acknowledged, or something newer, can always be restored, and everything that
// counts is whole.
Workload checkpoint_life_workload();

}  // namespace outlast::sim
