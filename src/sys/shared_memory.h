#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"

namespace outlast::sys {

// Memory that processes of one machine can share, mapped here. All zeros at first; a page is taken
// from the machine when it is first written to. It lasts as long as anybody has it, in whatever
// process. Aligned to 4096 bytes.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  virtual std::span<std::byte> bytes() = 0;
};

class SharedMemories {
 public:
  virtual ~SharedMemories() = default;
  // Of this size, which never changes. Nothing is taken from the machine yet. kUnavailable if it
  // cannot be had, kInvalidArgument for a size of 0. Thread-safe.
  virtual Result<std::shared_ptr<SharedMemory>> make(std::uint64_t size) = 0;
  // What this process could still take without anybody being killed for it, as far as the machine
  // and our control group tell; nullopt if they do not. Thread-safe.
  virtual std::optional<std::uint64_t> available() = 0;
};

}  // namespace outlast::sys
