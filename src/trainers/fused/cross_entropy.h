#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// Softmax and cross-entropy with nothing of the C library's mathematics, whose last bits differ
// from one processor to the next. For kernels_*.cc only.
namespace outlast::trainers::fused {
namespace {

inline constexpr double kLn2 = 0.693147180559945309417;

inline double power_of_two(std::int64_t exponent) {
  const auto bits = static_cast<std::uint64_t>(exponent + 1023) << 52U;
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// e^x for x <= 0, to some 1e-13.
inline double exponential(double x) {
  if (x < -700) return 0;
  const auto halves = static_cast<std::int64_t>(x / kLn2 - 0.5);  // the nearest whole number
  const double rest = x - static_cast<double>(halves) * kLn2;     // within ln 2 / 2 of 0
  double sum = 1;
  for (int n = 12; n > 0; --n) sum = 1 + sum * rest / n;
  return sum * power_of_two(halves);
}

// The natural logarithm of x > 0, to some 1e-13.
inline double logarithm(double x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof(bits));
  const auto exponent = static_cast<std::int64_t>((bits >> 52U) & 0x7ffU) - 1023;
  double part = x / power_of_two(exponent);  // from 1 to 2
  double doublings = static_cast<double>(exponent);
  if (part > 1.414213562373095) {
    part /= 2;
    doublings += 1;
  }
  const double ratio = (part - 1) / (part + 1);
  const double square = ratio * ratio;
  double sum = 0;
  for (int n = 21; n > 0; n -= 2) sum = 1.0 / n + square * sum;
  return 2 * ratio * sum + doublings * kLn2;
}

struct Answer {
  double loss = 0;
  bool correct = false;
};

// Of one picture. `gradient` becomes the loss's by each logit, times `scale`.
inline Answer cross_entropy(const float* logits, std::size_t classes, std::size_t label,
                            float scale, float* gradient) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < classes; ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  const double largest = logits[best];
  double sum = 0;
  double of_label = 0;
  double powers[1024];
  for (std::size_t i = 0; i < classes; ++i) {
    const double below = static_cast<double>(logits[i]) - largest;
    powers[i] = exponential(below);
    sum += powers[i];
    if (i == label) of_label = below;
  }
  for (std::size_t i = 0; i < classes; ++i) {
    const double probability = powers[i] / sum;
    gradient[i] = static_cast<float>(probability - (i == label ? 1 : 0)) * scale;
  }
  return {logarithm(sum) - of_label, best == label};
}

}  // namespace
}  // namespace outlast::trainers::fused
