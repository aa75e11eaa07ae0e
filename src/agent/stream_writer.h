#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"

// A stream of an attempt (what the trainer printed, what happened to it) in the root, as numbered
// objects that are put once and never changed: what is there is safe, whatever becomes of this
// machine.
namespace outlast::agent {

// "00000001", "00000002", …: the order of the names is that of the stream.
std::string segment_name(std::uint64_t number);

// Only one ever writes a stream: it lies under the epoch of an attempt. append() and held() may be
// called from any thread, flush() by one.
class StreamWriter {
 public:
  static constexpr std::size_t kSegmentMax = 256U << 10U;
  static constexpr std::size_t kHeldMax = 8U << 20U;

  // `prefix` ends with '/'.
  StreamWriter(store::ObjectStore& store, std::string prefix);

  // Keeps it for the next flush; never waits. While the store is away, no more than kHeldMax is
  // kept; what comes then is left out, and the stream says how much in its place.
  void append(std::string_view bytes);
  // What waits for a flush.
  std::size_t held() const;

  // Puts what is held. After an error nothing is lost: the next flush begins where this one ended.
  Result<void> flush(const sys::CallContext& ctx);

 private:
  // The bytes of the next object; empty if there is nothing.
  void take_segment();

  store::ObjectStore& store_;
  const std::string prefix_;
  std::uint64_t next_ = 1;
  // What is being put. It is put again as it is until that has worked, so that it does not matter
  // whether a put whose answer was lost has happened.
  std::string segment_;
  mutable Mutex mutex_;
  std::string held_ OUTLAST_GUARDED_BY(mutex_);
  std::uint64_t left_out_ OUTLAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace outlast::agent
