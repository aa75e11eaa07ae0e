#include "store/transfer/copier.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "sim/simulation.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/transfer/testing/copy_bench.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

using testing::Bench;
using testing::kOneByOne;
using testing::kPart;
using testing::random_text;
using testing::TrickyStore;
using testing::with_bench;

TEST(Copier, CopiesThereAndBack) {
  with_bench([](Bench& bench) {
    for (const std::size_t size : {0U, 1U, 999U, 1000U, 1001U, 2000U, 12'345U}) {
      const std::string text = random_text(size);
      bench.write("a", text);
      const auto up = bench.run({bench.upload("a", "k/a")});
      ASSERT_TRUE(up) << up.error().to_string();
      EXPECT_EQ(up->bytes_copied, size);
      EXPECT_EQ(up->copies_ended, 1U);
      const auto down = bench.run({bench.download("k/a", "deep/er/b")});
      ASSERT_TRUE(down) << down.error().to_string();
      EXPECT_EQ(bench.read("deep/er/b"), text) << size;
      EXPECT_EQ(down->copies_checked, size > kPart ? 1U : 0U);
      EXPECT_EQ(bench.world.files.list(bench.dir + "/deep/er").value().size(), 1U);
    }
  });
}

TEST(Copier, CopiesManyAtOnce) {
  with_bench([](Bench& bench) {
    std::vector<Copy> copies;
    for (int i = 0; i < 300; ++i) {
      bench.write(fmt::format("f{}", i), random_text(static_cast<std::size_t>(i) * 20));
      copies.push_back(bench.upload(fmt::format("f{}", i), fmt::format("k/{}", i)));
    }
    const auto done = bench.run(std::move(copies));
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(done->copies_ended, 300U);
    for (int i = 0; i < 300; i += 37) {
      ASSERT_TRUE(bench.run({bench.download(fmt::format("k/{}", i), "back")}));
      EXPECT_EQ(bench.read("back"), random_text(static_cast<std::size_t>(i) * 20));
    }
  });
}

TEST(Copier, GoesOnWithAnInterruptedUpload) {
  with_bench([](Bench& bench) {
    const std::string text = random_text(20 * kPart);
    bench.write("a", text);
    bench.store.calls_left = 7;
    ASSERT_FALSE(bench.run({bench.upload("a", "k")}, kOneByOne));
    bench.store.calls_left = 1'000'000;
    bench.store.moved = 0;
    const auto done = bench.run({bench.upload("a", "k")});
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(bench.store.moved, 13);
    EXPECT_EQ(done->bytes_resumed, 7 * kPart);
    EXPECT_EQ(done->bytes_copied, 13 * kPart);
    EXPECT_EQ(done->copies_checked, 1U);
    EXPECT_EQ(bench.world.files.list(bench.dir + "/state").value().size(), 0U);
  });
}

TEST(Copier, StartsAnUploadOverWhenTheFileIsAnotherOne) {
  with_bench([](Bench& bench) {
    bench.write("a", random_text(20 * kPart));
    bench.store.calls_left = 7;
    ASSERT_FALSE(bench.run({bench.upload("a", "k")}));
    bench.store.calls_left = 1'000'000;
    const std::string other = random_text(20 * kPart + 1).substr(1);
    bench.write("a", other);
    const auto done = bench.run({bench.upload("a", "k"), bench.download("k", "unused")});
    ASSERT_FALSE(done && done->bytes_resumed > 0);
    ASSERT_TRUE(bench.run({bench.upload("a", "k")}));
    ASSERT_TRUE(bench.run({bench.download("k", "b")}));
    EXPECT_EQ(bench.read("b"), other);
  });
}

TEST(Copier, NeverGoesOnWithADamagedUpload) {
  with_bench([](Bench& bench) {
    bench.write("a", random_text(5 * kPart));
    bench.store.damage_uploads = true;
    const auto damaged = bench.run({bench.upload("a", "k")});
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().code(), ErrorCode::kCorrupt);
    EXPECT_EQ(bench.world.files.list(bench.dir + "/state").value().size(), 0U);
    bench.store.damage_uploads = false;
    const auto done = bench.run({bench.upload("a", "k")});
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(done->bytes_resumed, 0U);
  });
}

