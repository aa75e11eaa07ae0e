#include "store/faulty_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/testing/in_simulation.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

using std::chrono::seconds;
using Kind = Fault::Kind;

// A bucket behind a faulty store, and a way round the faults.
struct Rig {
  Rig(sys::World& world, std::vector<Fault> faults)
      : memory(bucket, world.clock),
        late(memory),
        store(memory, world.clock, scripted_faults(std::move(faults)), &late) {}

  bool has(const std::string& key) { return memory.head(key, {}).has_value(); }

  MemoryBucket bucket;
  MemoryStore memory;
  LateWrites late;
  FaultyStore store;
};

template <typename T>
ErrorCode fails_with(const Result<T>& result) {
  EXPECT_FALSE(result);
  return result ? ErrorCode::kFailed : result.error().code();
}

TEST(FaultyStore, WhatIsRefusedIsNotDone) {
  testing::in_simulation(1, [](sys::World& world) {
    Rig rig(world,
            {{.kind = Kind::kRefused},
             {.kind = Kind::kRefused, .error = ErrorCode::kThrottled, .retry_after = seconds(3)}});
    EXPECT_EQ(fails_with(rig.store.put("a", as_bytes("x"), {}, {})), ErrorCode::kUnavailable);
    const auto throttled = rig.store.put("a", as_bytes("x"), {}, {});
    EXPECT_EQ(fails_with(throttled), ErrorCode::kThrottled);
    EXPECT_EQ(throttled.error().retry_after(), Duration(seconds(3)));
    EXPECT_FALSE(rig.has("a"));
    EXPECT_TRUE(rig.store.put("a", as_bytes("x"), {}, {}));
    EXPECT_TRUE(rig.has("a"));
  });
}

TEST(FaultyStore, WhatLosesItsAnswerIsDone) {
  testing::in_simulation(1, [](sys::World& world) {
    const Fault lost{.kind = Kind::kAnswerLost};
    Rig rig(world, {lost, {}, {}, lost, lost});
    EXPECT_EQ(fails_with(rig.store.put("a", as_bytes("x"), WriteIf::absent(), {})),
              ErrorCode::kUnknownOutcome);
    EXPECT_TRUE(rig.has("a"));
    const auto upload = rig.store.start_upload("b", {.size = 1, .part_bytes = 1}, {});
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->put_part(0, as_bytes("y"), {}));
    EXPECT_EQ(fails_with((*upload)->complete({})), ErrorCode::kUnknownOutcome);
    EXPECT_TRUE(rig.has("b"));
    EXPECT_EQ(fails_with(rig.store.remove("a", {})), ErrorCode::kUnknownOutcome);
    EXPECT_FALSE(rig.has("a"));
  });
}

TEST(FaultyStore, ALateWriteIsDoneOnceItsTimeHasCome) {
  testing::in_simulation(1, [](sys::World& world) {
    const Fault late{.kind = Kind::kLate, .late_by = seconds(10)};
    Rig rig(world, {late, {}, {}, late, {.kind = Kind::kLate, .late_by = seconds(20)}});
    EXPECT_EQ(fails_with(rig.store.put("a", as_bytes("x"), WriteIf::absent(), {})),
              ErrorCode::kUnknownOutcome);
    EXPECT_EQ(fails_with(rig.store.head("a", {})), ErrorCode::kNotFound);
    ASSERT_TRUE(world.clock.sleep_for(seconds(11), {}));
    const auto arrived = rig.store.head("a", {});
    ASSERT_TRUE(arrived);
    // Of a replacement and a removal that are both late, the first makes the second void.
    EXPECT_EQ(
        fails_with(rig.store.put("a", as_bytes("y"), WriteIf::version_is(arrived->version), {})),
        ErrorCode::kUnknownOutcome);
    EXPECT_EQ(fails_with(rig.store.remove_if("a", arrived->version, {})),
              ErrorCode::kUnknownOutcome);
    EXPECT_EQ(rig.late.pending(), 2U);
    rig.late.settle(kNever);
    EXPECT_EQ(rig.late.pending(), 0U);
    const auto now = rig.memory.head("a", {});
    ASSERT_TRUE(now);
    EXPECT_NE(now->version, arrived->version);
  });
}

