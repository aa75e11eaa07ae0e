#pragma once

#include <atomic>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "cli/program/terminal.h"
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

// The same for work that reports from several threads: what comes while another text is being drawn
// is left out, for the next will come soon. update() is thread-safe; clear() it when they are done.
class SharedProgressLine {
 public:
  SharedProgressLine(const Terminal& terminal, sys::Clock& clock) : line_(terminal, clock) {}

  void update(std::string_view text) {
    if (is_drawing_.exchange(true)) return;
    line_.update(text);
    is_drawing_ = false;
  }
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
  std::atomic<bool> is_drawing_ = false;
};

}  // namespace outlast::cli