TEST(Copier, GoesOnWithAnInterruptedDownloadButBelievesOnlyWhatIsRight) {
  with_bench([](Bench& bench) {
    const std::string text = random_text(20 * kPart);
    ASSERT_TRUE(bench.store.put("k", as_bytes(text), WriteIf::always(), {}));
    bench.store.calls_left = 8;
    ASSERT_FALSE(bench.run({bench.download("k", "b")}, kOneByOne));
    EXPECT_EQ(bench.read("b"), "(no file)");
    // One of the parts that are there is damaged.
    std::string part = bench.read("b.outlast-part");
    part[3] = static_cast<char>(part[3] + 1);
    bench.write("b.outlast-part", part);
    bench.store.calls_left = 1'000'000;
    bench.store.moved = 0;
    const auto done = bench.run({bench.download("k", "b")});
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(bench.read("b"), text);
    EXPECT_EQ(done->bytes_resumed, 7 * kPart);
    EXPECT_EQ(bench.store.moved, 13);
  });
}

TEST(Copier, StartsADownloadOverWhenTheObjectIsAnotherOne) {
  with_bench([](Bench& bench) {
    ASSERT_TRUE(bench.store.put("k", as_bytes(random_text(20 * kPart)), WriteIf::always(), {}));
    bench.store.calls_left = 8;
    ASSERT_FALSE(bench.run({bench.download("k", "b")}));
    bench.store.calls_left = 1'000'000;
    const std::string other = random_text(20 * kPart + 1).substr(1);
    ASSERT_TRUE(bench.store.put("k", as_bytes(other), WriteIf::always(), {}));
    const auto done = bench.run({bench.download("k", "b")});
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(done->bytes_resumed, 0U);
    EXPECT_EQ(bench.read("b"), other);
  });
}

TEST(Copier, NoticesWrongBytes) {
  with_bench([](Bench& bench) {
    ASSERT_TRUE(bench.store.put("k", as_bytes(random_text(5 * kPart)), WriteIf::always(), {}));
    bench.store.flip = true;
    const auto done = bench.run({bench.download("k", "b")});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), ErrorCode::kCorrupt);
    EXPECT_EQ(bench.read("b"), "(no file)");
  });
}

TEST(Copier, SaysWhatItCouldNotCopy) {
  with_bench([](Bench& bench) {
    const auto none = bench.run({bench.upload("nothing-here", "k")});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
    EXPECT_NE(none.error().to_string().find("nothing-here"), std::string::npos);
    bench.write("a", random_text(5 * kPart));
    bench.store.calls_left = 2;
    const auto broke = bench.run({bench.upload("a", "k")});
    ASSERT_FALSE(broke);
    EXPECT_NE(broke.error().to_string().find("/a to memory://bucket/k: the store broke"),
              std::string::npos)
        << broke.error().to_string();
  });
}

TEST(Copier, RefusesAFolder) {
  with_bench([](Bench& bench) {
    ASSERT_TRUE(bench.world.files.make_dir(bench.dir + "/folder"));
    const auto done = bench.run({bench.upload("folder", "k")});
    ASSERT_FALSE(done);
  });
}

// A machine that loses its power again and again still gets the whole file across, and never shows
// half of one.
TEST(Copier, SurvivesCrashes) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    sim::Simulation simulation({.seed = seed});
    sim::Machine& machine = simulation.add_machine("m");
    MemoryBucket bucket;
    const std::string text = random_text(15 * kPart + 17);
    bool done = false;
    const sim::Outcome outcome = simulation.run([&] {
      {
        MemoryStore store(bucket, simulation.clock());
        ASSERT_TRUE(store.put("k", as_bytes(text), WriteIf::always(), {}));
      }
      for (int life = 0; life < 200 && !done; ++life) {
        machine.boot(
            [&](sys::World& world) {
              TrickyStore store(bucket, world.clock);
              const Bench bench = {.world = world, .dir = "", .store = store};
              const std::string seen = bench.read("b");
              if (seen != "(no file)" && seen != text && !seen.empty()) {
                simulation.fail("half a file");
              }
              if (!bench.run({bench.download("k", "b")})) return;
              if (bench.read("b") != text) simulation.fail("not what was copied");
              done = true;
            },
            {.crash_per_call = 0.004});
        machine.wait_until_off({});
      }
    });
    EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.failure;
    EXPECT_TRUE(done) << "seed " << seed;
  }
}

}  // namespace
}  // namespace outlast::store
