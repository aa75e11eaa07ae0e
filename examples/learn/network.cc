#include "network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "pictures.h"
#include "random.h"

namespace learn {
namespace {

constexpr std::size_t kHidden = 32;
// Where each part begins in the array of parameters; the weights of the hidden layer are the first.
constexpr std::size_t kHiddenBiasAt = kHidden * kPixels;
constexpr std::size_t kOutputAt = kHiddenBiasAt + kHidden;
constexpr std::size_t kOutputBiasAt = kOutputAt + kClasses * kHidden;

struct Activations {
  std::array<float, kHidden> hidden = {};
  std::array<float, kClasses> chances = {};  // how likely each digit is
};

// bias + the sum of weights * inputs, always added in the same order.
float weighted_sum(std::span<const float> weights, std::span<const float> inputs, float bias) {
  return std::inner_product(inputs.begin(), inputs.end(), weights.begin(), bias);
}

Activations forward(const Parameters& parameters, const Picture& picture) {
  const std::span<const float> all = parameters;
  Activations out;
  for (std::size_t unit = 0; unit < kHidden; ++unit) {
    out.hidden[unit] = std::tanh(weighted_sum(all.subspan(unit * kPixels, kPixels), picture.pixels,
                                              all[kHiddenBiasAt + unit]));
  }
  for (std::size_t digit = 0; digit < kClasses; ++digit) {
    out.chances[digit] = weighted_sum(all.subspan(kOutputAt + digit * kHidden, kHidden), out.hidden,
                                      all[kOutputBiasAt + digit]);
  }
  const float highest = *std::ranges::max_element(out.chances);
  for (float& chance : out.chances) chance = std::exp(chance - highest);
  const float sum = std::accumulate(out.chances.begin(), out.chances.end(), 0.0F);
  for (float& chance : out.chances) chance /= sum;
  return out;
}

// Adds the gradient of one picture's loss, and returns the loss.
float backward(const Parameters& parameters, const Picture& picture, Parameters& gradient) {
  const Activations out = forward(parameters, picture);
  std::array<float, kHidden> to_hidden = {};
  for (std::size_t digit = 0; digit < kClasses; ++digit) {
    const float error = out.chances[digit] - (digit == picture.digit ? 1.0F : 0.0F);
    gradient[kOutputBiasAt + digit] += error;
    for (std::size_t unit = 0; unit < kHidden; ++unit) {
      gradient[kOutputAt + digit * kHidden + unit] += error * out.hidden[unit];
      to_hidden[unit] += error * parameters[kOutputAt + digit * kHidden + unit];
    }
  }
  for (std::size_t unit = 0; unit < kHidden; ++unit) {
    const float error = to_hidden[unit] * (1.0F - out.hidden[unit] * out.hidden[unit]);
    gradient[kHiddenBiasAt + unit] += error;
    for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
      gradient[unit * kPixels + pixel] += error * picture.pixels[pixel];
    }
  }
  constexpr float kLeastChance = 1e-12F;
  return -std::log(std::max(out.chances[picture.digit], kLeastChance));
}

}  // namespace

std::size_t parameter_count() {
  return kOutputBiasAt + kClasses;
}

Training begin_training() {
  Training training;
  Random random(1);
  const auto draw = [&](std::size_t from, std::size_t to, std::size_t inputs) {
    const float scale = 1.0F / std::sqrt(static_cast<float>(inputs));
    for (std::size_t at = from; at < to; ++at) training.weights[at] = random.signed_unit() * scale;
  };
  draw(0, kHiddenBiasAt, kPixels);
  draw(kOutputAt, kOutputBiasAt, kHidden);
  return training;
}

void take_step(Training& training, const std::vector<Picture>& pictures,
               std::span<const std::size_t> batch) {
  constexpr float kRate = 0.01F;
  constexpr float kMomentum = 0.9F;
  Parameters gradient(parameter_count());
  for (const std::size_t picture : batch) {
    training.epoch_loss += backward(training.weights, pictures[picture], gradient);
  }
  const float rate = kRate / static_cast<float>(batch.size());
  for (std::size_t at = 0; at < gradient.size(); ++at) {
    training.velocity[at] = kMomentum * training.velocity[at] - rate * gradient[at];
    training.weights[at] += training.velocity[at];
  }
  ++training.step;
}

double accuracy(const Parameters& weights, const std::vector<Picture>& pictures) {
  const auto is_right = [&](const Picture& picture) {
    const Activations out = forward(weights, picture);
    const auto best = std::ranges::max_element(out.chances) - out.chances.begin();
    return static_cast<std::size_t>(best) == picture.digit;
  };
  return static_cast<double>(std::ranges::count_if(pictures, is_right)) /
         static_cast<double>(pictures.size());
}

}  // namespace learn
