#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drill/report.h"

// What is drawn of one life, before anybody knows where.
namespace outlast::report {

enum class BarKind {
  kStarting,  // until the first sign of progress: the machine, the restore, the trainer's own start
  kTraining,  // from there until the agent had ended
  kIdle,      // from there until the machine did
  kSpare,     // the same, in the time that a notice left
  kNotice,    // from a notice until the agent had ended, or the time that it left had
  kWithdrawn,  // the same, of one that was taken back
};

struct Bar {
  BarKind kind = BarKind::kTraining;
  double from = 0;
  double to = 0;
  std::string title = {};  // one sentence, with the numbers
};

// In the order in which they are drawn: a notice over what went on meanwhile. Takes finite numbers.
std::vector<Bar> bars_of(const drill::Life& life);

// "Notice of 30s at 1m12s: heard after 45ms, asked after 60ms, committed after 1.2s"
std::string title_of(const drill::Injection& injection);
// "Checkpoint 3 at 1m12s: step 120, 1.2 MiB (0.4 MiB new), took 0.3s, notice"
std::string title_of(const drill::Save& save);
// "saved in 1.2s, lost 3 steps": what fits beside the bars; nothing if there is nothing to say.
std::string short_story(const drill::Life& life);

// Where a text has room beside bars from `from` to `to`, both shares of the width.
enum class Side { kRight, kLeft };
struct TextPlace {
  Side side = Side::kRight;
  bool is_wide_only = false;  // hidden on a narrow screen
};
std::optional<TextPlace> place_beside(double from, double to, std::size_t characters);

// Widths in pixels of the narrowest plot that there is, and of the narrowest "wide" one; and of a
// character, generously.
inline constexpr double kNarrowPlot = 270;
inline constexpr double kWidePlot = 600;
inline constexpr double kCharacterWidth = 6.6;

}  // namespace outlast::report
