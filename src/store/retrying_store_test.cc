#include "store/retrying_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/metered_store.h"
#include "store/object_store.h"
#include "store/testing/in_simulation.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

using std::chrono::seconds;

const Fault kDown{.kind = Fault::Kind::kRefused};
const Fault kThrottle{.kind = Fault::Kind::kRefused, .error = ErrorCode::kThrottled};
const Fault kAnswerLost{.kind = Fault::Kind::kAnswerLost};
const Fault kForbidden{.kind = Fault::Kind::kRefused, .error = ErrorCode::kPermissionDenied};

// Retries over a count of tries over planned faults over memory.
struct RetryRig {
  RetryRig(sys::World& world, std::vector<Fault> faults, const RetryPolicy& policy = {})
      : memory(bucket, world.clock),
        faulty(memory, world.clock, scripted_faults(std::move(faults))),
        metered(faulty),
        store(metered, world.clock, Random(1), policy) {}

  std::uint64_t tries(StoreCallKind kind) const { return metered.usage().calls_of(kind); }
  std::string content(const std::string& key) {
    const auto found = bucket.find(key, {});
    return found ? std::string(as_text(*found->bytes)) : "(none)";
  }

  MemoryBucket bucket;
  MemoryStore memory;
  FaultyStore faulty;
  MeteredStore metered;
  RetryingStore store;
};

template <typename T>
ErrorCode ends_with(const Result<T>& result) {
  EXPECT_FALSE(result);
  return result ? ErrorCode::kFailed : result.error().code();
}

TEST(RetryingStore, TriesAgainWhatMayWorkLater) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {kDown, kThrottle, kDown});
    ASSERT_TRUE(rig.store.put("a", as_bytes("x"), WriteIf::absent(), {}));
    EXPECT_EQ(rig.tries(StoreCallKind::kPut), 4U);
    EXPECT_EQ(rig.content("a"), "x");
  });
}

TEST(RetryingStore, DoesNotRepeatWhatCannotWork) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {kForbidden});
    EXPECT_EQ(ends_with(rig.store.head("a", {})), ErrorCode::kPermissionDenied);
    EXPECT_EQ(ends_with(rig.store.head("a", {})), ErrorCode::kNotFound);
    EXPECT_EQ(rig.tries(StoreCallKind::kHead), 2U);
  });
}

TEST(RetryingStore, GivesUpAfterItsAttempts) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, std::vector<Fault>(100, kDown), {.attempts_max = 4});
    const auto head = rig.store.head("a", {});
    EXPECT_EQ(ends_with(head), ErrorCode::kUnavailable);
    EXPECT_EQ(head.error().to_string(),
              "gave up after 4 tries: memory://bucket/a: refused (a planned fault)");
    EXPECT_EQ(rig.tries(StoreCallKind::kHead), 4U);
  });
}

TEST(RetryingStore, GivesUpAfterItsTime) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, std::vector<Fault>(1000, kDown),
                 {.attempts_max = 1000, .elapsed_max = seconds(30), .budget = 100'000});
    const MonoTime begin = world.clock.mono_now();
    EXPECT_EQ(ends_with(rig.store.head("a", {})), ErrorCode::kUnavailable);
    EXPECT_LE(world.clock.mono_now() - begin, seconds(31));
    EXPECT_GE(rig.tries(StoreCallKind::kHead), 5U);
  });
}

TEST(RetryingStore, TheBudgetIsSharedAndRefilledBySuccess) {
  testing::in_simulation(1, [](sys::World& world) {
    std::vector<Fault> faults(5, kDown);       // the third call finds no budget for a retry
    faults.insert(faults.end(), 10, Fault());  // ten successes give two retries back
    faults.push_back(kDown);
    RetryRig rig(world, faults, {.attempts_max = 3, .budget = 20, .retry_cost = 5});
    EXPECT_FALSE(rig.store.server_time({}));  // 2 retries
    EXPECT_TRUE(rig.store.server_time({}));   // 2 retries
    for (int i = 0; i < 9; ++i) EXPECT_TRUE(rig.store.server_time({}));
    EXPECT_TRUE(rig.store.server_time({}));
    EXPECT_EQ(rig.tries(StoreCallKind::kServerTime), 3U + 3U + 9U + 2U);
    RetryRig poor(world, std::vector<Fault>(10, kDown), {.budget = 4, .retry_cost = 5});
    EXPECT_FALSE(poor.store.server_time({}));
    EXPECT_EQ(poor.tries(StoreCallKind::kServerTime), 1U);
  });
}

