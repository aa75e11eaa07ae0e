#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace outlast::sys {

// Where the machine tells about its memory.
struct MemoryFiles {
  std::string proc = "/proc";
  std::string control_groups = "/sys/fs/cgroup";
};

// What we can still take: of the machine, and of every control group that we are in (version 2 and
// 1; a container's). What the kernel keeps of files that were not read lately counts as free. Swap
// does not: a state that is swapped out is not saved in time.
std::optional<std::uint64_t> available_memory(const MemoryFiles& where);

}  // namespace outlast::sys
