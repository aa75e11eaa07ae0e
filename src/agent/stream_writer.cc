#include "agent/stream_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/units.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::agent {

std::string segment_name(std::uint64_t number) {
  return fmt::format("{:08}", number);
}

StreamWriter::StreamWriter(store::ObjectStore& store, std::string prefix)
    : store_(store), prefix_(std::move(prefix)) {}

void StreamWriter::append(std::string_view bytes) {
  const MutexLock lock(mutex_);
  // Once something was left out, what follows is, too, until that has been said in its place.
  const std::size_t room = left_out_ > 0 ? 0 : kHeldMax - held_.size();
  held_ += bytes.substr(0, room);
  left_out_ += bytes.size() - std::min(bytes.size(), room);
}

std::size_t StreamWriter::held() const {
  const MutexLock lock(mutex_);
  return held_.size();
}

void StreamWriter::take_segment() {
  const MutexLock lock(mutex_);
  segment_ = held_.substr(0, kSegmentMax);
  held_.erase(0, segment_.size());
  if (held_.empty() && left_out_ > 0) {
    segment_ += fmt::format("\n[outlast: {} are left out here, because the store was away]\n",
                            format_bytes_short(left_out_));
    left_out_ = 0;
  }
}

Result<void> StreamWriter::flush(const sys::CallContext& ctx) {
  while (true) {
    if (segment_.empty()) take_segment();
    if (segment_.empty()) return {};
    OUTLAST_TRY(store_.put(prefix_ + segment_name(next_), as_bytes(segment_),
                           store::WriteIf::always(), ctx));
    segment_.clear();
    ++next_;
  }
}

}  // namespace outlast::agent