TEST(RetryingStore, StaysAwayAsLongAsTheStoreAsks) {
  testing::in_simulation(1, [](sys::World& world) {
    Fault asks = kThrottle;
    asks.retry_after = seconds(40);
    Fault asks_too_much = kThrottle;
    asks_too_much.retry_after = std::chrono::hours(100);
    RetryRig rig(world, {asks, asks_too_much}, {.retry_after_max = seconds(60)});
    const MonoTime begin = world.clock.mono_now();
    EXPECT_TRUE(rig.store.server_time({}));
    const Duration took = world.clock.mono_now() - begin;
    EXPECT_GE(took, seconds(100));
    EXPECT_LE(took, seconds(102));
  });
}

TEST(RetryingStore, WaitsAreDrawnAnewAndBounded) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, std::vector<Fault>(50, kDown),
                 {.attempts_max = 51,
                  .elapsed_max = std::chrono::hours(10),
                  .first_wait_max = seconds(1),
                  .wait_max = seconds(4),
                  .budget = 10'000});
    const MonoTime begin = world.clock.mono_now();
    EXPECT_TRUE(rig.store.server_time({}));
    const Duration took = world.clock.mono_now() - begin;
    EXPECT_LT(took, seconds(50 * 4));
    EXPECT_GT(took, seconds(50));  // 50 draws from 0 to 4 s
  });
}

TEST(RetryingStore, DoesNotWaitBeyondTheDeadline) {
  testing::in_simulation(1, [](sys::World& world) {
    Fault asks = kThrottle;
    asks.retry_after = seconds(30);
    RetryRig rig(world, {asks, kAnswerLost, asks});
    const MonoTime deadline = world.clock.mono_now() + seconds(10);
    EXPECT_EQ(ends_with(rig.store.head("a", {.deadline = deadline})), ErrorCode::kThrottled);
    EXPECT_LT(world.clock.mono_now(), deadline);
    // What may have been done stays that.
    const auto put = rig.store.put("a", as_bytes("x"), {}, {.deadline = deadline});
    EXPECT_EQ(ends_with(put), ErrorCode::kUnknownOutcome);
    EXPECT_NE(put.error().to_string().find("read back"), std::string::npos);
  });
}

TEST(RetryingStore, AStopEndsTheWait) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, std::vector<Fault>(100, kDown),
                 {.elapsed_max = std::chrono::hours(10),
                  .first_wait_max = std::chrono::hours(1),
                  .wait_max = std::chrono::hours(1)});
    std::stop_source stop;
    const auto stopper = world.threads.spawn("stopper", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(std::chrono::milliseconds(1), {});
      stop.request_stop();
    });
    EXPECT_EQ(ends_with(rig.store.head("a", {.stop = stop.get_token()})), ErrorCode::kCancelled);
  });
}

TEST(RetryingStore, ALostAnswerMakesALostConditionUnknown) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {kAnswerLost, {}, kAnswerLost, {}, kAnswerLost});
    const auto put = rig.store.put("a", as_bytes("mine"), WriteIf::absent(), {});
    EXPECT_EQ(ends_with(put), ErrorCode::kUnknownOutcome);
    EXPECT_NE(put.error().to_string().find("read back"), std::string::npos);
    EXPECT_EQ(rig.content("a"), "mine");
    const std::string version = rig.memory.head("a", {})->version;
    EXPECT_EQ(ends_with(rig.store.put("a", as_bytes("new"), WriteIf::version_is(version), {})),
              ErrorCode::kUnknownOutcome);
    EXPECT_EQ(rig.content("a"), "new");
    EXPECT_TRUE(rig.store.put("b", as_bytes("x"), WriteIf::always(), {}));
  });
}

TEST(RetryingStore, AConditionLostWithoutDoubtIsLost) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {kDown, kThrottle});
    ASSERT_TRUE(rig.memory.put("a", as_bytes("theirs"), {}, {}));
    EXPECT_EQ(ends_with(rig.store.put("a", as_bytes("mine"), WriteIf::absent(), {})),
              ErrorCode::kAlreadyExists);
    EXPECT_EQ(ends_with(rig.store.put("a", as_bytes("mine"), WriteIf::version_is("77"), {})),
              ErrorCode::kConditionFailed);
  });
}

