#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

namespace outlast::sys {

// A stack of its own for what handles signals on this thread, as long as it lives. The main thread
// is the one that the kernel asks first.
//
// A library may point the stack register at its own memory for a while: matrix products of oneDNN
// do before version 3.11.2. A handler that ran on "the stack" then would write over whatever lies
// below that memory, and a trainer would die of its heap in the very moment in which it is to save.
class SignalStack {
 public:
  SignalStack() {
    stack_t ours{};
    ours.ss_sp = memory_.data();
    ours.ss_size = memory_.size();
    is_set_ = ::sigaltstack(&ours, &before_) == 0;
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack() {
    if (is_set_) ::sigaltstack(&before_, nullptr);
  }

 private:
  // Several times what the registers of the largest processors take.
  alignas(64) std::array<std::byte, std::size_t{1} << 16U> memory_;
  stack_t before_{};
  bool is_set_ = false;
};

}  // namespace outlast::sys
