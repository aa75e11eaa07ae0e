#pragma once

#include "sim/workloads/workload.h"

namespace outlast::sim {

// Machines that keep losing their power append to one RaceLog and increment one RaceCounter,
// through the retries that ship, to a store that refuses, loses answers, and does writes after
// their sender heard that nobody knows. Holds if every place in the log has one winner and there is
// no gap, everything acknowledged is there and nothing is there twice, and every counter shows at
// least what was acknowledged and at most what was asked for.
Workload store_race_workload();

}  // namespace outlast::sim
