#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace outlast::sys {

// What the program was started with, and facts about the machine that no file tells. Fixed at
// start: nothing of ours changes its own environment. Thread-safe.
class Environment {
 public:
  virtual ~Environment() = default;
  // The variable's value; nullopt if it is not set (set but empty is "").
  virtual std::optional<std::string> get(std::string_view name) = 0;
  virtual std::vector<std::pair<std::string, std::string>> all() = 0;
  virtual std::string working_dir() = 0;
  virtual std::string host_name() = 0;
  virtual int processor_count() = 0;
  // Seconds that the kernel believes its clock may be off, as time synchronisation reports it;
  // nullopt if nothing disciplines the clock.
  virtual std::optional<double> clock_error_seconds() = 0;
  // A seed that differs at every start.
  virtual std::uint64_t entropy() = 0;
  // What this process has freed goes back to the machine. After large work, before a long rest: it
  // takes about a millisecond.
  virtual void give_back_memory() = 0;
};

}  // namespace outlast::sys
