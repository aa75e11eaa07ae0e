#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "store/around_store.h"
#include "store/inner_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store {

// What was asked of a store. Differences of two moments are usage too.
struct StoreUsage {
  std::array<std::uint64_t, kStoreCallKinds> calls = {};  // by StoreCallKind
  std::uint64_t bytes_up = 0;                             // handed to the store, arrived or not
  std::uint64_t bytes_down = 0;                           // delivered by it
  std::uint64_t errors = 0;                               // calls that failed, of whatever reason
  std::uint64_t throttled = 0;                            // of these, kThrottled

  std::uint64_t calls_of(StoreCallKind kind) const { return calls[static_cast<std::size_t>(kind)]; }
  // As the clouds bill them. Class A: what writes or lists. Class B: what reads. The rest is free.
  std::uint64_t class_a() const;
  std::uint64_t class_b() const;

  friend StoreUsage operator-(const StoreUsage& later, const StoreUsage& earlier);
  friend bool operator==(const StoreUsage&, const StoreUsage&) = default;
};

// Counts what goes through it. Beneath a RetryingStore it counts every try, as the cloud does.
// Thread-safe.
class MeteredStore : public AroundStore {
 public:
  explicit MeteredStore(InnerStore inner);

  StoreUsage usage() const;
  Result<ObjectInfo> get(const std::string& key, const GetOptions& options, const ByteSink& sink,
                         const sys::CallContext& ctx) override;

 protected:
  Result<Ticket> before(const StoreCall& call, const sys::CallContext& ctx) override;
  std::optional<Error> after(const StoreCall& call, Ticket ticket, const Error* error,
                             const sys::CallContext& ctx) override;

 private:
  mutable Mutex mutex_;
  StoreUsage usage_ OUTLAST_GUARDED_BY(mutex_);
};

}  // namespace outlast::store
