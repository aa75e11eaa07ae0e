#include "store/metered_store.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "store/around_store.h"
#include "store/inner_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store {

std::uint64_t StoreUsage::class_a() const {
  return calls_of(StoreCallKind::kPut) + calls_of(StoreCallKind::kList) +
         calls_of(StoreCallKind::kStartUpload) + calls_of(StoreCallKind::kPutPart) +
         calls_of(StoreCallKind::kComplete);
}

std::uint64_t StoreUsage::class_b() const {
  return calls_of(StoreCallKind::kGet) + calls_of(StoreCallKind::kHead) +
         calls_of(StoreCallKind::kResumeUpload) + calls_of(StoreCallKind::kServerTime);
}

StoreUsage operator-(const StoreUsage& later, const StoreUsage& earlier) {
  StoreUsage difference = {.bytes_up = later.bytes_up - earlier.bytes_up,
                           .bytes_down = later.bytes_down - earlier.bytes_down,
                           .errors = later.errors - earlier.errors,
                           .throttled = later.throttled - earlier.throttled};
  for (std::size_t i = 0; i < kStoreCallKinds; ++i) {
    difference.calls[i] = later.calls[i] - earlier.calls[i];
  }
  return difference;
}

MeteredStore::MeteredStore(InnerStore inner) : AroundStore(std::move(inner)) {}

StoreUsage MeteredStore::usage() const {
  const MutexLock lock(mutex_);
  return usage_;
}

Result<ObjectInfo> MeteredStore::get(const std::string& key, const GetOptions& options,
                                     const ByteSink& sink, const sys::CallContext& ctx) {
  const auto counting = [&](const ObjectInfo& object, BytesView piece) {
    {
      const MutexLock lock(mutex_);
      usage_.bytes_down += piece.size();
    }
    return sink(object, piece);
  };
  return AroundStore::get(key, options, counting, ctx);
}

Result<AroundStore::Ticket> MeteredStore::before(const StoreCall& call,
                                                 const sys::CallContext& /*ctx*/) {
  const MutexLock lock(mutex_);
  ++usage_.calls[static_cast<std::size_t>(call.kind)];
  usage_.bytes_up += call.body.size();
  return Ticket{0};
}

std::optional<Error> MeteredStore::after(const StoreCall& /*call*/, Ticket /*ticket*/,
                                         const Error* error, const sys::CallContext& /*ctx*/) {
  if (error == nullptr) return std::nullopt;
  const MutexLock lock(mutex_);
  ++usage_.errors;
  if (error->code() == ErrorCode::kThrottled) ++usage_.throttled;
  return std::nullopt;
}

}  // namespace outlast::store
