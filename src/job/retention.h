#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/log_entry.h"

namespace outlast::job {

// Which checkpoints to keep. A checkpoint is kept if any of these keeps it.
struct Retention {
  std::uint64_t last = 1;                   // the newest so many; at least one
  std::optional<std::uint64_t> every = {};  // those whose step is a multiple of this
  struct Best {
    std::string metric = {};
    bool highest = false;  // or the lowest
    std::uint64_t count = 1;
  };
  std::optional<Best> best = {};  // those without the metric are never among the best
};

// Of `checkpoints`, which are in the order of the log. Pinned ones are kept.
std::set<Seq> choose_kept(const Retention& retention, const std::vector<LogEntry>& checkpoints,
                          const std::set<Seq>& pinned);

}  // namespace outlast::job
