#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

// What goes wrong with one call.
struct Fault {
  enum class Kind {
    kNone,
    kRefused,     // not done: `error`
    kAnswerLost,  // done, and the caller hears kUnknownOutcome
    kLate,        // the caller hears kUnknownOutcome, and `late_by` afterwards it is done; a write
                  // that cannot be late (of an upload) is kAnswerLost
    kCut,         // a read that breaks after `cut_at` bytes: kUnknownOutcome; others: kRefused
  };
  Kind kind = Kind::kNone;
  ErrorCode error = ErrorCode::kUnavailable;
  std::optional<Duration> retry_after = {};
  Duration late_by = {};
  std::uint64_t cut_at = 0;
  Duration delay_before = {};  // of the way there, whatever happens then
  Duration delay_after = {};   // of the way back
};

// Decides for each call what goes wrong with it. Thread-safe.
using FaultPlan = std::function<Fault(const StoreCall&)>;

struct FaultRates {
  double refused = 0;  // a third of them throttled
  double answer_lost = 0;
  double late = 0;
  double cut = 0;  // of reads
  Duration late_max = {};
  Duration delay_max = {};  // each way
};
// Faults at random, at these rates.
FaultPlan random_faults(Random random, const FaultRates& rates);
// These faults, one call each, in this order; then none.
FaultPlan scripted_faults(std::vector<Fault> faults);

// Writes that are under way although their senders heard nothing, and may be no more. One for all
// FaultyStores on the same bucket. Nobody can look at the bucket but through one of them, so a
// write is early enough if it is done before the first call after its time. Thread-safe.
class LateWrites {
 public:
  using Write = std::function<void(ObjectStore& server)>;

  // `server` is what the writes are done on: it outlives every machine.
  explicit LateWrites(ObjectStore& server) : server_(server) {}

  void add(MonoTime due, Write write);
  // Does what is due by now. kNever: all.
  void settle(MonoTime now);
  std::size_t pending() const;

 private:
  ObjectStore& server_;
  mutable Mutex mutex_;
  std::multimap<MonoTime, Write> writes_
      OUTLAST_GUARDED_BY(mutex_);  // by the time when they are due
};

// A store on which things go wrong as planned: for tests and the simulator. Thread-safe.
class FaultyStore : public AroundStore {
 public:
  // Without `late`, late writes are done at once, and only their answer is lost.
  FaultyStore(InnerStore inner, sys::Clock& clock, FaultPlan plan, LateWrites* late = nullptr);

  Result<ObjectInfo> get(const std::string& key, const GetOptions& options, const ByteSink& sink,
                         const sys::CallContext& ctx) override;

 protected:
  Result<Ticket> before(const StoreCall& call, const sys::CallContext& ctx) override;
  std::optional<Error> after(const StoreCall& call, Ticket ticket, const Error* error,
                             const sys::CallContext& ctx) override;

 private:
  // The way there: an error if the call ends on it, else what is still to come.
  Result<Fault> depart(const StoreCall& call, const sys::CallContext& ctx);
  // The way back: an error if the answer does not make it.
  std::optional<Error> come_back(const StoreCall& call, const Fault& fault,
                                 const sys::CallContext& ctx);
  Error lost(const StoreCall& call) const;

  sys::Clock& clock_;
  const FaultPlan plan_;
  LateWrites* const late_;
};

}  // namespace outlast::store
