#include "sdk/copy_crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sdk/copy_plan.h"
#include "sdk/stream_copy.h"

namespace outlast::sdk {
namespace {

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  std::uint32_t state = 1;
  for (std::byte& byte : made) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24U);
  }
  return made;
}

TEST(StreamCopy, CopiesExactlyWhateverTheAlignment) {
  const std::vector<std::byte> from = pattern(200'000);
  for (const std::size_t bytes : {0UL, 1UL, 63UL, 32767UL, 32768UL, 65536UL, 100'001UL}) {
    for (const std::size_t shift : {0UL, 1UL, 17UL, 63UL}) {
      std::vector<std::byte> to(bytes + 256, std::byte{0xEE});
      stream_copy(to.data() + 64 + shift, from.data() + 3 * shift, bytes);
      finish_stream_copies();
      EXPECT_EQ(std::memcmp(to.data() + 64 + shift, from.data() + 3 * shift, bytes), 0);
      EXPECT_EQ(to[63 + shift], std::byte{0xEE});
      EXPECT_EQ(to[64 + shift + bytes], std::byte{0xEE});
    }
  }
}

TEST(CopyPlan, NeighboursAreOnePieceAndNothingIsLost) {
  std::vector<std::byte> memory(100'000 * 4);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < 100'000; ++i) {
    pieces.push_back({.offset = 64 + 4 * i, .memory = memory.data() + 4 * i, .bytes = 4});
  }
  const CopyPlan plan(pieces);
  ASSERT_EQ(plan.shares(), 1U);
  ASSERT_EQ(plan.share(0).size(), 1U);
  EXPECT_EQ(plan.share(0)[0].offset, 64U);
  EXPECT_EQ(plan.share(0)[0].bytes, memory.size());
}

TEST(CopyPlan, LargePiecesAreCutAndSmallOnesShareTheWork) {
  std::vector<std::byte> memory(9U << 20U);
  std::vector<Piece> pieces = {{.offset = 0, .memory = memory.data(), .bytes = memory.size()}};
  for (std::size_t i = 0; i < 50'000; ++i) {  // in the slot side by side, in memory not
    pieces.push_back({.offset = memory.size() + i, .memory = memory.data() + 2 * i, .bytes = 1});
  }
  const CopyPlan plan(pieces);
  EXPECT_GT(plan.shares(), 9U);
  std::uint64_t at = 0;
  for (std::size_t share = 0; share < plan.shares(); ++share) {
    std::uint64_t bytes = 0;
    for (const Piece& piece : plan.share(share)) {
      EXPECT_EQ(piece.offset, at);
      at += piece.bytes;
      bytes += piece.bytes;
    }
    EXPECT_LE(bytes, 2U << 20U);
  }
  EXPECT_EQ(at, memory.size() + 50'000);
}

class CopyCrewTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(CopyCrewTest, CopiesThereAndBackAgain) {
  CopyCrew crew(GetParam());
  std::vector<std::byte> memory = pattern(7'000'001);
  const std::vector<std::byte> before = memory;
  std::vector<std::byte> slot(memory.size() + 100);
  const CopyPlan plan(
      {{.offset = 100, .memory = memory.data(), .bytes = 5'000'000},
       {.offset = 5'000'100, .memory = memory.data() + 5'000'000, .bytes = 0},
       {.offset = 5'000'100, .memory = memory.data() + 5'000'000, .bytes = 2'000'001}});
  for (int round = 0; round < 4; ++round) {
    memory = before;
    std::memset(slot.data(), 0, slot.size());
    crew.copy({.plan = &plan, .snapshot = slot.data(), .to = CopyTo::kSnapshot});
    std::memset(memory.data(), 0, memory.size());
    crew.copy({.plan = &plan, .snapshot = slot.data(), .to = CopyTo::kMemory});
    ASSERT_EQ(memory, before);
  }
}

TEST_P(CopyCrewTest, TellsOnceWhenAllIsCopied) {
  CopyCrew crew(GetParam());
  std::vector<std::byte> memory = pattern(6'000'000);
  std::vector<std::byte> slot(memory.size());
  const CopyPlan plan({{.offset = 0, .memory = memory.data(), .bytes = memory.size()}});
  const CopyPlan nothing(std::vector<Piece>{});
  int told = 0;
  for (int round = 0; round < 6; ++round) {
    std::memset(slot.data(), 0, slot.size());
    crew.begin({.plan = &plan, .snapshot = slot.data(), .to = CopyTo::kSnapshot},
               [&] { told += slot == memory ? 1 : 0; });
    if (round % 2 == 0) crew.wait();
    crew.begin({.plan = &nothing, .snapshot = slot.data(), .to = CopyTo::kSnapshot},
               [&] { ++told; });
    crew.wait();
    ASSERT_EQ(told, 2 * (round + 1));
  }
}

TEST_P(CopyCrewTest, CopiesWhileItsOwnerDoesSomethingElse) {
  CopyCrew crew(GetParam());
  std::vector<std::byte> memory = pattern(6'000'000);
  std::vector<std::byte> slot(memory.size());
  const CopyPlan plan({{.offset = 0, .memory = memory.data(), .bytes = memory.size()}});
  std::atomic<bool> told = false;
  crew.begin({.plan = &plan, .snapshot = slot.data(), .to = CopyTo::kSnapshot}, [&] {
    told = true;
    told.notify_all();
  });
  told.wait(false);  // without lending a hand
  crew.wait();
  EXPECT_EQ(slot, memory);
}

TEST_P(CopyCrewTest, EndsWhatWasBegun) {
  std::vector<std::byte> memory = pattern(6'000'000);
  std::vector<std::byte> slot(memory.size());
  const CopyPlan plan({{.offset = 0, .memory = memory.data(), .bytes = memory.size()}});
  {
    CopyCrew crew(GetParam());
    crew.begin({.plan = &plan, .snapshot = slot.data(), .to = CopyTo::kSnapshot}, {});
  }
  EXPECT_EQ(slot, memory);
}

INSTANTIATE_TEST_SUITE_P(Threads, CopyCrewTest, ::testing::Values(0U, 1U, 2U, 5U));

TEST(CopyCrew, UsesNoMoreThreadsThanItMay) {
  EXPECT_GE(default_copy_threads(), 1U);
  EXPECT_LE(default_copy_threads(), 4U);
}

}  // namespace
}  // namespace outlast::sdk
