// A small network learns to read noisy pictures of the digits 0 to 9: a training loop in plain C++,
// with nothing but the standard library.
//
//   build/bin/outlast-example-learn                    trains (./dev build has built it)
//   outlast run -- build/bin/outlast-example-learn     trains, and survives the loss of the machine
//
// It saves checkpoints/checkpoint_<step>.bin and goes on from the newest one by itself. Killed at
// any moment and started again, it ends with exactly the weights that it would have had: what a
// step depends on is in the checkpoint, or follows from the number of the step.
// SIGUSR1: save and go on. SIGTERM: save and leave with exit code 75, "go on with me elsewhere".

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "checkpoint.h"
#include "network.h"
#include "pictures.h"
#include "random.h"

namespace learn {
namespace {

constexpr int kLeftExitCode = 75;
constexpr std::size_t kBatch = 16;
constexpr std::size_t kTrainPictures = 6400;
constexpr std::size_t kTestPictures = 1000;
constexpr std::uint64_t kStepsPerEpoch = kTrainPictures / kBatch;

// A handler may do almost nothing: the loop looks at these between two steps.
volatile std::sig_atomic_t asked_to_save = 0;
volatile std::sig_atomic_t asked_to_leave = 0;

struct Options {
  unsigned long epochs = 40;
  unsigned long save_every = kStepsPerEpoch;
  unsigned long pause_ms = 0;  // after each step
};

Options read_options(std::span<char*> words) {
  Options options;
  const std::map<std::string_view, unsigned long*> known = {
      {"--epochs", &options.epochs},
      {"--save-every", &options.save_every},
      {"--pause-ms", &options.pause_ms},
  };
  constexpr std::size_t kDigitsMax = 9;
  for (std::size_t at = 1; at < words.size(); at += 2) {
    const auto option = known.find(words[at]);
    const std::string value = at + 1 < words.size() ? words[at + 1] : "";
    if (option == known.end() || value.empty() || value.size() > kDigitsMax ||
        value.find_first_not_of("0123456789") != std::string::npos) {
      throw std::invalid_argument(
          "usage: outlast-example-learn [--epochs N] [--save-every STEPS] [--pause-ms MS]");
    }
    *option->second = std::stoul(value);
  }
  return options;
}

// The order of an epoch follows from its number, so that no generator needs to be saved.
std::vector<std::size_t> shuffled(std::uint64_t epoch) {
  std::vector<std::size_t> order(kTrainPictures);
  std::iota(order.begin(), order.end(), std::size_t{0});
  constexpr std::uint64_t kFirstSeed = 1000;
  Random random(kFirstSeed + epoch);
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
  return order;
}

Training resume_or_begin(const std::filesystem::path& folder) {
  const auto found = find_checkpoints(folder);
  if (found.empty()) return begin_training();
  const auto& [step, newest] = *found.rbegin();
  Training training = read_checkpoint(newest);
  std::printf("resumed from %s\n", newest.c_str());
  return training;
}

int train(const Options& options) {
  const char* const given = std::getenv("OUTLAST_CHECKPOINT_DIR");
  const std::filesystem::path folder = given != nullptr && *given != 0 ? given : "checkpoints";
  const std::vector<Picture> pictures = draw_pictures(kTrainPictures, 2);
  const std::vector<Picture> unseen = draw_pictures(kTestPictures, 3);
  Training training = resume_or_begin(folder);

  const unsigned long steps = options.epochs * kStepsPerEpoch;
  if (training.step == 0) {
    std::printf("epoch 0/%lu step 0/%lu accuracy %.3f\n", options.epochs, steps,
                accuracy(training.weights, unseen));
  }
  std::vector<std::size_t> order = shuffled(training.step / kStepsPerEpoch);
  while (training.step < steps) {
    const std::size_t in_epoch = training.step % kStepsPerEpoch;
    if (in_epoch == 0) {
      order = shuffled(training.step / kStepsPerEpoch);
      training.epoch_loss = 0;
    }
    take_step(training, pictures, std::span(order).subspan(in_epoch * kBatch, kBatch));
    std::this_thread::sleep_for(std::chrono::milliseconds(options.pause_ms));

    if (training.step % kStepsPerEpoch == 0) {
      std::printf("epoch %lu/%lu step %lu/%lu loss %.3f accuracy %.3f\n",
                  training.step / kStepsPerEpoch, options.epochs, training.step, steps,
                  training.epoch_loss / kTrainPictures, accuracy(training.weights, unseen));
    }
    const bool is_due = options.save_every != 0 && training.step % options.save_every == 0;
    if (is_due || training.step == steps || asked_to_save != 0 || asked_to_leave != 0) {
      asked_to_save = 0;
      save_checkpoint(training, folder);
    }
    if (asked_to_leave != 0 && training.step < steps) return kLeftExitCode;
  }
  std::printf("result %016lx accuracy %.3f\n", checksum(bytes_of(training.weights)),
              accuracy(training.weights, unseen));
  return 0;
}

}  // namespace
}  // namespace learn

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a line is seen when it is written, in a pipe too
  std::signal(SIGUSR1, [](int) { learn::asked_to_save = 1; });
  std::signal(SIGTERM, [](int) { learn::asked_to_leave = 1; });
  try {
    const std::span<char*> all(words, static_cast<std::size_t>(count));
    return learn::train(learn::read_options(all));
  } catch (const std::invalid_argument& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 2;
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "outlast-example-learn: %s\n", failed.what());
    return 1;
  }
}