TEST(FaultyStore, ALateWriteStillHasItsCondition) {
  testing::in_simulation(1, [](sys::World& world) {
    Rig rig(world, {{.kind = Kind::kLate, .late_by = seconds(10)}});
    EXPECT_FALSE(rig.store.put("a", as_bytes("mine"), WriteIf::absent(), {}));
    const auto version = rig.store.put("a", as_bytes("yours"), WriteIf::absent(), {});
    ASSERT_TRUE(version);
    ASSERT_TRUE(world.clock.sleep_for(seconds(11), {}));
    EXPECT_EQ(rig.store.head("a", {})->version, *version);
  });
}

TEST(FaultyStore, ACutReadDeliversTheBeginning) {
  testing::in_simulation(1, [](sys::World& world) {
    std::vector<Fault> faults;
    for (const std::uint64_t cut : {0U, 4U, 10U, 1000U}) {
      faults.push_back({.kind = Kind::kCut, .cut_at = cut});
    }
    Rig rig(world, faults);
    ASSERT_TRUE(rig.memory.put("a", as_bytes("0123456789"), {}, {}));
    const auto read = [&](ErrorCode& code) {
      std::string text;
      const auto info = rig.store.get("a", {},
                                      [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                                        text += as_text(piece);
                                        return {};
                                      },
                                      {});
      code = info ? ErrorCode::kFailed : info.error().code();
      return text;
    };
    ErrorCode code = ErrorCode::kFailed;
    EXPECT_EQ(read(code), "");
    EXPECT_EQ(code, ErrorCode::kUnknownOutcome);
    EXPECT_EQ(read(code), "0123");
    EXPECT_EQ(code, ErrorCode::kUnknownOutcome);
    EXPECT_EQ(read(code), "0123456789");
    EXPECT_EQ(code, ErrorCode::kUnknownOutcome);
    EXPECT_EQ(read(code), "0123456789");
    EXPECT_EQ(code, ErrorCode::kFailed);  // it worked
  });
}

TEST(FaultyStore, DelaysEndWithTheContext) {
  testing::in_simulation(1, [](sys::World& world) {
    Rig rig(world, {{.delay_before = seconds(10)}, {.delay_after = seconds(10)}});
    const auto soon = [&] {
      return sys::CallContext{.deadline = world.clock.mono_now() + seconds(1)};
    };
    EXPECT_EQ(fails_with(rig.store.put("a", as_bytes("x"), {}, soon())),
              ErrorCode::kDeadlineExceeded);
    EXPECT_FALSE(rig.has("a"));
    EXPECT_EQ(fails_with(rig.store.put("a", as_bytes("x"), {}, soon())),
              ErrorCode::kDeadlineExceeded);
    EXPECT_TRUE(rig.has("a"));
  });
}

TEST(RandomFaults, ComeAtTheirRatesAndAreThoseOfTheSeed) {
  const FaultRates rates{.refused = 0.1, .answer_lost = 0.2, .late = 0.05, .cut = 0.3};
  const FaultPlan plan = random_faults(Random(7), rates);
  const FaultPlan same = random_faults(Random(7), rates);
  constexpr std::size_t kCalls = 20'000;
  std::vector<std::size_t> counts(5);
  for (std::size_t i = 0; i < kCalls; ++i) {
    const StoreCall call{.kind = StoreCallKind::kGet};
    const Fault fault = plan(call);
    EXPECT_EQ(same(call).kind, fault.kind);
    ++counts[static_cast<std::size_t>(fault.kind)];
  }
  const auto expect_near = [&](Kind kind, double rate) {
    const double share = static_cast<double>(counts[static_cast<std::size_t>(kind)]) / kCalls;
    EXPECT_NEAR(share, rate, 0.02) << static_cast<int>(kind);
  };
  expect_near(Kind::kNone, 0.35);
  expect_near(Kind::kRefused, 0.1);
  expect_near(Kind::kAnswerLost, 0.2);
  expect_near(Kind::kLate, 0.05);
  expect_near(Kind::kCut, 0.3);
}

}  // namespace
}  // namespace outlast::store
