// A line is fitted to made-up data by gradient descent with momentum: the smallest training loop
// that has all that a real one has, with outlast's snapshots.
//
//   train --steps 2000 --step-ms 1
//   outlast run -- train --steps 2000 --step-ms 1      the same, and survives its machine
//
// Killed at any moment and started again, it ends with exactly the weights that it would have had:
// everything that a step depends on is registered below.

#include <outlast/snapshots.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kInputs = 4096;
constexpr std::size_t kBatch = 8;

struct Options {
  std::uint64_t steps = 1000;
  std::uint64_t step_ms = 0;
  std::uint64_t every = 0;       // steps between snapshots; 0: as the library thinks best
  std::uint64_t ballast_mb = 0;  // a larger state, which changes with every step
};

Options read_options(int count, char** words) {
  Options options;
  const std::map<std::string, std::uint64_t*> known = {{"--steps", &options.steps},
                                                       {"--step-ms", &options.step_ms},
                                                       {"--every", &options.every},
                                                       {"--ballast-mb", &options.ballast_mb}};
  for (int at = 1; at < count; at += 2) {
    const auto option = known.find(words[at]);
    const std::string value = at + 1 < count ? words[at + 1] : "";
    if (option == known.end() || value.empty() || value.size() > 9 ||
        value.find_first_not_of("0123456789") != std::string::npos) {
      throw std::invalid_argument(
          "usage: train [--steps N] [--step-ms MS] [--every STEPS] [--ballast-mb MB]");
    }
    *option->second = std::stoul(value);
  }
  return options;
}

// A generator whose whole state is one number, and which gives the same everywhere.
class Random {
 public:
  float next() {  // from -1 to 1
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(state_ >> 40U) / 8388608.0F - 1.0F;
  }

 private:
  std::uint64_t state_ = 1;
};

struct Model {
  std::vector<float> weights = std::vector<float>(kInputs);
  std::vector<float> momentum = std::vector<float>(kInputs);
  Random random;

  // One step of gradient descent; returns the loss before it.
  float train() {
    constexpr float kRate = 0.02F / static_cast<float>(kBatch);
    constexpr float kKept = 0.9F;
    float loss = 0;
    std::vector<float> gradient(kInputs);
    std::vector<float> input(kInputs);
    for (std::size_t example = 0; example < kBatch; ++example) {
      float wanted = 0;
      float got = 0;
      for (std::size_t i = 0; i < kInputs; ++i) {
        input[i] = random.next() / 16;
        wanted += input[i] * static_cast<float>(i % 7);
        got += input[i] * weights[i];
      }
      const float error = got - wanted;
      loss += error * error / static_cast<float>(kBatch);
      for (std::size_t i = 0; i < kInputs; ++i) gradient[i] += error * input[i];
    }
    for (std::size_t i = 0; i < kInputs; ++i) {
      momentum[i] = kKept * momentum[i] + gradient[i];
      weights[i] -= kRate * momentum[i];
    }
    return loss;
  }

  std::uint64_t checksum() const {
    std::uint64_t sum = 14695981039346656037U;
    for (const float weight : weights) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &weight, sizeof(bits));
      sum = (sum ^ bits) * 1099511628211U;
    }
    return sum;
  }
};

int train(const Options& options) {
  Model model;
  std::vector<std::uint64_t> ballast(options.ballast_mb << 17U);
  outlast::Snapshots snapshots({.every_steps = options.every});
  snapshots.add("weights", model.weights.data(), model.weights.size());
  snapshots.add("momentum", model.momentum.data(), model.momentum.size());
  snapshots.add("ballast", ballast.data(), ballast.size());
  snapshots.add_value("random", &model.random);
  for (std::uint64_t step = snapshots.resume().value_or(0); step < options.steps;) {
    // What was copied half before and half after a step would show here.
    for (const std::uint64_t word : ballast) {
      if (word != step) throw std::runtime_error("the state is a mixture of two steps");
    }
    const float loss = model.train();
    std::this_thread::sleep_for(std::chrono::milliseconds(options.step_ms));
    ++step;
    std::fill(ballast.begin(), ballast.end(), step);
    std::printf("step %llu/%llu loss %g\n", static_cast<unsigned long long>(step),
                static_cast<unsigned long long>(options.steps), static_cast<double>(loss));
    std::fflush(stdout);
    snapshots.metrics({{"loss", static_cast<double>(loss)}});
    if (!snapshots.step_done(step, options.steps)) return snapshots.leave_code();
  }
  snapshots.done();
  std::printf("result %016llx\n", static_cast<unsigned long long>(model.checksum()));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** words) {
  try {
    return train(read_options(count, words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
