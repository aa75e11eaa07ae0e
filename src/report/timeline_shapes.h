#pragma once

#include <array>
#include <string_view>

#include "report/life_bars.h"

// What bars and marks look like, in the timeline and in its legend.
namespace outlast::report {

// At (0, 0): the notice's point, the middle of a commit, the end of the bar for what ended it.
struct Shape {
  std::string_view name;
  std::string_view path;
  std::string_view meaning;
  std::string_view in_legend;  // where its (0, 0) is in a box of 14
};
inline constexpr std::array kShapes = {
    Shape{"notice", "M0 0L-4.5 -8H4.5Z", "notice; heard, asked", "translate(7 11)"},
    Shape{"commit", "M0 -5L5 0L0 5L-5 0Z", "commit (step)", "translate(7 7)"},
    Shape{"killed", "M4 -4L12 4M4 4L12 -4", "killed", "translate(-1 7)"},
    Shape{"done", "M4 0L7.5 3.5L14 -4", "done", "translate(-2 7)"}};

// Its name in the page's style.
std::string_view class_of(BarKind kind);

}  // namespace outlast::report
