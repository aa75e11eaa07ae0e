#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "cli/terminal.h"
#include "sys/clock.h"

namespace outlast::cli {

// One line on standard error that says how far a long command is, redrawn in place and gone when
// the command is done. Draws nothing unless the terminal wants progress. Confined to its owner;
// clear it before printing anything else.
class ProgressLine {
 public:
  ProgressLine(const Terminal& terminal, sys::Clock& clock)
      : terminal_(terminal), clock_(clock), wanted_(terminal.shows_progress()) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows `text` (no control characters), cut to the terminal's width; at most ten times a second,
  // so it may be called at every step.
  void update(std::string_view text);
  // Removes the line. The next update() draws at once.
  void clear();

 private:
  const Terminal& terminal_;
  sys::Clock& clock_;
  const bool wanted_;
  std::optional<MonoTime> drawn_;  // when the line on the screen was drawn; none if there is none
};

}  // namespace outlast::cli
