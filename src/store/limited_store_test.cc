#include "store/limited_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/testing/in_simulation.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

using std::chrono::milliseconds;

// A store whose every call takes a while, and as many threads as asked for that use it.
class Crowd {
 public:
  Crowd(sys::World& world, std::vector<Fault> faults, const LimitOptions& limits)
      : world_(world),
        memory_(bucket_, world.clock),
        slow_(memory_, world.clock,
              [this, script = scripted_faults(std::move(faults))](const StoreCall& call) {
                most_ = std::max(most_, ++under_way_);
                Fault fault = script(call);
                fault.delay_before = milliseconds(10);
                return fault;
              }),
        limited_(slow_, world.threads, limits) {}

  void put(std::size_t threads, int each) {
    std::vector<std::unique_ptr<sys::Thread>> crowd;
    for (std::size_t i = 0; i < threads; ++i) {
      crowd.push_back(world_.threads.spawn("putter", [this, i, each](const std::stop_token&) {
        for (int n = 0; n < each; ++n) {
          (void)limited_.put("k" + std::to_string(i), as_bytes("x"), {}, {});
          --under_way_;
        }
      }));
    }
    for (const auto& thread : crowd) thread->join();
  }

  LimitedStore& store() { return limited_; }
  int most() const { return most_; }

 private:
  sys::World& world_;
  MemoryBucket bucket_;
  MemoryStore memory_;
  FaultyStore slow_;
  LimitedStore limited_;
  int under_way_ = 0;  // only one simulated thread runs at a time
  int most_ = 0;
};

TEST(LimitedStore, NoMoreCallsAreUnderWayThanTheLimit) {
  testing::in_simulation(1, [](sys::World& world) {
    Crowd crowd(world, {}, {.start = 3, .max = 3});
    crowd.put(12, 5);
    EXPECT_EQ(crowd.most(), 3);
    EXPECT_EQ(crowd.store().in_flight(), 0U);
  });
}

TEST(LimitedStore, GrowsByOneForEachLimitOfSuccesses) {
  testing::in_simulation(1, [](sys::World& world) {
    Crowd crowd(world, {}, {.start = 2, .max = 100});
    crowd.put(64, 1);  // 2 + 3 + 4 + … + 10 = 54, and not yet 11 more
    EXPECT_EQ(crowd.store().limit(), 11U);
    Crowd capped(world, {}, {.start = 2, .max = 5});
    capped.put(64, 4);
    EXPECT_EQ(capped.store().limit(), 5U);
  });
}

TEST(LimitedStore, ALimitThatIsNotFeltIsNotRaised) {
  testing::in_simulation(1, [](sys::World& world) {
    Crowd crowd(world, {}, {.start = 8, .max = 100});
    crowd.put(1, 200);
    EXPECT_EQ(crowd.store().limit(), 8U);
  });
}

TEST(LimitedStore, ThrottlingHalvesItOnceForAllCallsUnderWay) {
  testing::in_simulation(1, [](sys::World& world) {
    const Fault throttled{.kind = Fault::Kind::kRefused, .error = ErrorCode::kThrottled};
    Crowd crowd(world, std::vector<Fault>(16, throttled), {.start = 16, .min = 2, .max = 100});
    crowd.put(16, 1);
    EXPECT_EQ(crowd.store().limit(), 8U);
    Crowd lasting(world, std::vector<Fault>(1000, throttled), {.start = 16, .min = 2, .max = 100});
    lasting.put(16, 10);
    EXPECT_EQ(lasting.store().limit(), 2U);
  });
}

TEST(LimitedStore, OtherErrorsSayNothingAboutTheLimit) {
  testing::in_simulation(1, [](sys::World& world) {
    const Fault down{.kind = Fault::Kind::kRefused, .error = ErrorCode::kUnavailable};
    Crowd crowd(world, std::vector<Fault>(100, down), {.start = 4, .max = 100});
    crowd.put(10, 10);
    EXPECT_EQ(crowd.store().limit(), 4U);
    EXPECT_EQ(crowd.store().in_flight(), 0U);
  });
}

TEST(LimitedStore, WaitingForATurnEndsWithTheContext) {
  testing::in_simulation(1, [](sys::World& world) {
    MemoryBucket bucket;
    MemoryStore memory(bucket, world.clock);
    FaultyStore slow(memory, world.clock,
                     [](const StoreCall&) { return Fault{.delay_before = std::chrono::hours(1)}; });
    LimitedStore limited(slow, world.threads, {.start = 1});
    const auto first = world.threads.spawn(
        "first", [&](const std::stop_token& stop) { (void)limited.head("a", {.stop = stop}); });
    while (limited.in_flight() == 0) (void)world.clock.sleep_for(milliseconds(1), {});
    EXPECT_EQ(
        limited.head("b", {.deadline = world.clock.mono_now() + milliseconds(5)}).error().code(),
        ErrorCode::kDeadlineExceeded);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(limited.head("b", {.stop = stop.get_token()}).error().code(), ErrorCode::kCancelled);
    first->request_stop();
    first->join();
    EXPECT_EQ(limited.in_flight(), 0U);
  });
}

}  // namespace
}  // namespace outlast::store
