#include "store/transfer/adaptive_width.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

#include "base/time.h"

namespace outlast::store {
namespace {

constexpr AdaptiveWidth::Limits kLimits = {.start = 4, .least = 2, .most = 16};

// Lets `width` work for a while on a server that moves `rate(width)` bytes a second.
void work(AdaptiveWidth& width, const std::function<double(unsigned)>& rate) {
  constexpr std::uint64_t kBytes = 8U << 20U;
  MonoTime now{};
  for (int i = 0; i < 3000; ++i) {
    const double seconds = static_cast<double>(kBytes) / rate(width.width());
    now += std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
    width.ended(kBytes, now);
  }
}

TEST(AdaptiveWidth, ClimbsWhileMoreMovesMore) {
  AdaptiveWidth width(kLimits);
  unsigned most = 0;
  work(width, [&most](unsigned lanes) {
    most = std::max(most, lanes);
    return 20e6 * lanes;
  });
  EXPECT_EQ(most, 16U);
  EXPECT_GE(width.width(), 12U);
}

TEST(AdaptiveWidth, FallsBackWhenMoreDoesHarm) {
  AdaptiveWidth width(kLimits);
  work(width, [](unsigned lanes) { return 400e6 / lanes; });
  EXPECT_LE(width.width(), 4U);
}

TEST(AdaptiveWidth, StaysLowWhenMoreChangesNothing) {
  AdaptiveWidth width(kLimits);
  work(width, [](unsigned) { return 400e6; });
  EXPECT_LE(width.width(), 4U);
}

TEST(AdaptiveWidth, KeepsItsLimits) {
  AdaptiveWidth width({.start = 1, .least = 1, .most = 1});
  work(width, [](unsigned lanes) { return 20e6 * lanes; });
  EXPECT_EQ(width.width(), 1U);
}

}  // namespace
}  // namespace outlast::store
