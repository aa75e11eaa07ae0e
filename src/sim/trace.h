#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace outlast::sim {

// What happened in a simulation, in order: always as a hash, which two runs of one seed must share,
// and on request as lines that a person can read. Confined to the kernel.
class Trace {
 public:
  explicit Trace(bool keep_lines) : keep_lines_(keep_lines) {}

  // `who` did `what`; `detail` is free text and may hold nothing that differs between runs: no
  // address, no thread id, no real time.
  void add(MonoTime when, std::string_view who, std::string_view what, std::string_view detail);

  std::uint64_t hash() const { return hash_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  void mix(std::string_view text);

  const bool keep_lines_;
  std::uint64_t hash_ = 0xcbf29ce484222325;  // FNV-1a: only equality matters, not strength
  std::vector<std::string> lines_;
};

}  // namespace outlast::sim
