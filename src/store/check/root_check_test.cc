#include "store/check/root_check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "sim/simulation.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

// A store with one fault of the kind that real servers have.
class FlawedStore : public MemoryStore {
 public:
  enum class Flaw {
    kNone,
    kIgnoresAbsent,
    kIgnoresVersions,
    kLooksThenWrites,  // checks the condition, then writes without holding it
    kIgnoresRanges,
    kListsLate,
    kClockIsWrong,
  };

  FlawedStore(MemoryBucket& bucket, sys::Clock& clock, Flaw flaw)
      : MemoryStore(bucket, clock), clock_(clock), flaw_(flaw) {}

  Result<std::string> put(const std::string& key, BytesView bytes, const WriteIf& condition,
                          const sys::CallContext& ctx) override {
    last_key_ = key;
    if (flaw_ == Flaw::kIgnoresAbsent && condition.kind == WriteIf::Kind::kAbsent) {
      return MemoryStore::put(key, bytes, WriteIf::always(), ctx);
    }
    if (flaw_ == Flaw::kIgnoresVersions && condition.kind == WriteIf::Kind::kVersion) {
      return MemoryStore::put(key, bytes, WriteIf::always(), ctx);
    }
    if (flaw_ == Flaw::kLooksThenWrites && condition.kind == WriteIf::Kind::kAbsent) {
      if (MemoryStore::head(key, ctx)) return MemoryStore::put(key, bytes, condition, ctx);
      OUTLAST_TRY(clock_.sleep_for(std::chrono::milliseconds(1), ctx));
      return MemoryStore::put(key, bytes, WriteIf::always(), ctx);
    }
    return MemoryStore::put(key, bytes, condition, ctx);
  }

  Result<ObjectInfo> get(const std::string& key, const GetOptions& options, const ByteSink& sink,
                         const sys::CallContext& ctx) override {
    return MemoryStore::get(key, flaw_ == Flaw::kIgnoresRanges ? GetOptions{} : options, sink, ctx);
  }

  Result<ListPage> list(const ListOptions& options, const sys::CallContext& ctx) override {
    Result<ListPage> page = MemoryStore::list(options, ctx);
    if (page && flaw_ == Flaw::kListsLate) {
      std::erase_if(page->objects, [&](const ObjectInfo& one) { return one.key == last_key_; });
    }
    return page;
  }

  Result<WallTime> server_time(const sys::CallContext& ctx) override {
    OUTLAST_TRY_ASSIGN(const WallTime time, MemoryStore::server_time(ctx));
    return flaw_ == Flaw::kClockIsWrong ? time + std::chrono::hours(1) : time;
  }

 private:
  sys::Clock& clock_;
  const Flaw flaw_;
  std::string last_key_;
};

struct Checked {
  std::vector<CheckFinding> findings;
  std::size_t objects_left = 0;
};

Checked check_with(FlawedStore::Flaw flaw) {
  sim::Simulation simulation({.seed = 7});
  sim::Machine& machine = simulation.add_machine("m");
  MemoryBucket bucket;
  Checked checked;
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          FlawedStore store(bucket, world.clock, flaw);
          auto findings = check_root({.store = store,
                                      .threads = world.threads,
                                      .clock = world.clock,
                                      .random = world.random},
                                     {.rounds = 5}, {});
          ASSERT_TRUE(findings) << findings.error().to_string();
          checked.findings = *std::move(findings);
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  checked.objects_left = bucket.object_count();
  return checked;
}

std::vector<std::string> names_of(const Checked& checked, Verdict verdict) {
  std::vector<std::string> names;
  for (const CheckFinding& finding : checked.findings) {
    if (finding.verdict == verdict) names.push_back(finding.name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(RootCheck, FindsNothingWrongWithAGoodStoreAndCleansUp) {
  const Checked checked = check_with(FlawedStore::Flaw::kNone);
  EXPECT_EQ(names_of(checked, Verdict::kBroken), Names());
  EXPECT_EQ(names_of(checked, Verdict::kNote), Names());
  EXPECT_EQ(checked.findings.size(), 12U);
  EXPECT_EQ(checked.objects_left, 0U);
}

TEST(RootCheck, NamesAStoreThatIgnoresIfAbsent) {
  EXPECT_EQ(names_of(check_with(FlawedStore::Flaw::kIgnoresAbsent), Verdict::kBroken),
            Names({"create if absent", "create if absent, raced"}));
}

TEST(RootCheck, NamesAStoreThatIgnoresVersions) {
  EXPECT_EQ(names_of(check_with(FlawedStore::Flaw::kIgnoresVersions), Verdict::kBroken),
            Names({"replace if unchanged", "replace if unchanged, raced"}));
}

// Right as long as nobody races: only the race finds it.
TEST(RootCheck, NamesAStoreThatLooksAndThenWrites) {
  EXPECT_EQ(names_of(check_with(FlawedStore::Flaw::kLooksThenWrites), Verdict::kBroken),
            Names({"create if absent, raced"}));
}

TEST(RootCheck, NamesWrongRangesAndLateListings) {
  EXPECT_EQ(names_of(check_with(FlawedStore::Flaw::kIgnoresRanges), Verdict::kBroken),
            Names({"ranges"}));
  const Checked late = check_with(FlawedStore::Flaw::kListsLate);
  EXPECT_EQ(names_of(late, Verdict::kBroken), Names({"listing", "names"}));
}

TEST(RootCheck, SaysThatAClockIsOff) {
  EXPECT_EQ(names_of(check_with(FlawedStore::Flaw::kClockIsWrong), Verdict::kNote),
            Names({"clock"}));
}

}  // namespace
}  // namespace outlast::store
