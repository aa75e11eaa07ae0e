#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "sim/kernel.h"
#include "sys/own_signals.h"

namespace outlast::sim {

// Who listens for signals on a simulated machine: the program that it was booted with, or a process
// on it, each for itself. Machine::signal() and Process::signal() send them.
class SimOwnSignals : public sys::OwnSignals {
 public:
  explicit SimOwnSignals(Kernel& kernel) : kernel_(kernel) {}
  Result<std::unique_ptr<sys::SignalSubscription>> subscribe(
      const std::vector<int>& signal_numbers) override;

  // Whether what runs in `process` listens for it.
  bool hears(const Domain& process, int signal_number) const;
  // Hands the signal over. False if nobody there listens for it: then it does what it always does.
  // Not a scheduling point.
  bool deliver(const Domain& process, int signal_number);

 private:
  class Subscription;
  Kernel& kernel_;
  std::multimap<const Domain*, Subscription*> subscriptions_;  // only looked up: order by chance
};

}  // namespace outlast::sim
