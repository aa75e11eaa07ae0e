#include "checkpoint/compression_policy.h"

#include <chrono>
#include <cstdint>

#include "base/mutex.h"
#include "base/time.h"
#include "checkpoint/writer.h"

namespace outlast::checkpoint {
namespace {

// What a worker shrinks in a second, until it has been measured; and how much a new measurement
// counts against the ones before.
constexpr double kEncodeRate = 400e6;
constexpr double kNewWeight = 0.1;
// Less than this says more about the latency than about the rate.
constexpr std::uint64_t kMeasurableBytes = 4U << 20U;

double seconds(Duration length) {
  return std::chrono::duration<double>(length).count();
}

}  // namespace

CompressionPolicy::CompressionPolicy(Compression wish, LinkRate rate, unsigned workers)
    : wish_(wish), workers_(workers) {
  const MutexLock lock(mutex_);
  link_rate_ = rate.bytes_per_second;
  encode_rate_ = kEncodeRate / workers_ * 2;  // as if on two cores
}

bool CompressionPolicy::wanted() const {
  if (wish_ != Compression::kAuto) return wish_ == Compression::kAlways;
  const LinkRate link = rate();
  const MutexLock lock(mutex_);
  return link.bytes_per_second < encode_rate_ * workers_;
}

void CompressionPolicy::encoded(std::uint64_t raw_bytes, Duration took) {
  if (took <= Duration::zero()) return;
  const double now = static_cast<double>(raw_bytes) / seconds(took);
  const MutexLock lock(mutex_);
  encode_rate_ += (now - encode_rate_) * kNewWeight;
}

void CompressionPolicy::upload_began(MonoTime now) {
  const MutexLock lock(mutex_);
  if (uploads_++ == 0) uploading_since_ = now;
}

void CompressionPolicy::upload_ended(std::uint64_t bytes, MonoTime now) {
  const MutexLock lock(mutex_);
  uploaded_ += bytes;
  --uploads_;
  uploading_ += now - uploading_since_;
  uploading_since_ = now;
}

LinkRate CompressionPolicy::rate() const {
  const MutexLock lock(mutex_);
  if (uploaded_ < kMeasurableBytes || uploading_ <= Duration::zero()) {
    return {.bytes_per_second = link_rate_};
  }
  return {.bytes_per_second = static_cast<double>(uploaded_) / seconds(uploading_)};
}

}  // namespace outlast::checkpoint
