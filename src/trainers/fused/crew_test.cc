#include "trainers/fused/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "sys/posix_world.h"

namespace outlast::trainers::fused {
namespace {

TEST(TrainerCrew, DoesEveryPieceOnceAndReturnsWhenAllAreDone) {
  sys::RealWorld real;
  sys::Threads& threads = real.world().threads;
  for (const unsigned workers : {1U, 2U, 5U}) {
    Crew crew(threads, workers);
    EXPECT_EQ(crew.workers(), workers);
    for (std::size_t count = 0; count < 40; ++count) {
      std::vector<std::atomic<int>> done(count);
      std::vector<std::atomic<int>> busy(workers);
      crew.run(count, [&](std::size_t piece, std::size_t worker) {
        EXPECT_EQ(busy[worker]++, 0);
        ++done[piece];
        --busy[worker];
      });
      for (const std::atomic<int>& piece : done) EXPECT_EQ(piece, 1);
    }
  }
}

}  // namespace
}  // namespace outlast::trainers::fused
