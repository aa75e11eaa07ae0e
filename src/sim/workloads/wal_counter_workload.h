#pragma once

#include "sim/workloads/workload.h"

namespace outlast::sim {

// A server machine that keeps a WalCounter and loses its power again and again; clients elsewhere
// that remember what was acknowledged to them. Holds if no recovery ever shows less than was
// acknowledged or more than was asked for, and if the server, left in peace at last, answers
// everybody.
Workload wal_counter_workload();

}  // namespace outlast::sim
