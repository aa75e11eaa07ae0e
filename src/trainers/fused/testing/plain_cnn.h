#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// The same CNN once more, in double precision and as its definition says, one multiplication after
// the other: what the fast one is compared with.
namespace outlast::trainers::fused {

using PlainTensors = std::map<std::string, std::vector<double>>;

struct PlainResult {
  double loss = 0;
  std::vector<double> logits = {};
  PlainTensors gradients = {};
};

class PlainCnn {
 public:
  PlainCnn(std::size_t channels, std::size_t classes, const PlainTensors& parameters)
      : channels_(channels), classes_(classes), parameters_(parameters) {}

  PlainResult learn(const std::uint8_t* picture, std::size_t label) const {
    std::vector<double> input(channels_ * 32 * 32);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = picture[i] / 255.0 * 2 - 1;
    const Maps first = convolve({.name = "conv1", .from = channels_, .to = 6, .side = 32}, input);
    const Maps second = convolve({.name = "conv2", .from = 6, .to = 16, .side = 14}, first.pooled);
    const std::vector<double> third = dense("fc1", second.pooled, true);
    const std::vector<double> fourth = dense("fc2", third, true);
    PlainResult result;
    result.logits = dense("fc3", fourth, false);
    double sum = 0;
    for (const double logit : result.logits) sum += std::exp(logit);
    result.loss = std::log(sum) - result.logits[label];
    std::vector<double> slope(classes_);
    for (std::size_t i = 0; i < classes_; ++i) {
      slope[i] = std::exp(result.logits[i]) / sum - (i == label ? 1 : 0);
    }
    PlainTensors& to = result.gradients;
    slope = dense_back("fc3", fourth, slope, to);
    slope = dense_back("fc2", third, masked(slope, fourth), to);
    slope = dense_back("fc1", second.pooled, masked(slope, third), to);
    slope = convolve_back({.name = "conv2", .from = 6, .to = 16, .side = 14}, first.pooled, second,
                          masked(slope, second.pooled), to);
    convolve_back({.name = "conv1", .from = channels_, .to = 6, .side = 32}, input, first,
                  masked(slope, first.pooled), to);
    return result;
  }

 private:
  struct Conv {
    std::string name = {};
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t side = 0;
  };
  struct Maps {
    std::vector<double> pooled = {};
    std::vector<std::size_t> windows = {};  // where in a map of the input each came from
  };

  static std::vector<double> masked(std::vector<double> slope, const std::vector<double>& values) {
    for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = values[i] > 0 ? slope[i] : 0;
    return slope;
  }

  Maps convolve(const Conv& conv, const std::vector<double>& input) const {
    const std::vector<double>& weights = parameters_.at(conv.name + ".weight");
    const std::vector<double>& bias = parameters_.at(conv.name + ".bias");
    const std::size_t pooled = (conv.side - 4) / 2;
    Maps maps;
    for (std::size_t map = 0; map < conv.to; ++map) {
      for (std::size_t place = 0; place < pooled * pooled; ++place) {
        double best = -1e300;
        std::size_t best_window = 0;
        for (const std::size_t corner :
             {std::size_t{0}, std::size_t{1}, conv.side, conv.side + 1}) {
          const std::size_t window = place / pooled * 2 * conv.side + place % pooled * 2 + corner;
          double sum = bias[map];
          for (std::size_t i = 0; i < conv.from * 25; ++i) {
            sum += weights[map * conv.from * 25 + i] * input[input_of(conv, window, i)];
          }
          if (sum > best) {
            best = sum;
            best_window = window;
          }
        }
        maps.pooled.push_back(best > 0 ? best : 0);
        maps.windows.push_back(best_window);
      }
    }
    return maps;
  }

  // Tap i of a window, [from][ky][kx].
  static std::size_t input_of(const Conv& conv, std::size_t window, std::size_t tap) {
    return tap / 25 * conv.side * conv.side + window + tap % 25 / 5 * conv.side + tap % 5;
  }

  std::vector<double> convolve_back(const Conv& conv, const std::vector<double>& input,
                                    const Maps& maps, const std::vector<double>& slope,
                                    PlainTensors& to) const {
    const std::vector<double>& weights = parameters_.at(conv.name + ".weight");
    std::vector<double>& gradient = to[conv.name + ".weight"];
    gradient.resize(weights.size());
    std::vector<double>& bias = to[conv.name + ".bias"];
    bias.resize(conv.to);
    std::vector<double> below(input.size());
    const std::size_t places = slope.size() / conv.to;
    for (std::size_t at = 0; at < slope.size(); ++at) {
      const std::size_t map = at / places;
      bias[map] += slope[at];
      for (std::size_t i = 0; i < conv.from * 25; ++i) {
        const std::size_t from = input_of(conv, maps.windows[at], i);
        gradient[map * conv.from * 25 + i] += slope[at] * input[from];
        below[from] += slope[at] * weights[map * conv.from * 25 + i];
      }
    }
    return below;
  }

  std::vector<double> dense(const std::string& name, const std::vector<double>& input,
                            bool rectify) const {
    std::vector<double> output = parameters_.at(name + ".bias");
    const std::vector<double>& weights = parameters_.at(name + ".weight");
    for (std::size_t o = 0; o < output.size(); ++o) {
      for (std::size_t i = 0; i < input.size(); ++i) {
        output[o] += weights[o * input.size() + i] * input[i];
      }
      if (rectify && output[o] < 0) output[o] = 0;
    }
    return output;
  }

  std::vector<double> dense_back(const std::string& name, const std::vector<double>& input,
                                 const std::vector<double>& slope, PlainTensors& to) const {
    const std::vector<double>& weights = parameters_.at(name + ".weight");
    std::vector<double> below(input.size());
    std::vector<double>& gradient = to[name + ".weight"];
    gradient.resize(weights.size());
    to[name + ".bias"] = slope;
    for (std::size_t o = 0; o < slope.size(); ++o) {
      for (std::size_t i = 0; i < input.size(); ++i) {
        gradient[o * input.size() + i] = slope[o] * input[i];
        below[i] += slope[o] * weights[o * input.size() + i];
      }
    }
    return below;
  }

  std::size_t channels_;
  std::size_t classes_;
  PlainTensors parameters_;
};

}  // namespace outlast::trainers::fused
