#include "agent/reporter.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/event.h"
#include "agent/root_layout.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::agent {
namespace {

constexpr std::size_t kReporterOrdersMax = 4;
// Each piece of a stream is an object: a life of a day shall not leave ten thousand of them.
constexpr Duration kStreamGapMin = std::chrono::seconds(3);
constexpr int kStreamGapShares = 20;  // of the life so far

}  // namespace

Reporter::Reporter(const Parts& parts, const std::string& job, job::Epoch epoch)
    : parts_(parts),
      beat_key_(beat_key(job)),
      record_key_(attempt_key(epoch)),
      began_(parts.clock.mono_now()),
      printed_(parts.job, printed_prefix(epoch)),
      events_(parts.job, events_prefix(epoch)),
      inbox_(parts.threads, kReporterOrdersMax),
      thread_(parts.threads.spawn("reporter", [this](const std::stop_token& stop) { run(stop); })) {
}

void Reporter::printed(std::string_view piece) {
  printed_.append(piece);
  if (printed_.held() >= StreamWriter::kSegmentMax) hurry();
}

void Reporter::happened(const Event& event) {
  events_.append(encode_event(event));
}

void Reporter::set_beat(std::optional<Beat> beat) {
  const MutexLock lock(mutex_);
  beat_ = std::move(beat);
}

void Reporter::set_record(AttemptRecord record) {
  const MutexLock lock(mutex_);
  record_ = std::move(record);
}

void Reporter::hurry() {
  (void)inbox_.try_post(Order::kHurry);
}

std::optional<MonoTime> Reporter::away_since() const {
  const MutexLock lock(mutex_);
  return away_since_;
}

// Early in a life somebody watches; later a beat's time is soon enough.
Duration Reporter::gap() const {
  const Duration life = parts_.clock.mono_now() - began_;
  return std::clamp<Duration>(life / kStreamGapShares, kStreamGapMin, kBeatEvery);
}

void Reporter::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const sys::CallContext ctx = {.stop = stop};
    const Result<Order> order =
        inbox_.receive(ctx.until(saturating_add(parts_.clock.mono_now(), gap())));
    if (!order && order.error().code() == ErrorCode::kCancelled) return;
    (void)write(ctx);
  }
}

Result<void> Reporter::write(const sys::CallContext& ctx) {
  std::optional<Beat> beat;
  std::optional<AttemptRecord> record;
  {
    const MutexLock lock(mutex_);
    beat = beat_;
    record = std::exchange(record_, std::nullopt);
  }
  // Each for itself: whether we live must be seen even if what we say cannot be kept.
  Result<void> written = events_.flush(ctx);
  if (Result<void> flushed = printed_.flush(ctx); written) written = std::move(flushed);
  if (record) {
    const Result<std::string> put = parts_.job.put(record_key_, as_bytes(encode_attempt(*record)),
                                                   store::WriteIf::always(), ctx);
    if (put) {
      record.reset();
    } else if (written) {
      written = put.error();
    }
  }
  if (beat) {
    beat->time = parts_.clock.wall_now();
    const Result<std::string> put =
        parts_.root.put(beat_key_, as_bytes(encode_beat(*beat)), store::WriteIf::always(), ctx);
    if (!put && written) written = put.error();
  }
  const MonoTime now = parts_.clock.mono_now();
  const MutexLock lock(mutex_);
  // What could not be written, unless there is a newer one by now.
  if (record && !record_) record_ = std::move(record);
  if (written) {
    away_since_.reset();
  } else if (!away_since_ && written.error().code() != ErrorCode::kCancelled) {
    away_since_ = now;
  }
  return written;
}

Result<void> Reporter::finish(const sys::CallContext& ctx) {
  thread_->request_stop();
  thread_->join();
  return write(ctx);
}

}  // namespace outlast::agent
