#pragma once

#include <optional>

#include "base/error.h"
#include "base/result.h"
#include "sim/simulation.h"
#include "store/around_store.h"
#include "store/inner_store.h"
#include "sys/call_context.h"

namespace outlast::sim {

// Tells in the trace what a machine asks of the store, and what it hears. Confined to the
// simulation.
class NotedStore : public store::AroundStore {
 public:
  NotedStore(store::InnerStore inner, Simulation& simulation);

 protected:
  Result<Ticket> before(const store::StoreCall& call, const sys::CallContext& ctx) override;
  std::optional<Error> after(const store::StoreCall& call, Ticket ticket, const Error* error,
                             const sys::CallContext& ctx) override;

 private:
  Simulation& simulation_;
};

}  // namespace outlast::sim
