#include "sim/sim_own_signals.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sim/kernel.h"
#include "sys/call_context.h"
#include "sys/own_signals.h"
#include "sys/threads.h"

namespace outlast::sim {

class SimOwnSignals::Subscription : public sys::SignalSubscription {
 public:
  Subscription(SimOwnSignals& owner, std::vector<int> numbers)
      : owner_(owner), home_(&owner.kernel_.current_domain()), numbers_(std::move(numbers)) {
    owner_.subscriptions_.emplace(home_, this);
  }
  ~Subscription() override {
    std::erase_if(owner_.subscriptions_,
                  [this](const auto& entry) { return entry.second == this; });
  }

  bool hears(int number) const {
    return std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end();
  }

  void take(int number) {
    signals_.push_back(number);
    for (Kernel::Task* task : waiting_) owner_.kernel_.wake(*task);
  }

  Result<int> next(const sys::CallContext& ctx) override {
    if (!owner_.kernel_.step("signals.next")) return gone_error();
    while (signals_.empty()) {
      Kernel::Task* const self = &owner_.kernel_.current();
      waiting_.push_back(self);
      const sys::Woken woken = owner_.kernel_.block("a signal to ourselves", ctx);
      std::erase(waiting_, self);
      owner_.kernel_.throw_if_gone();
      if (!signals_.empty()) break;
      if (woken == sys::Woken::kStopped) return Error(ErrorCode::kCancelled, "stopped");
      if (woken == sys::Woken::kDeadline) {
        return Error(ErrorCode::kDeadlineExceeded, "no signal came");
      }
    }
    const int number = signals_.front();
    signals_.pop_front();
    return number;
  }

 private:
  SimOwnSignals& owner_;
  const Domain* const home_;
  const std::vector<int> numbers_;
  std::deque<int> signals_;
  std::vector<Kernel::Task*> waiting_;
};

Result<std::unique_ptr<sys::SignalSubscription>> SimOwnSignals::subscribe(
    const std::vector<int>& signal_numbers) {
  if (!kernel_.step("signals.subscribe")) return gone_error();
  OUTLAST_TRY(sys::check_subscribed_signals(signal_numbers));
  return std::make_unique<Subscription>(*this, signal_numbers);
}

bool SimOwnSignals::hears(const Domain& process, int signal_number) const {
  const auto [begin, end] = subscriptions_.equal_range(&process);
  return std::any_of(begin, end,
                     [&](const auto& entry) { return entry.second->hears(signal_number); });
}

bool SimOwnSignals::deliver(const Domain& process, int signal_number) {
  if (!hears(process, signal_number)) return false;
  const auto [begin, end] = subscriptions_.equal_range(&process);
  for (auto entry = begin; entry != end; ++entry) {  // of one process: as they subscribed
    if (entry->second->hears(signal_number)) entry->second->take(signal_number);
  }
  return true;
}

}  // namespace outlast::sim
