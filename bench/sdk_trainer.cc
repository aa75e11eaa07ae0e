// A trainer for measurements of snapshots, run by bench/sdk_bench.py. Its state is one tensor for
// each line of SIZES, which has their bytes.
//
// usage: outlast-bench-sdk copies SIZES REPEATS GO    save() and save_async() beside memcpy()
//        outlast-bench-sdk steps SIZES SECONDS GO     steps of about 5 ms, and a save() each second
//
// Both save, wait until the file GO is there, measure, and print one line of JSON, all times in
// seconds. GO.times gets three numbers of 8 bytes for each step, in nanoseconds: begin and end on
// the monotonic clock, and the processor's time that it took.
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sdk/copy_crew.h"
#include "sdk/snapshots.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::uint64_t nanoseconds(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Weights between -1/8 and 1/8: random mantissas below few exponents.
void change(std::uint64_t* words, std::size_t count, std::uint64_t seed) {
  std::uint64_t random = seed * 0x9e3779b97f4a7c15U + 1;
  for (std::size_t i = 0; i < count; ++i) {
    random ^= random << 13U;
    random ^= random >> 7U;
    random ^= random << 17U;
    words[i] = (random & 0x83ffffff83ffffffU) | 0x3c0000003c000000U;
  }
}

struct Tensor {
  std::unique_ptr<std::uint64_t[]> words;
  std::size_t bytes = 0;
};

class TrainingState {
 public:
  explicit TrainingState(const char* sizes) {
    std::ifstream file(sizes);
    for (std::size_t bytes = 0; file >> bytes; bytes_ += bytes) {
      tensors_.push_back({std::make_unique<std::uint64_t[]>(bytes / 8), bytes});
    }
    if (tensors_.empty()) throw std::runtime_error(std::string("no sizes in ") + sizes);
    train(1);
  }

  void train(std::uint64_t seed) {
    for (const Tensor& tensor : tensors_) change(tensor.words.get(), tensor.bytes / 8, ++seed);
  }

  void add_to(outlast::Snapshots& snapshots) const {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      snapshots.add("tensor" + std::to_string(i), reinterpret_cast<float*>(tensors_[i].words.get()),
                    tensors_[i].bytes / sizeof(float));
    }
  }

  // The bytes from `begin` to `end`, all tensors taken as one, to the same place in `to`.
  void copy(std::byte* to, std::size_t begin, std::size_t end) const {
    std::size_t at = 0;
    for (const Tensor& tensor : tensors_) {
      const std::size_t first = begin > at ? begin - at : 0;
      const std::size_t last = end > at ? std::min(end - at, tensor.bytes) : 0;
      const auto* const from = reinterpret_cast<const std::byte*>(tensor.words.get());
      if (first < last) std::memcpy(to + at + first, from + first, last - first);
      at += tensor.bytes;
    }
  }

  std::size_t bytes() const { return bytes_; }
  std::size_t tensors() const { return tensors_.size(); }

 private:
  std::vector<Tensor> tensors_;
  std::size_t bytes_ = 0;
};

// What a step does stays in the first cache, so that only the processor's time is measured.
void compute(int rounds) {
  static float weights[2048];
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 2048; ++i) {
      weights[i] = weights[i] * 0.999F + 0.001F * static_cast<float>(i & 15);
      sum += weights[i];
    }
  }
  volatile const float result = sum;
  static_cast<void>(result);
}

template <class Work>
double time_of(const Work& work) {
  const auto begin = Clock::now();
  work();
  return seconds_since(begin);
}

