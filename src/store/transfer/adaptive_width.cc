#include "store/transfer/adaptive_width.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace outlast::store {
namespace {

// Long enough that a window of loopback transfers is more than noise, short enough to get anywhere.
constexpr Duration kWindow = std::chrono::milliseconds(150);
// What a request costs beside its bytes, so that a flood of tiny objects counts as work, too.
constexpr std::uint64_t kRequestBytes = 64U << 10U;
// Less of a change than this is taken for noise.
constexpr double kNoticeable = 0.05;

}  // namespace

void AdaptiveWidth::ended(std::uint64_t bytes, MonoTime now) {
  if (window_count_ == 0 && window_work_ == 0) window_start_ = now;
  window_work_ += bytes + kRequestBytes;
  ++window_count_;
  const Duration elapsed = now - window_start_;
  // Every lane must have had its turn, or the window measures the width before this one.
  if (elapsed < kWindow || window_count_ < 2 * width_) return;
  decide(static_cast<double>(window_work_) / std::chrono::duration<double>(elapsed).count());
  window_start_ = now;
  window_work_ = 0;
  window_count_ = 0;
}

void AdaptiveWidth::decide(double rate) {
  if (last_rate_ > 0) {
    if (rate < last_rate_ * (1 - kNoticeable)) {
      direction_ = -direction_;  // the last step did harm
    } else if (rate < last_rate_ * (1 + kNoticeable)) {
      direction_ = -1;  // as good with fewer: spare the server and our memory
    }
  }
  last_rate_ = rate;
  const int step = static_cast<int>(std::max(1U, width_ / 4));
  const int next = static_cast<int>(width_) + direction_ * step;
  width_ = static_cast<unsigned>(
      std::clamp(next, static_cast<int>(limits_.least), static_cast<int>(limits_.most)));
  if (width_ == limits_.least) direction_ = 1;
  if (width_ == limits_.most) direction_ = -1;
}

}  // namespace outlast::store
