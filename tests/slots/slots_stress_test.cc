// Real memory and real threads: what slots_test.cc cannot know of the compiler and the processor.
// A reader and a writer that keep the rules never touch a slot's bytes at the same time, so the
// bytes are plain ones, and ThreadSanitizer would find it if they did.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "sdk/arena.h"

namespace outlast::sdk::slots {
namespace {

constexpr std::size_t kStateWords = 64;

// Both sides of an arena in the memory of this process.
class Meeting {
 public:
  explicit Meeting(std::uint64_t slots) : slots_(slots), memory_(512 + slots * kStateWords) {}

  void save(std::uint64_t step) {
    ArenaWords words = arena();
    std::optional<SlotWriting> writing = begin_writing(words, slots_);
    for (; !writing; writing = begin_writing(words, slots_)) std::this_thread::yield();
    for (std::size_t index = 0; index < kStateWords; ++index) word(writing->slot, index) = step;
    end_writing(words, *writing, step, step, step);
  }

  // Whether a snapshot was read and believed.
  bool read() {
    ArenaWords words = arena();
    const std::optional<SlotSnapshot> newest = newest_snapshot(words, slots_);
    if (!newest || !begin_reading(words, *newest)) return false;
    std::array<std::uint64_t, kStateWords> state{};
    for (std::size_t index = 0; index < kStateWords; ++index) {
      state[index] = word(newest->slot, index);
    }
    const bool accepted = is_still_whole(words, *newest);
    end_reading(words);
    EXPECT_EQ(newest->length, newest->step);
    EXPECT_EQ(newest->answers, newest->step);
    // Nobody crashes here, so that what is rejected is right, too.
    for (const std::uint64_t value : state) EXPECT_EQ(value, newest->step);
    return accepted;
  }

 private:
  ArenaWords arena() { return ArenaWords(reinterpret_cast<std::byte*>(memory_.data())); }
  std::uint64_t& word(std::uint64_t slot, std::size_t index) {
    return memory_[512 + static_cast<std::size_t>(slot) * kStateWords + index];
  }

  std::uint64_t slots_;
  std::vector<std::uint64_t> memory_;
};

class SlotsOfThreads : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SlotsOfThreads, EveryReadIsOfOneSnapshot) {
  constexpr std::uint64_t kSaves = 20'000;
  Meeting meeting(GetParam());
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    for (std::uint64_t step = 1; step <= kSaves; ++step) meeting.save(step);
    is_over = true;
  });
  while (!is_over) {
    meeting.read();
    if (testing::Test::HasFailure()) break;
  }
  writer.join();
  EXPECT_TRUE(meeting.read());
}

INSTANTIATE_TEST_SUITE_P(Slots, SlotsOfThreads, testing::Values(1, 2));

}  // namespace
}  // namespace outlast::sdk::slots
