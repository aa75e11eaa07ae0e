#pragma once

#include <string_view>

namespace outlast::sys {

// The user's screen, or the files and pipes that stand in for it. Thread-safe.
class Console {
 public:
  virtual ~Console() = default;
  // Results: standard output.
  virtual void out(std::string_view text) = 0;
  // Everything else: standard error.
  virtual void err(std::string_view text) = 0;
  // Whether a person watches. NO_COLOR and friends are the caller's business.
  virtual bool out_is_terminal() = 0;
  virtual bool err_is_terminal() = 0;
  // Columns of the terminal on standard error; 80 if unknown.
  virtual int columns() = 0;
};

}  // namespace outlast::sys
