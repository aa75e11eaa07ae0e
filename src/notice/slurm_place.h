#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "job/place_facts.h"
#include "sys/environment.h"

namespace outlast::notice {

// The job of Slurm that this program runs in, as its environment says.
struct SlurmPlace {
  std::string job = {};  // as scontrol takes it: "42"; of an array "40_2"
  std::uint64_t restarts = 0;
  std::optional<WallTime> ends = {};  // its time limit; told by Slurm 23.02 and newer
  job::PlaceFacts facts = {};
};
// Nothing if we are not in one.
std::optional<SlurmPlace> slurm_place(sys::Environment& environment);

// What each job of an array has after its name: "-2" for task 2. They share a batch script and thus
// a name, and must not take each other's place in the root. "" elsewhere.
std::string slurm_array_suffix(sys::Environment& environment);

}  // namespace outlast::notice
