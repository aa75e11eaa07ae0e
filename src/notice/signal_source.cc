#include "notice/signal_source.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "notice/notice_board.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/own_signals.h"

namespace outlast::notice {
namespace {

constexpr Duration kPause = std::chrono::seconds(1);  // after a failure to listen

}  // namespace

SignalSource::SignalSource(std::unique_ptr<sys::SignalSubscription> heard, sys::Clock& clock,
                           Duration grace)
    : heard_(std::move(heard)), clock_(clock), grace_(grace) {}

Result<std::unique_ptr<SignalSource>> SignalSource::make(sys::OwnSignals& signals,
                                                         sys::Clock& clock, Duration grace,
                                                         const std::vector<int>& numbers) {
  OUTLAST_TRY_ASSIGN(std::unique_ptr<sys::SignalSubscription> heard, signals.subscribe(numbers));
  return std::unique_ptr<SignalSource>(new SignalSource(std::move(heard), clock, grace));
}

void SignalSource::watch(NoticeBoard& board, const sys::CallContext& ctx) {
  MonoTime ends = kNever;
  int interrupts = 0;
  while (true) {
    const Result<int> signal = heard_->next(ctx);
    if (!signal) {
      if (!clock_.sleep_for(kPause, ctx)) return;  // stopped
      continue;
    }
    const MonoTime now = clock_.mono_now();
    if (*signal == SIGINT) ++interrupts;
    const bool is_impatient = interrupts > 1;
    ends = std::min(ends, is_impatient ? now : saturating_add(now, grace_));
    board.post({.source = this->name(),
                .ends = ends,
                .at_once = interrupts > 0,
                .why = is_impatient ? "Ctrl-C again: somebody does not want to wait"
                       : *signal == SIGINT
                           ? "Ctrl-C"
                           : fmt::format("SIGTERM, which leaves {}",
                                         format_duration_short(std::max(ends - now, Duration())))});
  }
}

}  // namespace outlast::notice
