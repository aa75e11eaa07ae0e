#pragma once

#include <string>
#include <vector>

namespace outlast::report {

struct Tick {
  double at = 0;  // seconds
  std::string text = {};
  bool is_major = true;  // every second one: enough where there is little room
};

// Where an axis from 0 to so many seconds is marked: from 0 in steps that people count in (1, 2, 5,
// 10, 15, 30 s, …, 1, 2, 3, 6, 12 h, days), at most `ticks_max` (>= 2) of them. Only 0 if the
// axis has no length, or one that is not finite.
std::vector<Tick> axis_ticks(double seconds, int ticks_max);

}  // namespace outlast::report
