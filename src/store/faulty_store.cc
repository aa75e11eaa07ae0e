#include "store/faulty_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "store/around_store.h"
#include "store/inner_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::store {
namespace {

struct RandomFaults {
  RandomFaults(const Random& chance, const FaultRates& how_often)
      : random(chance), rates(how_often) {}

  Duration up_to(Duration most) OUTLAST_REQUIRES(mutex) {
    return Duration(random.between(0, most.count()));
  }
  // The rates lie side by side on the way from 0 to 1.
  Fault::Kind kind_of(double dice) const {
    if (dice < rates.refused) return Fault::Kind::kRefused;
    dice -= rates.refused;
    if (dice < rates.answer_lost) return Fault::Kind::kAnswerLost;
    dice -= rates.answer_lost;
    if (dice < rates.late) return Fault::Kind::kLate;
    dice -= rates.late;
    return dice < rates.cut ? Fault::Kind::kCut : Fault::Kind::kNone;
  }
  Fault draw(const StoreCall& call) {
    const MutexLock lock(mutex);
    Fault fault{.delay_before = up_to(rates.delay_max), .delay_after = up_to(rates.delay_max)};
    fault.kind = kind_of(random.unit());
    if (fault.kind == Fault::Kind::kRefused && random.below(3) == 0) {
      fault.error = ErrorCode::kThrottled;
    }
    if (fault.kind == Fault::Kind::kLate) fault.late_by = up_to(rates.late_max);
    if (fault.kind == Fault::Kind::kCut && call.kind != StoreCallKind::kGet) {
      fault.kind = Fault::Kind::kNone;
    }
    if (fault.kind == Fault::Kind::kCut) {
      // Often within a small object, sometimes far into a large one.
      fault.cut_at = random.below(1ULL << random.below(20));
    }
    return fault;
  }

  Mutex mutex;
  Random random OUTLAST_GUARDED_BY(mutex);
  const FaultRates rates;
};

struct ScriptedFaults {
  explicit ScriptedFaults(std::vector<Fault> script) : faults(std::move(script)) {}

  Fault next() {
    const MutexLock lock(mutex);
    return at < faults.size() ? faults[at++] : Fault();
  }

  Mutex mutex;
  const std::vector<Fault> faults;
  std::size_t at OUTLAST_GUARDED_BY(mutex) = 0;
};

// The write itself, with all that it needs once its sender is gone.
std::optional<LateWrites::Write> late_write(const StoreCall& call) {
  const std::string key(call.key);
  if (call.kind == StoreCallKind::kPut) {
    return [key, bytes = Bytes(call.body.begin(), call.body.end()),
            condition = *call.condition](ObjectStore& server) {
      (void)server.put(key, bytes, condition, {});  // nobody waits for the answer
    };
  }
  if (call.kind == StoreCallKind::kRemove && call.version != nullptr) {
    return [key, version = *call.version](ObjectStore& server) {
      (void)server.remove_if(key, version, {});
    };
  }
  if (call.kind == StoreCallKind::kRemove) {
    return [key](ObjectStore& server) { (void)server.remove(key, {}); };
  }
  return std::nullopt;
}

}  // namespace

FaultPlan random_faults(Random random, const FaultRates& rates) {
  // Shared by all copies of the plan.
  auto faults = std::make_shared<RandomFaults>(random, rates);
  return [faults](const StoreCall& call) { return faults->draw(call); };
}

FaultPlan scripted_faults(std::vector<Fault> faults) {
  auto script = std::make_shared<ScriptedFaults>(std::move(faults));  // shared by all copies
  return [script](const StoreCall&) { return script->next(); };
}

void LateWrites::add(MonoTime due, Write write) {
  const MutexLock lock(mutex_);
  writes_.emplace(due, std::move(write));
}

void LateWrites::settle(MonoTime now) {
  std::vector<Write> due;
  {
    const MutexLock lock(mutex_);
    const auto later = writes_.upper_bound(now);
    for (auto at = writes_.begin(); at != later; ++at) due.push_back(std::move(at->second));
    writes_.erase(writes_.begin(), later);
  }
  for (const Write& write : due) write(server_);
}

