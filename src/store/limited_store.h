#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/result.h"
#include "store/around_store.h"
#include "store/inner_store.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::store {

struct LimitOptions {
  std::uint32_t start = 16;
  std::uint32_t min = 1;
  std::uint32_t max = 128;
};

// At most so many calls at once, and how many that is, the store itself tells: one more for every
// `limit` calls that went well while the limit was felt, half as many when it throttles. All
// answers to calls that had begun before a halving belong to it, and halve no further. Waiting for
// a turn ends with the context. A sink must not call the same store: it would wait for its own
// turn. Thread-safe.
class LimitedStore : public AroundStore {
 public:
  LimitedStore(InnerStore inner, sys::Threads& threads, const LimitOptions& options = {});

  // How many calls may be under way now.
  std::uint32_t limit() const;
  // How many are.
  std::uint32_t in_flight() const;

 protected:
  Result<Ticket> before(const StoreCall& call, const sys::CallContext& ctx) override;
  std::optional<Error> after(const StoreCall& call, Ticket ticket, const Error* error,
                             const sys::CallContext& ctx) override;

 private:
  const LimitOptions options_;
  const std::unique_ptr<sys::Monitor> monitor_;  // guards the rest
  std::uint32_t limit_;
  std::uint32_t in_flight_ = 0;
  std::uint32_t successes_ = 0;  // since the limit changed
  Ticket halvings_ = 0;
};

}  // namespace outlast::store
