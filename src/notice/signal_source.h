#pragma once

#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/own_signals.h"

namespace outlast::notice {

// SIGTERM (systemd, Kubernetes, Slurm, kill) and SIGINT (Ctrl-C) to ourselves: this machine, or our
// time on it, ends when the grace is over. Signals that follow do not prolong it; a second SIGINT
// is somebody who does not want to wait: it ends now.
class SignalSource : public NoticeSource {
 public:
  // Listens from now on, to these signals: SIGTERM may be somebody else's, who knows more of what
  // it leaves.
  static Result<std::unique_ptr<SignalSource>> make(sys::OwnSignals& signals, sys::Clock& clock,
                                                    Duration grace,
                                                    const std::vector<int>& numbers = {SIGTERM,
                                                                                       SIGINT});

  std::string name() const override { return "signal"; }
  void watch(NoticeBoard& board, const sys::CallContext& ctx) override;

 private:
  SignalSource(std::unique_ptr<sys::SignalSubscription> heard, sys::Clock& clock, Duration grace);

  const std::unique_ptr<sys::SignalSubscription> heard_;
  sys::Clock& clock_;
  const Duration grace_;
};

}  // namespace outlast::notice
