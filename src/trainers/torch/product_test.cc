#include "trainers/torch/product.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "base/random.h"
#include "sys/own_signals.h"
#include "sys/posix_own_signals.h"
#include "sys/posix_signal_stack.h"
#include "sys/posix_threads.h"
#include "sys/threads.h"
#include "trainers/torch/torch_run.h"

namespace outlast::trainers {
namespace {

constexpr std::int64_t kSide = 96;

std::vector<float> square(Random& random) {
  std::vector<float> numbers(static_cast<std::size_t>(kSide * kSide));
  for (float& number : numbers) number = static_cast<float>(random.unit()) - 0.5F;
  return numbers;
}

std::vector<float> product_of(const std::vector<float>& left, const std::vector<float>& right) {
  std::vector<float> product(left.size());
  multiply({.data = left.data(), .stride = kSide, .transposed = true},
           {.data = right.data(), .stride = kSide},
           {.rows = kSide, .columns = kSide, .inner = kSide},
           {.data = product.data(), .stride = kSide});
  return product;
}

// oneDNN's stack register may point into the heap while it multiplies.
TEST(Product, StaysWholeWhenSignalsComeInBetween) {
  use_threads(1);
  Random random(1);
  const std::vector<float> left = square(random);
  const std::vector<float> right = square(random);
  const std::vector<float> expected = product_of(left, right);

  const sys::SignalStack stack;
  const auto signals = sys::make_posix_own_signals();
  const auto listener = signals->subscribe({SIGUSR1});
  ASSERT_TRUE(listener);
  const auto threads = sys::make_posix_threads();
  const auto disturber = threads->spawn("signals", [](const std::stop_token& stop) {
    while (!stop.stop_requested()) ::kill(::getpid(), SIGUSR1);
  });
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(product_of(left, right), expected);
}

}  // namespace
}  // namespace outlast::trainers