TEST(RetryingStore, NothingAfterALostAnswerIsCertainButSuccess) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {kAnswerLost, kForbidden, kAnswerLost, kDown, kDown}, {.attempts_max = 3});
    EXPECT_EQ(ends_with(rig.store.put("a", as_bytes("x"), {}, {})), ErrorCode::kUnknownOutcome);
    EXPECT_EQ(ends_with(rig.store.remove("a", {})), ErrorCode::kUnknownOutcome);
    EXPECT_TRUE(rig.store.remove("a", {}));
  });
}

TEST(RetryingStore, ALostCompletionIsNotTakenForAMissingUpload) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {kDown, {}, kAnswerLost, {}, {}, kAnswerLost});
    const auto upload =
        rig.store.start_upload("a", {.size = 3, .part_bytes = 2}, {});  // refused once
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->put_part(0, as_bytes("ab"), {}));  // its first answer is lost
    ASSERT_TRUE((*upload)->put_part(1, as_bytes("c"), {}));
    EXPECT_EQ(ends_with((*upload)->complete({})), ErrorCode::kUnknownOutcome);
    EXPECT_EQ(rig.content("a"), "abc");
    EXPECT_EQ(ends_with((*upload)->complete({})), ErrorCode::kNotFound);
    EXPECT_TRUE((*upload)->abort({}));
  });
}

// The text that a read delivers, with what it ends with.
std::pair<std::string, Result<ObjectInfo>> read(ObjectStore& store,
                                                const GetOptions& options = {}) {
  std::string text;
  Result<ObjectInfo> info =
      store.get("a", options,
                [&](const ObjectInfo& object, BytesView piece) -> Result<void> {
                  EXPECT_EQ(object.size, 10U);
                  text += as_text(piece);
                  return {};
                },
                {});
  return {text, std::move(info)};
}

Fault cut_at(std::uint64_t bytes) {
  return {.kind = Fault::Kind::kCut, .cut_at = bytes};
}

TEST(RetryingStore, AReadGoesOnWhereItBroke) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {cut_at(3), kDown, cut_at(0), cut_at(2), cut_at(1)});
    ASSERT_TRUE(rig.memory.put("a", as_bytes("0123456789"), {}, {}));
    const auto [text, info] = read(rig.store);
    ASSERT_TRUE(info) << info.error().to_string();
    EXPECT_EQ(text, "0123456789");
    EXPECT_EQ(rig.tries(StoreCallKind::kGet), 6U);
    EXPECT_EQ(rig.metered.usage().bytes_down, 10U);  // nothing came twice
  });
}

TEST(RetryingStore, ARangeGoesOnWhereItBroke) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {cut_at(2), cut_at(1), {}, cut_at(1), cut_at(1)});
    ASSERT_TRUE(rig.memory.put("a", as_bytes("0123456789"), {}, {}));
    EXPECT_EQ(read(rig.store, {.range = ByteRange{.offset = 2, .length = 5}}).first, "23456");
    EXPECT_EQ(read(rig.store, {.range = ByteRange{.offset = 6, .length = 1000}}).first, "6789");
  });
}

TEST(RetryingStore, AReadThatHadEverythingNeedsNoMore) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {cut_at(10), kAnswerLost});
    ASSERT_TRUE(rig.memory.put("a", as_bytes("0123456789"), {}, {}));
    for (int i = 0; i < 2; ++i) {
      const auto [text, info] = read(rig.store);
      EXPECT_TRUE(info);
      EXPECT_EQ(text, "0123456789");
    }
    EXPECT_EQ(rig.tries(StoreCallKind::kGet), 2U);
  });
}

TEST(RetryingStore, AReadThatMovesOnHasAllItsTriesAgain) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, std::vector<Fault>(9, cut_at(1)), {.attempts_max = 2});
    ASSERT_TRUE(rig.memory.put("a", as_bytes("0123456789"), {}, {}));
    EXPECT_EQ(read(rig.store).first, "0123456789");
    RetryRig stuck(world, std::vector<Fault>(9, cut_at(0)), {.attempts_max = 2});
    ASSERT_TRUE(stuck.memory.put("a", as_bytes("0123456789"), {}, {}));
    EXPECT_EQ(ends_with(read(stuck.store).second), ErrorCode::kUnavailable);
  });
}

