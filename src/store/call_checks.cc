#include "store/call_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::store {
namespace {

Error refused(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

}  // namespace

Result<void> check_context(sys::Clock& clock, const sys::CallContext& ctx, std::string_view what) {
  if (ctx.stop.stop_requested()) {
    return Error(ErrorCode::kCancelled, fmt::format("{}: stopped before it began", what));
  }
  // Also without a deadline: in simulation this is where others get their turn.
  if (clock.mono_now() >= ctx.deadline) {
    return Error(ErrorCode::kDeadlineExceeded,
                 fmt::format("{}: the deadline passed before it began", what));
  }
  return {};
}

Result<void> check_plan(const UploadPlan& plan, const Properties& properties) {
  if (plan.size == 0) return refused("an upload in parts needs at least one byte");
  if (plan.part_bytes < properties.part_bytes_min || plan.part_bytes > properties.part_bytes_max) {
    return refused(fmt::format("parts of {} bytes are not possible; {} takes {} to {}",
                               plan.part_bytes, properties.kind, properties.part_bytes_min,
                               properties.part_bytes_max));
  }
  if (plan.part_bytes % properties.part_granule != 0) {
    return refused(fmt::format("parts of {} bytes are not possible; {} takes multiples of {}",
                               plan.part_bytes, properties.kind, properties.part_granule));
  }
  if (plan.part_count() > properties.parts_max) {
    return refused(fmt::format("{} parts are too many; {} takes {}: make them larger",
                               plan.part_count(), properties.kind, properties.parts_max));
  }
  return {};
}

Result<void> check_part(const UploadPlan& plan, std::uint64_t index, std::uint64_t bytes) {
  if (index >= plan.part_count()) {
    return refused(fmt::format("there is no part {} in an upload of {}", index, plan.part_count()));
  }
  if (bytes != plan.bytes_of(index)) {
    return refused(
        fmt::format("part {} has {} bytes; the plan says {}", index, bytes, plan.bytes_of(index)));
  }
  return {};
}

Result<ByteRange> clip_range(const ByteRange& range, std::uint64_t size) {
  if (range.length == 0) return refused("a range of no bytes cannot be read");
  if (range.offset >= size) {
    return refused(
        fmt::format("the range begins at byte {}, and the object has {}", range.offset, size));
  }
  return ByteRange{.offset = range.offset, .length = std::min(range.length, size - range.offset)};
}

}  // namespace outlast::store