void print_list(const char* name, const std::vector<double>& values) {
  std::printf(", \"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::printf("%s%.9f", i == 0 ? "" : ", ", values[i]);
  std::printf("]");
}

void wait_for(const char* path) {
  struct stat found;
  while (::stat(path, &found) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void copy_with_threads(const TrainingState& state, std::byte* to, unsigned threads) {
  const std::size_t share = state.bytes() / threads + 1;
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) {
    others.emplace_back([&state, to, i, share] { state.copy(to, i * share, (i + 1) * share); });
  }
  state.copy(to, 0, share);
  for (std::thread& other : others) other.join();
}

void measure_copies(const TrainingState& state, int repeats, const char* go) {
  outlast::Snapshots snapshots;
  state.add_to(snapshots);
  std::uint64_t step = 0;
  // Both slots once, so that the arena's pages are there, as they are after the first minute of any
  // training.
  for (int i = 0; i < 2; ++i) snapshots.save(++step);
  const auto private_copy = std::make_unique<std::byte[]>(state.bytes());
  const auto copy = [&] { state.copy(private_copy.get(), 0, state.bytes()); };
  const unsigned threads = outlast::sdk::default_copy_threads();
  std::printf("warm\n");
  std::fflush(stdout);
  wait_for(go);

  copy();
  const double once = time_of(copy);
  // Forward and backward: longer than twice the copy, in memory of its own.
  constexpr int kProbe = 1000;
  compute(kProbe);
  const int rounds = 1 + static_cast<int>(2.5 * once / time_of([] { compute(kProbe); }) * kProbe);
  std::vector<double> plain, with_threads, save, begin, wait, alone, beside;
  for (int i = 0; i < repeats; ++i) {
    // One after the other, so that what else the machine does meets all of them.
    plain.push_back(time_of(copy));
    save.push_back(time_of([&] { snapshots.save(++step); }));
    with_threads.push_back(time_of([&] { copy_with_threads(state, private_copy.get(), threads); }));
    begin.push_back(time_of([&] { snapshots.save_async(++step); }));
    beside.push_back(time_of([&] { compute(rounds); }));
    wait.push_back(time_of([&] { snapshots.before_update(); }));
    alone.push_back(time_of([&] { compute(rounds); }));
  }
  std::printf("{\"bytes\": %zu, \"tensors\": %zu, \"threads\": %u, \"agent\": %s", state.bytes(),
              state.tensors(), threads, snapshots.has_agent() ? "true" : "false");
  print_list("memcpy", plain);
  print_list("memcpy_threads", with_threads);
  print_list("save", save);
  print_list("begin", begin);
  print_list("wait", wait);
  print_list("alone", alone);
  print_list("beside", beside);
  std::printf("}\n");
  std::fflush(stdout);
  snapshots.done();
}

void measure_steps(TrainingState& state, double seconds, const std::string& go) {
  constexpr int kStepRounds = 2600;
  constexpr double kBetweenSaves = 1;
  outlast::Snapshots snapshots;
  state.add_to(snapshots);
  std::FILE* const times = std::fopen((go + ".times").c_str(), "wb");
  if (times == nullptr) throw std::runtime_error("cannot write " + go + ".times");
  std::uint64_t step = 0;
  snapshots.save(++step);
  wait_for(go.c_str());
  const auto begin = Clock::now();
  while (seconds_since(begin) < seconds) {
    state.train(step);
    snapshots.save(++step);
    for (const auto saved = Clock::now(); seconds_since(saved) < kBetweenSaves;) {
      std::uint64_t time[3] = {nanoseconds(CLOCK_MONOTONIC), 0, 0};
      const std::uint64_t used = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
      compute(kStepRounds);
      time[2] = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - used;
      time[1] = nanoseconds(CLOCK_MONOTONIC);
      std::fwrite(time, sizeof(time), 1, times);
    }
    std::fflush(times);
  }
  std::fclose(times);
  std::printf("{\"saves\": %llu, \"agent\": %s}\n", static_cast<unsigned long long>(step),
              snapshots.has_agent() ? "true" : "false");
  std::fflush(stdout);
  snapshots.done();
}

}  // namespace

int main(int count, char** words) {
  try {
    const std::string what = count == 5 ? words[1] : "";
    if (what != "copies" && what != "steps") {
      std::fputs("usage: outlast-bench-sdk copies SIZES REPEATS GO | steps SIZES SECONDS GO\n",
                 stderr);
      return 2;
    }
    TrainingState state(words[2]);
    if (what == "copies") {
      measure_copies(state, std::stoi(words[3]), words[4]);
    } else {
      measure_steps(state, std::stod(words[3]), words[4]);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "outlast-bench-sdk: %s\n", error.what());
    return 1;
  }
}