// Replaces the object in the middle of the first read of it.
Result<ObjectInfo> read_while_replaced(RetryRig& rig, const GetOptions& options,
                                       std::string& text) {
  bool replaced = false;
  return rig.store.get("a", options,
                       [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                         text += as_text(piece);
                         if (!std::exchange(replaced, true)) {
                           EXPECT_TRUE(rig.memory.put("a", as_bytes("ABCDEFGHIJ"), {}, {}));
                         }
                         return {};
                       },
                       {});
}

TEST(RetryingStore, AReadNeverMixesTwoVersions) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {cut_at(4), {}, cut_at(4)});
    ASSERT_TRUE(rig.memory.put("a", as_bytes("0123456789"), {}, {}));
    std::string text;
    const auto mixed = read_while_replaced(rig, {}, text);
    EXPECT_EQ(ends_with(mixed), ErrorCode::kUnavailable);
    EXPECT_EQ(mixed.error().to_string(),
              "get memory://bucket/a: the object was replaced while it was being read, after 4 "
              "bytes of the old one: read it again from the start");
    EXPECT_EQ(text, "0123");
    // Who asked for a version hears about the version.
    const std::string version = rig.memory.head("a", {})->version;
    EXPECT_EQ(ends_with(read_while_replaced(rig, {.if_version = version}, text)),
              ErrorCode::kConditionFailed);
  });
}

TEST(RetryingStore, AReadThatBrokeBeforeItsFirstByteStartsOver) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {cut_at(0)});
    ASSERT_TRUE(rig.memory.put("a", as_bytes("0123456789"), {}, {}));
    EXPECT_EQ(read(rig.store).first, "0123456789");
  });
}

TEST(RetryingStore, ASinksErrorIsNotTheStores) {
  testing::in_simulation(1, [](sys::World& world) {
    RetryRig rig(world, {});
    ASSERT_TRUE(rig.memory.put("a", as_bytes("0123456789"), {}, {}));
    const auto info = rig.store.get("a", {},
                                    [](const ObjectInfo&, BytesView) -> Result<void> {
                                      return Error(ErrorCode::kUnavailable, "the sink is away");
                                    },
                                    {});
    EXPECT_EQ(ends_with(info), ErrorCode::kUnavailable);
    EXPECT_EQ(rig.tries(StoreCallKind::kGet), 1U);
  });
}

// A store whose reads are damaged now and then, in the second half only.
class DamagingStore : public AroundStore {
 public:
  using AroundStore::AroundStore;
  Result<ObjectInfo> get(const std::string& key, const GetOptions& options, const ByteSink& sink,
                         const sys::CallContext& ctx) override {
    const bool damages = options.range.has_value();
    return AroundStore::get(
        key, options,
        [&](const ObjectInfo& object, BytesView piece) {
          Bytes bytes(piece.begin(), piece.end());
          if (damages) bytes.back() ^= std::byte{1};
          return sink(object, bytes);
        },
        ctx);
  }

 protected:
  Result<Ticket> before(const StoreCall&, const sys::CallContext&) override { return Ticket{0}; }
  std::optional<Error> after(const StoreCall&, Ticket, const Error*,
                             const sys::CallContext&) override {
    return std::nullopt;
  }
};

TEST(RetryingStore, TheChecksumIsThatOfTheWholeOverAllTries) {
  testing::in_simulation(1, [](sys::World& world) {
    MemoryBucket bucket;
    MemoryStore memory(bucket, world.clock);
    DamagingStore damaging(memory);
    FaultyStore faulty(damaging, world.clock, scripted_faults({cut_at(5)}));
    RetryingStore store(faulty, world.clock, Random(1));
    ASSERT_TRUE(memory.put("a", as_bytes("0123456789"), {}, {}));
    EXPECT_EQ(ends_with(read(store).second), ErrorCode::kCorrupt);
    EXPECT_EQ(read(store).first, "0123456789");
  });
}

}  // namespace
}  // namespace outlast::store
