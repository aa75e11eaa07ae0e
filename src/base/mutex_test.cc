#include "base/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace outlast {
namespace {

struct GuardedCounter {
  Mutex mutex;
  int count OUTLAST_GUARDED_BY(mutex) = 0;
};

TEST(Mutex, LetsOneThreadInAtATime) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  GuardedCounter counter;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&counter] {
        for (int round = 0; round < kRounds; ++round) {
          const MutexLock lock(counter.mutex);
          ++counter.count;
        }
      });
    }
  }
  const MutexLock lock(counter.mutex);
  EXPECT_EQ(counter.count, kThreads * kRounds);
}

TEST(MutexLock, UnlocksAtTheEndOfItsScope) {
  Mutex mutex;
  {
    const MutexLock lock(mutex);
  }
  const MutexLock again(mutex);  // would never return
}

}  // namespace
}  // namespace outlast
