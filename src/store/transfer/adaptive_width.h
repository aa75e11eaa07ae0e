#pragma once

#include <cstdint>

#include "base/time.h"

namespace outlast::store {

// How many transfers to have in flight: climbs while more of them move more, and steps back when
// they do not. Pure: it is told what happened and when. Confined to its owner.
class AdaptiveWidth {
 public:
  struct Limits {
    unsigned start = 4;
    unsigned least = 2;
    unsigned most = 16;
  };

  explicit AdaptiveWidth(Limits limits) : limits_(limits), width_(limits.start) {}

  unsigned width() const { return width_; }
  // One transfer of `bytes` has ended.
  void ended(std::uint64_t bytes, MonoTime now);

 private:
  void decide(double rate);

  const Limits limits_;
  unsigned width_;
  int direction_ = 1;
  double last_rate_ = 0;
  MonoTime window_start_{};
  std::uint64_t window_work_ = 0;
  unsigned window_count_ = 0;
};

}  // namespace outlast::store
