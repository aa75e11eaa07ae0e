#include "sim/workloads/noted_store.h"

#include <fmt/core.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "sim/simulation.h"
#include "store/around_store.h"
#include "store/inner_store.h"
#include "sys/call_context.h"

namespace outlast::sim {
namespace {

std::string_view name_of(store::StoreCallKind kind) {
  if (kind == store::StoreCallKind::kPut) return "put";
  return kind == store::StoreCallKind::kGet ? "get" : "list";
}

}  // namespace

NotedStore::NotedStore(store::InnerStore inner, Simulation& simulation)
    : AroundStore(std::move(inner)), simulation_(simulation) {}

Result<store::AroundStore::Ticket> NotedStore::before(const store::StoreCall& call,
                                                      const sys::CallContext& /*ctx*/) {
  simulation_.note(fmt::format("store.{}", name_of(call.kind)), call.key);
  return Ticket{0};
}

std::optional<Error> NotedStore::after(const store::StoreCall& call, Ticket /*ticket*/,
                                       const Error* error, const sys::CallContext& /*ctx*/) {
  simulation_.note("answer", fmt::format("{}: {}", call.key,
                                         error == nullptr ? "done" : to_string(error->code())));
  return std::nullopt;
}

}  // namespace outlast::sim
