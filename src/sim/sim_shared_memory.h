#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "sim/kernel.h"
#include "sys/shared_memory.h"

namespace outlast::sim {

// Memory that the programs of a simulation have in common, because they are one process.
class SimSharedMemories : public sys::SharedMemories {
 public:
  explicit SimSharedMemories(Kernel& kernel) : kernel_(kernel) {}
  Result<std::shared_ptr<sys::SharedMemory>> make(std::uint64_t size) override;
  std::optional<std::uint64_t> available() override;

  // What available() says from now on. It is not kept to, and does not get less by make().
  void set_available(std::optional<std::uint64_t> bytes) { available_ = bytes; }

 private:
  Kernel& kernel_;
  std::optional<std::uint64_t> available_;
};

}  // namespace outlast::sim
