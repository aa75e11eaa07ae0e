#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pictures.h"

// 64 pixels, 32 hidden units, 10 digits; trained by gradient descent with momentum.
namespace learn {

// All weights and biases in one array: easy to step, to save and to hash.
using Parameters = std::vector<float>;
std::size_t parameter_count();

// Everything that the next step depends on, and what is counted for the next line.
struct Training {
  std::uint64_t step = 0;
  double epoch_loss = 0;  // summed over the pictures of this epoch so far
  Parameters weights = Parameters(parameter_count());
  Parameters velocity = Parameters(parameter_count());
};

// Before the first step: small weights drawn with a fixed seed.
Training begin_training();

// One step on the pictures that `batch` numbers.
void take_step(Training& training, const std::vector<Picture>& pictures,
               std::span<const std::size_t> batch);

// The part of the pictures that is read rightly.
double accuracy(const Parameters& weights, const std::vector<Picture>& pictures);

}  // namespace learn
