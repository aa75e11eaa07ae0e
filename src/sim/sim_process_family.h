#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/kernel.h"
#include "sim/sim_file_system.h"
#include "sim/sim_own_signals.h"
#include "sim/sim_process.h"
#include "sys/process_family.h"

namespace outlast::sim {

// The families of a simulated machine: made of what its programs really do, that is the processes
// they start, the signals they handle or listen for, and the files they open.
class SimProcessFamilies : public sys::ProcessFamilies {
 public:
  SimProcessFamilies(Kernel& kernel, SimProcessLauncher& processes, SimOwnSignals& own_signals,
                     SimFileSystem& files)
      : kernel_(kernel), processes_(processes), own_signals_(own_signals), files_(files) {}

  Result<std::vector<sys::FamilyMember>> family(int pid, const std::string& folder) override;
  Result<void> signal(const sys::FamilyMember& member, int signal_number) override;

 private:
  Kernel& kernel_;
  SimProcessLauncher& processes_;
  SimOwnSignals& own_signals_;
  SimFileSystem& files_;
};

}  // namespace outlast::sim
