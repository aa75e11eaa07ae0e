#include "sys/own_signals.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace outlast::sys {

Result<void> check_subscribed_signals(const std::vector<int>& signal_numbers) {
  // Not those that report a mistake of our own, or that the kernel lets nobody have.
  constexpr std::array kHearable = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
  if (signal_numbers.empty()) {
    return Error(ErrorCode::kInvalidArgument, "there is no signal to listen for");
  }
  for (const int number : signal_numbers) {
    if (std::find(kHearable.begin(), kHearable.end(), number) == kHearable.end()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("signal {} cannot be listened for: only SIGTERM, SIGINT, SIGHUP, "
                               "SIGUSR1 and SIGUSR2 can",
                               number));
    }
  }
  return {};
}

}  // namespace outlast::sys
