#pragma once

#include <string_view>

#include "base/result.h"

namespace outlast::sys {

// The user's screen, or the files and pipes that stand in for it. Nothing is kept back: a text is
// handed over before the call returns. Thread-safe.
class Console {
 public:
  virtual ~Console() = default;
  // Results: standard output. A failure is remembered for out_status(); what comes after it is
  // dropped.
  virtual void out(std::string_view text) = 0;
  // Everything else: standard error. Failures are ignored: there is nobody left to tell.
  virtual void err(std::string_view text) = 0;
  // Ok while everything given to out() was taken; else the first failure. kCancelled if whoever
  // read our output has gone (a closed pipe: not worth a sentence), kNoSpace if the disk is full.
  // The real console needs SIGPIPE ignored for this, which is main()'s business.
  virtual Result<void> out_status() = 0;
  // Whether a person watches. NO_COLOR and friends are the caller's business.
  virtual bool out_is_terminal() = 0;
  virtual bool err_is_terminal() = 0;
  // Columns of the terminal on standard error; 80 if unknown.
  virtual int columns() = 0;
};

}  // namespace outlast::sys