std::size_t LateWrites::pending() const {
  const MutexLock lock(mutex_);
  return writes_.size();
}

FaultyStore::FaultyStore(InnerStore inner, sys::Clock& clock, FaultPlan plan, LateWrites* late)
    : AroundStore(std::move(inner)), clock_(clock), plan_(std::move(plan)), late_(late) {}

Error FaultyStore::lost(const StoreCall& call) const {
  return {ErrorCode::kUnknownOutcome,
          fmt::format("{}: the answer was lost (a planned fault)", url_of(call.key))};
}

Result<Fault> FaultyStore::depart(const StoreCall& call, const sys::CallContext& ctx) {
  const Fault fault = plan_(call);
  if (fault.delay_before > Duration::zero()) {
    OUTLAST_TRY(clock_.sleep_for(fault.delay_before, ctx));
  }
  if (late_ != nullptr) late_->settle(clock_.mono_now());
  if (fault.kind == Fault::Kind::kRefused ||
      (fault.kind == Fault::Kind::kCut && call.kind != StoreCallKind::kGet)) {
    Error error(fault.error, fmt::format("{}: refused (a planned fault)", url_of(call.key)));
    if (fault.retry_after) return std::move(error).with_retry_after(*fault.retry_after);
    return error;
  }
  if (fault.kind == Fault::Kind::kLate && late_ != nullptr) {
    if (auto write = late_write(call)) {
      late_->add(saturating_add(clock_.mono_now(), fault.late_by), *std::move(write));
      return lost(call);
    }
  }
  return fault;
}

std::optional<Error> FaultyStore::come_back(const StoreCall& call, const Fault& fault,
                                            const sys::CallContext& ctx) {
  if (fault.delay_after > Duration::zero()) {
    // Whoever gives up on the way back does not learn that it was done.
    if (auto slept = clock_.sleep_for(fault.delay_after, ctx); !slept) return slept.error();
  }
  if (fault.kind == Fault::Kind::kAnswerLost || fault.kind == Fault::Kind::kLate) return lost(call);
  return std::nullopt;
}

Result<AroundStore::Ticket> FaultyStore::before(const StoreCall& call,
                                                const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const Fault fault, depart(call, ctx));
  const bool loses = fault.kind == Fault::Kind::kAnswerLost || fault.kind == Fault::Kind::kLate;
  return static_cast<Ticket>(fault.delay_after.count()) * 2 + (loses ? 1 : 0);
}

std::optional<Error> FaultyStore::after(const StoreCall& call, Ticket ticket,
                                        const Error* /*error*/, const sys::CallContext& ctx) {
  const Fault fault{.kind = ticket % 2 == 1 ? Fault::Kind::kAnswerLost : Fault::Kind::kNone,
                    .delay_after = Duration(ticket / 2)};
  return come_back(call, fault, ctx);
}

Result<ObjectInfo> FaultyStore::get(const std::string& key, const GetOptions& options,
                                    const ByteSink& sink, const sys::CallContext& ctx) {
  const StoreCall call{.kind = StoreCallKind::kGet, .key = key};
  OUTLAST_TRY_ASSIGN(const Fault fault, depart(call, ctx));
  std::uint64_t left = fault.cut_at;
  const auto cutting = [&](const ObjectInfo& object, BytesView piece) -> Result<void> {
    if (fault.kind != Fault::Kind::kCut || piece.size() < left) {
      left -= std::min<std::uint64_t>(left, piece.size());
      return sink(object, piece);
    }
    if (left > 0) OUTLAST_TRY(sink(object, piece.first(left)));
    return lost(call);
  };
  Result<ObjectInfo> outcome = inner().get(key, options, cutting, ctx);
  if (auto other = come_back(call, fault, ctx)) return *std::move(other);
  return outcome;
}

}  // namespace outlast::store
