#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "sys/call_context.h"

// Signals that somebody sends to this program, as values on an ordinary thread: nothing of ours
// ever runs inside a handler, where hardly anything is allowed.
namespace outlast::sys {

// Hears its signals as long as it lives. Then they do again what they did before, and those that
// nobody asked for are forgotten.
//
// An object and not just a call that waits, for two reasons: a signal is kept from the moment of
// subscribing, not from the moment at which somebody waits for it; and who does not listen (any
// more) must still be ended by Ctrl-C.
class SignalSubscription {
 public:
  virtual ~SignalSubscription() = default;
  // The next signal, waiting for one; in the order in which they came. Each delivery counts: a
  // second SIGINT is heard, too, while the first is being handled. A signal that is already there
  // wins over a passed deadline and over a stop. For one thread at a time, any.
  virtual Result<int> next(const CallContext& ctx) = 0;
};

// Thread-safe.
class OwnSignals {
 public:
  virtual ~OwnSignals() = default;
  // From now on these are heard instead of ending the program: of SIGTERM, SIGINT, SIGHUP, SIGUSR1
  // and SIGUSR2 (others: kInvalidArgument). Who listens does not take it from others who do: each
  // hears all of its own. kUnavailable for one listener too many: there are some eight at once.
  // SIGHUP and SIGINT stay ignored if they are: that is how nohup, and a shell's '&', protect what
  // they start. Programs that we start do not notice any of this.
  virtual Result<std::unique_ptr<SignalSubscription>> subscribe(
      const std::vector<int>& signal_numbers) = 0;
};

// kInvalidArgument unless subscribe() may take these: the same in every world.
Result<void> check_subscribed_signals(const std::vector<int>& signal_numbers);

}  // namespace outlast::sys
