#pragma once

#include "sim/workloads/workload.h"

namespace outlast::sim {

// Machines that keep losing their power take one job over from each other, add checkpoints to its
// commit log and prune it, through the retries that ship, to a store that refuses, loses answers,
// and does writes after their sender heard that nobody knows; and now and then something adds to
// the log that does not obey it. Holds if the log reads as one history without a gap, everything
// acknowledged is at its place in it, nothing of a lower epoch counts after a fence, whoever is
// told to stop has a successor, and the end of the log says the same as all of it.
Workload commit_race_workload();

}  // namespace outlast::sim
