#include "sim/trace.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/time.h"

namespace outlast::sim {

void Trace::add(MonoTime when, std::string_view who, std::string_view what,
                std::string_view detail) {
  const auto nanoseconds = static_cast<std::uint64_t>(when.time_since_epoch().count());
  for (unsigned shift = 0; shift < 64; shift += 8) {
    hash_ = (hash_ ^ (nanoseconds >> shift & 0xffU)) * 0x100000001b3;
  }
  mix(who);
  mix(what);
  mix(detail);
  if (!keep_lines_) return;
  const double seconds = std::chrono::duration<double>(when.time_since_epoch()).count();
  lines_.push_back(detail.empty()
                       ? fmt::format("{:12.6f}s  {:<20} {}", seconds, who, what)
                       : fmt::format("{:12.6f}s  {:<20} {} {}", seconds, who, what, detail));
}

void Trace::mix(std::string_view text) {
  for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash_ = (hash_ ^ 0xffU) * 0x100000001b3;  // so that "ab","c" and "a","bc" differ
}

}  // namespace outlast::sim
