#include "checkpoint/checkpoints.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/testing/trees.h"
#include "checkpoint/tree_scan.h"
#include "job/log_entry.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::checkpoint {
namespace engine_test {

std::string random_text(std::uint64_t seed, std::size_t size) {
  Random random(seed);
  std::string text;
  while (text.size() < size) text += static_cast<char>(random.next());
  return text;
}

// A world, a folder in it, and a root in memory.
struct Rig {
  sys::World& world;
  std::string dir;
  store::MemoryBucket& bucket;
  store::MemoryStore& root;

  std::unique_ptr<Checkpoints> open(const std::string& job = "j") const {
    return Checkpoints::open({.root = root,
                              .files = world.files,
                              .threads = world.threads,
                              .clock = world.clock,
                              .random = world.random,
                              .writer = "test"},
                             job, {})
        .value();
  }
  std::string path(const std::string& name) const { return dir + "/" + name; }
  void write(const std::string& name, std::string_view text) const {
    const std::string file = path(name);
    ASSERT_TRUE(sys::make_dirs(world.files, sys::parent_path(file)));
    ASSERT_TRUE(sys::write_file_atomically(world.files, file, as_bytes(text)));
  }
  std::string read(const std::string& name) const {
    return sys::read_file(world.files, path(name), 1U << 30U).value_or("(no file)");
  }
  State state(const std::string& folder) const {
    State found;
    found.files = scan_tree(world.files, {path(folder)}, {}).value().found;
    found.origin = origin_of(world.files, found.files);
    return found;
  }
  // Of everything in the bucket.
  std::vector<std::string> keys(const std::string& prefix = "") const {
    std::vector<std::string> keys;
    const store::ListPage page = bucket.list({.prefix = prefix, .page_max = 1'000'000});
    for (const store::ObjectInfo& object : page.objects) keys.push_back(object.key);
    return keys;
  }
  Bytes object(const std::string& key) const { return *bucket.find(key, {}).value().bytes; }
  void replace(const std::string& key, Bytes bytes) const {
    ASSERT_TRUE(bucket.put(key, std::move(bytes), store::WriteIf::always(), {}));
  }
};

void with_rig(const std::function<void(Rig&)>& body) {
  sys::testing::real_world().run([&](sys::World& world, const std::string& dir) {
    store::MemoryBucket bucket;
    store::MemoryStore root(bucket, world.clock);
    Rig rig = {.world = world, .dir = dir, .bucket = bucket, .root = root};
    body(rig);
  });
}

SaveRequest small_packs() {
  return {.options = {.compression = Compression::kAlways, .workers = 3, .pack_bytes = 100'000}};
}

TEST(Checkpoints, WhatIsSavedIsRestored) {
  with_rig([](Rig& rig) {
    const std::string big = random_text(1, 3'500'000);
    rig.write("t/model.bin", big);
    rig.write("t/deep/er/log", "step 1\n");
    rig.write("t/empty", "");
    rig.write("t/zeros", std::string(2'500'000, '\0'));
    const auto job = rig.open();
    SaveRequest request = small_packs();
    request.step = 7;
    request.metrics = {{"loss", 0.25}};
    const Result<Saved> saved = job->save(rig.state("t"), request, {});
    ASSERT_TRUE(saved) << saved.error().to_string();
    EXPECT_EQ(saved->files, 4U);
    EXPECT_EQ(saved->totals.bytes, big.size() + 7 + 2'500'000);

    const auto other = rig.open();  // as if on another machine
    const Result<Restored> restored = other->restore({.folder = rig.path("back")}, {});
    ASSERT_TRUE(restored) << restored.error().to_string();
    EXPECT_EQ(restored->entry.seq, saved->seq);
    EXPECT_EQ(restored->entry.checkpoint.step, 7U);
    EXPECT_EQ(restored->entry.checkpoint.metrics.at("loss"), 0.25);
    EXPECT_EQ(rig.read("back/model.bin"), big);
    EXPECT_EQ(rig.read("back/deep/er/log"), "step 1\n");
    EXPECT_EQ(rig.read("back/empty"), "");
    EXPECT_EQ(rig.read("back/zeros"), std::string(2'500'000, '\0'));
  });
}

TEST(Checkpoints, OnlyWhatChangedIsStored) {
  with_rig([](Rig& rig) {
    std::string big = random_text(2, 5 << 20);
    rig.write("t/model.bin", big);
    const auto job = rig.open();
    ASSERT_TRUE(job->save(rig.state("t"), small_packs(), {}));
    big[3 << 20] = static_cast<char>(big[3 << 20] + 1);
    rig.write("t/model.bin", big);
    const Saved second = job->save(rig.state("t"), small_packs(), {}).value();
    EXPECT_LT(second.totals.bytes_stored, 1'200'000U);
    EXPECT_EQ(second.totals.bytes_same, 4U << 20U);
    ASSERT_TRUE(job->restore({.folder = rig.path("back")}, {}));
    EXPECT_EQ(rig.read("back/model.bin"), big);
  });
}

TEST(Checkpoints, EveryOneCanBeRestored) {
  with_rig([](Rig& rig) {
    const auto job = rig.open();
    std::map<job::Seq, std::string> contents;
    for (int i = 0; i < 5; ++i) {
      const std::string text = random_text(static_cast<std::uint64_t>(i), 300'000);
      rig.write("t/f", text);
      contents[job->save(rig.state("t"), small_packs(), {}).value().seq] = text;
    }
    for (const auto& [seq, text] : contents) {
      ASSERT_TRUE(rig.open()->restore({.folder = rig.path("back"), .seq = seq}, {}));
      EXPECT_EQ(rig.read("back/f"), text) << seq;
    }
    const Result<Restored> none = rig.open()->restore({.folder = rig.path("x"), .seq = 99}, {});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
  });
}

TEST(Checkpoints, AFileThatHasNotChangedIsNotOpened) {
  testing::simulated_world().run([](sys::World& world, const std::string& dir) {
    store::MemoryBucket bucket;
    store::MemoryStore root(bucket, world.clock);
    Rig rig = {.world = world, .dir = dir, .bucket = bucket, .root = root};
    rig.write("t/f", "what was trained");
    const auto job = rig.open();
    const auto state = [&](const std::string& origin) {
      State found = rig.state("t");
      found.origin = origin;
      return found;
    };
    ASSERT_TRUE(job->save(state("here"), small_packs(), {}));
    const auto save_without_the_file = [&](const std::string& origin) {
      State found = state(origin);
      found.files[0].path = rig.path("nowhere");  // opening it would fail
      return job->save(found, small_packs(), {});
    };
    EXPECT_FALSE(save_without_the_file("here")) << "it was so young that it could change unseen";

    ASSERT_TRUE(world.clock.sleep_for(std::chrono::seconds(10), {}));
    ASSERT_TRUE(job->save(state("here"), small_packs(), {}));
    const Result<Saved> again = save_without_the_file("here");
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(again->totals.bytes_same, 16U);
    EXPECT_FALSE(save_without_the_file("elsewhere")) << "where an inode means another file";
    rig.write("t/f", "what was learnt!");
    EXPECT_FALSE(save_without_the_file("here")) << "it has changed";
    ASSERT_TRUE(job->restore({.folder = rig.path("back")}, {}));
    EXPECT_EQ(rig.read("back/f"), "what was trained");
  });
}

TEST(Checkpoints, RegionsOfSeveralRanksAreCommittedTogether) {
  with_rig([](Rig& rig) {
    const auto job = rig.open();
    ASSERT_TRUE(job->log().take_over("test", {}));
    std::vector<SavedPart> parts;
    std::vector<std::string> texts;
    for (std::uint32_t rank = 0; rank < 3; ++rank) texts.push_back(random_text(rank, 250'000));
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      State state = {.rank = rank};
      state.regions.push_back({.name = "weights", .bytes = as_bytes(texts[rank]), .width = 4});
      parts.push_back(job->save_part(state, small_packs().options, {}).value());
    }
    EXPECT_EQ(job->list({}).value().size(), 0U) << "nothing counts before the commit";
    ASSERT_TRUE(job->commit(parts, {}, {}));
    const LoadedCheckpoint loaded = rig.open()->load(job->list({}).value().back(), {}).value();
    Bytes memory(250'000);
    EXPECT_EQ(regions_of(loaded).size(), 3U);
    const RegionId second = {.rank = 2, .name = "weights"};
    ASSERT_TRUE(restore_regions(job->reader_parts(), loaded, {{second, memory}}, {}));
    EXPECT_EQ(as_text(memory), texts[2]);
    Bytes small(10);
    EXPECT_FALSE(restore_regions(job->reader_parts(), loaded, {{second, small}}, {}));
  });
}

TEST(Checkpoints, ADamagedOneIsPassedOver) {
  with_rig([](Rig& rig) {
    const auto job = rig.open();
    rig.write("t/f", random_text(1, 200'000));
    const job::Seq first = job->save(rig.state("t"), small_packs(), {}).value().seq;
    const std::vector<std::string> before = rig.keys("jobs/j/packs/");
    rig.write("t/f", random_text(2, 200'000));
    const job::Seq second = job->save(rig.state("t"), small_packs(), {}).value().seq;
    for (const std::string& key : rig.keys("jobs/j/packs/")) {
      if (std::ranges::find(before, key) != before.end()) continue;
      Bytes bytes = rig.object(key);
      bytes[bytes.size() / 2] ^= std::byte{1};
      rig.replace(key, std::move(bytes));
    }
    std::vector<job::Seq> passed;
    const Result<Restored> restored = rig.open()->restore(
        {.folder = rig.path("back"),
         .passed_over = [&](job::Seq seq, const Error&) { passed.push_back(seq); }},
        {});
    ASSERT_TRUE(restored) << restored.error().to_string();
    EXPECT_EQ(restored->entry.seq, first);
    EXPECT_EQ(passed, std::vector<job::Seq>{second});
    EXPECT_EQ(rig.read("back/f"), random_text(1, 200'000));
  });
}

// Whatever byte of whatever object is changed, it is noticed, and what is restored is right.
TEST(Checkpoints, EveryChangedByteIsNoticed) {
  with_rig([](Rig& rig) {
    const auto job = rig.open();
    const std::string first = random_text(1, 150) + std::string(300, 'x');
    const std::string second = random_text(2, 150) + std::string(300, 'y');
    for (const std::string& text : {first, second}) {
      rig.write("t/f", text);
      ASSERT_TRUE(job->save(rig.state("t"), small_packs(), {}));
    }
    ASSERT_TRUE(job->pin(2, true, {}));
    ASSERT_FALSE(rig.open()->verify({.full = true}, {}).value().has_damage());
    for (const std::string& key : rig.keys()) {
      const Bytes good = rig.object(key);
      for (std::size_t at = 0; at < good.size(); ++at) {
        Bytes bad = good;
        bad[at] ^= std::byte{static_cast<unsigned char>(1U << (at % 8))};
        rig.replace(key, std::move(bad));
        const Result<VerifyReport> report = rig.open()->verify({.full = true}, {});
        ASSERT_TRUE(report) << key << " at " << at << ": " << report.error().to_string();
        ASSERT_TRUE(report->has_damage()) << key << " at " << at;
        if (at % 64 == 0) {
          const Result<Restored> restored = rig.open()->restore({.folder = rig.path("back")}, {});
          if (restored) {
            const std::string text = rig.read("back/f");
            ASSERT_TRUE(text == first || text == second) << key << " at " << at;
          }
        }
      }
      rig.replace(key, good);
    }
  });
}

TEST(Checkpoints, ATruncatedOrMissingObjectIsNoticed) {
  with_rig([](Rig& rig) {
    const auto job = rig.open();
    rig.write("t/f", random_text(1, 200'000));
    ASSERT_TRUE(job->save(rig.state("t"), small_packs(), {}));
    for (const std::string& key : rig.keys()) {
      const Bytes good = rig.object(key);
      rig.replace(key, Bytes(good.begin(), good.end() - 1));
      EXPECT_TRUE(rig.open()->verify({.full = true}, {}).value().has_damage()) << key;
      ASSERT_TRUE(rig.bucket.remove(key, {}));
      if (key.find("/commits/") == std::string::npos) {
        EXPECT_TRUE(rig.open()->verify({}, {}).value().has_damage()) << key;
        EXPECT_FALSE(rig.open()->restore({.folder = rig.path("back")}, {})) << key;
      }
      rig.replace(key, good);
    }
  });
}

TEST(Checkpoints, PruneKeepsWhatIsAskedFor) {
  with_rig([](Rig& rig) {
    const auto job = rig.open();
    std::map<job::Seq, std::string> contents;
    for (std::uint64_t i = 0; i < 6; ++i) {
      const std::string text = random_text(i, 120'000);
      rig.write("t/f", text);
      SaveRequest request = small_packs();
      request.step = i * 10;
      request.metrics = {{"loss", i == 2 ? 0.1 : 1.0}};
      contents[job->save(rig.state("t"), request, {}).value().seq] = text;
    }
    std::vector<job::Seq> seqs;
    for (const auto& [seq, text] : contents) seqs.push_back(seq);
    ASSERT_TRUE(job->pin(seqs[0], true, {}));
    PruneRequest request = {.grace = Duration::zero()};
    request.retention = {.last = 1, .every = 40, .best = job::Retention::Best{.metric = "loss"}};
    const PruneSummary first = rig.open()->prune(request, {}).value();
    EXPECT_EQ(first.kept, (std::vector<job::Seq>{seqs[0], seqs[2], seqs[4], seqs[5]}));
    EXPECT_EQ(first.dropped, (std::vector<job::Seq>{seqs[1], seqs[3]}));
    EXPECT_GT(first.objects_condemned, 0U);
    EXPECT_EQ(first.objects_removed, 0U) << "only what the log condemns may go";
    const PruneSummary second = rig.open()->prune(request, {}).value();
    EXPECT_GE(second.objects_removed, first.objects_condemned);
    EXPECT_FALSE(rig.open()->verify({.full = true}, {}).value().has_damage());
    for (const job::Seq seq : first.kept) {
      ASSERT_TRUE(rig.open()->restore({.folder = rig.path("back"), .seq = seq}, {}));
      EXPECT_EQ(rig.read("back/f"), contents[seq]);
    }
    EXPECT_FALSE(rig.open()->restore({.folder = rig.path("back"), .seq = seqs[1]}, {}));
    // And a save goes on from there.
    rig.write("t/f", "new");
    ASSERT_TRUE(job->save(rig.state("t"), small_packs(), {}));
    ASSERT_TRUE(rig.open()->restore({.folder = rig.path("back")}, {}));
    EXPECT_EQ(rig.read("back/f"), "new");
  });
}

TEST(Checkpoints, ASaveThatWasPrunedAwayBeginsAgain) {
  with_rig([](Rig& rig) {
    const auto job = rig.open();
    rig.write("t/f", random_text(1, 200'000));
    ASSERT_TRUE(job->save(rig.state("t"), small_packs(), {}));
    rig.write("t/g", random_text(2, 200'000));
    const SavedPart part = job->save_part(rig.state("t"), small_packs().options, {}).value();
    // Meanwhile somebody takes what is not committed for the rest of a broken save.
    ASSERT_TRUE(rig.open()->prune({.grace = Duration::zero()}, {}));
    const Result<Saved> late = job->commit({part}, {}, {});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), ErrorCode::kConditionFailed);
    ASSERT_TRUE(job->save(rig.state("t"), small_packs(), {}));
    ASSERT_TRUE(rig.open()->prune({.grace = Duration::zero()}, {}));
    ASSERT_TRUE(rig.open()->restore({.folder = rig.path("back")}, {}));
    EXPECT_EQ(rig.read("back/g"), random_text(2, 200'000));
  });
}

TEST(Checkpoints, WhoLostItsTurnCannotCommit) {
  with_rig([](Rig& rig) {
    const auto old = rig.open();
    rig.write("t/f", "one");
    ASSERT_TRUE(old->save(rig.state("t"), small_packs(), {}));
    const auto young = rig.open();
    rig.write("t/f", "two");
    ASSERT_TRUE(young->save(rig.state("t"), small_packs(), {}));
    rig.write("t/f", "three");
    const Result<Saved> late = old->save(rig.state("t"), small_packs(), {});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), ErrorCode::kPreempted);
    ASSERT_TRUE(rig.open()->restore({.folder = rig.path("back")}, {}));
    EXPECT_EQ(rig.read("back/f"), "two");
  });
}

TEST(Checkpoints, OddRequestsAreRefused) {
  with_rig([](Rig& rig) {
    const auto job = rig.open();
    EXPECT_TRUE(job->is_empty());
    EXPECT_EQ(job->restore({.folder = rig.path("back")}, {}).error().code(), ErrorCode::kNotFound);
    SaveRequest request;
    request.metrics = {{"loss", std::numeric_limits<double>::quiet_NaN()}};
    rig.write("t/f", "one");
    EXPECT_EQ(job->save(rig.state("t"), request, {}).error().code(), ErrorCode::kInvalidArgument);
    EXPECT_FALSE(Checkpoints::open({.root = rig.root,
                                    .files = rig.world.files,
                                    .threads = rig.world.threads,
                                    .clock = rig.world.clock,
                                    .random = rig.world.random},
                                   "../x", {}));
  });
}

}  // namespace engine_test
}  // namespace outlast::checkpoint
