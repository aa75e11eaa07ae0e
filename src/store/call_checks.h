#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"

// What every store asks of a call before it does anything, so that all refuse alike.
namespace outlast::store {

// kCancelled or kDeadlineExceeded if `ctx` has ended already; `what` is the subject of the
// sentence.
Result<void> check_context(sys::Clock& clock, const sys::CallContext& ctx, std::string_view what);

// kInvalidArgument unless the plan lies within the bounds of the store.
Result<void> check_plan(const UploadPlan& plan, const Properties& properties);

// kInvalidArgument unless part `index` of the plan has this many bytes.
Result<void> check_part(const UploadPlan& plan, std::uint64_t index, std::uint64_t bytes);

// The part of an object of `size` bytes that a reader asked for, cut off at the object's end.
// kInvalidArgument if it is empty or begins at or past the end.
Result<ByteRange> clip_range(const ByteRange& range, std::uint64_t size);

}  // namespace outlast::store
