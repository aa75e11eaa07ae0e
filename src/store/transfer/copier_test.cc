#include "store/transfer/copier.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "sim/sim_process.h"
#include "sim/simulation.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/testing/in_simulation.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/testing/real_world_maker.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

constexpr std::uint64_t kPart = 1000;

std::string random_text(std::size_t size) {
  Random random(size + 1);
  std::string text;
  while (text.size() < size) text += static_cast<char>(random.next());
  return text;
}

// Counts the calls that move bytes, and spoils them when told to.
class TrickyStore : public MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  std::atomic<int> calls_left = 1'000'000;  // then everything fails
  std::atomic<int> moved = 0;
  std::atomic<bool> flip = false;
  std::atomic<bool> damage_uploads = false;

  Result<ObjectInfo> get(const std::string& key, const GetOptions& options, const ByteSink& sink,
                         const sys::CallContext& ctx) override {
    OUTLAST_TRY(count());
    return MemoryStore::get(
        key, options,
        [&](const ObjectInfo& object, BytesView piece) -> Result<void> {
          if (!flip) return sink(object, piece);
          Bytes spoilt(piece.begin(), piece.end());
          spoilt.front() ^= std::byte{1};
          return sink(object, spoilt);
        },
        ctx);
  }

  Result<std::unique_ptr<Upload>> start_upload(const std::string& key, const UploadPlan& plan,
                                               const sys::CallContext& ctx) override {
    return wrap(MemoryStore::start_upload(key, plan, ctx));
  }
  Result<std::unique_ptr<Upload>> resume_upload(const std::string& key, const UploadPlan& plan,
                                                const Secret<std::string>& token,
                                                const sys::CallContext& ctx) override {
    return wrap(MemoryStore::resume_upload(key, plan, token, ctx));
  }

 private:
  struct CountedUpload : Upload {
    CountedUpload(TrickyStore& counter, std::unique_ptr<Upload> inner)
        : store(counter), upload(std::move(inner)) {}
    Result<void> put_part(std::uint64_t index, BytesView bytes,
                          const sys::CallContext& ctx) override {
      OUTLAST_TRY(store.count());
      return upload->put_part(index, bytes, ctx);
    }
    std::vector<std::uint64_t> stored_parts() const override { return upload->stored_parts(); }
    Result<std::string> complete(const sys::CallContext& ctx) override {
      if (store.damage_uploads) return Error(ErrorCode::kCorrupt, "the parts are damaged");
      return upload->complete(ctx);
    }
    Result<void> abort(const sys::CallContext& ctx) override { return upload->abort(ctx); }
    Secret<std::string> token() const override { return upload->token(); }
    TrickyStore& store;
    std::unique_ptr<Upload> upload;
  };

  Result<std::unique_ptr<Upload>> wrap(Result<std::unique_ptr<Upload>> upload) {
    if (!upload) return upload;
    return std::make_unique<CountedUpload>(*this, *std::move(upload));
  }
  Result<void> count() {
    if (calls_left.fetch_sub(1) <= 0) return Error(ErrorCode::kFailed, "the store broke");
    ++moved;
    return {};
  }
};

// A world, a scratch folder in it and a store.
struct Bench {
  sys::World& world;
  std::string dir;
  TrickyStore& store;

  void write(const std::string& name, std::string_view text) const {
    ASSERT_TRUE(sys::write_file_atomically(world.files, dir + "/" + name, as_bytes(text)));
  }
  std::string read(const std::string& name) const {
    return sys::read_file(world.files, dir + "/" + name, 1U << 30U).value_or("(no file)");
  }
  Copy upload(const std::string& name, const std::string& key) const {
    return {
        .open_source =
            [this, name](const sys::CallContext&) {
              return open_file_source(world.files, dir + "/" + name);
            },
        .make_target =
            [this, key] { return make_object_target(store, world.files, key, dir + "/state"); }};
  }
  Copy download(const std::string& key, const std::string& name) const {
    return {
        .open_source = [this, key](const sys::CallContext& ctx) -> Result<std::unique_ptr<Source>> {
          OUTLAST_TRY_ASSIGN(ObjectInfo object, store.head(key, ctx));
          return make_object_source(store, std::move(object));
        },
        .make_target = [this, name] { return file_target(name); }};
  }
  std::unique_ptr<Source> open_object(const std::string& key) const {
    return make_object_source(store, store.head(key, {}).value());
  }
  std::unique_ptr<Target> file_target(const std::string& name) const {
    return make_file_target(world.files, world.clock, dir + "/" + name);
  }
  // The names in the folder, in order.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    const std::vector<sys::DirectoryEntry> entries = world.files.list(dir + "/").value();
    for (const sys::DirectoryEntry& entry : entries) names.push_back(entry.name);
    return names;
  }
  Result<CopyProgress> run(std::vector<Copy> copies) const {
    Copier copier(world.threads, world.clock, {.part_bytes = kPart});
    for (Copy& copy : copies) OUTLAST_TRY(copier.add(std::move(copy), {}));
    return copier.finish({}, {});
  }
};

void with_bench(const std::function<void(Bench&)>& body) {
  sys::testing::real_world().run([&](sys::World& world, const std::string& dir) {
    MemoryBucket bucket;
    TrickyStore store(bucket, world.clock);
    Bench bench = {.world = world, .dir = dir, .store = store};
    body(bench);
  });
}

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
    ASSERT_FALSE(bench.run({bench.upload("a", "k")}));
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
    ASSERT_FALSE(bench.run({bench.download("k", "b")}));
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

// Copies what `first` has begun to the end, part by part from `index`.
void copy_rest(Target& first, Source& source, std::uint64_t index, std::uint64_t parts) {
  Bytes buffer;
  for (; index < parts; ++index) ASSERT_TRUE(first.copy_part(index, source, buffer, {}));
}

void expect_refused(const Bench& bench, const Result<CopyProgress>& second) {
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
  EXPECT_NE(second.error().to_string().find("another copy to " + bench.dir + "/b is under way"),
            std::string::npos)
      << second.error().to_string();
}

TEST(Copier, ASecondCopyToTheSameFileIsRefusedAndHarmsNothing) {
  with_bench([](Bench& bench) {
    const std::string text = random_text(5 * kPart);
    ASSERT_TRUE(bench.store.put("k", as_bytes(text), WriteIf::always(), {}));
    const auto source = bench.open_object("k");
    const std::unique_ptr<Target> first = bench.file_target("b");
    ASSERT_TRUE(first->begin({.size = text.size(), .part_bytes = kPart}, source->identity(), {}));
    copy_rest(*first, *source, 0, 2);
    expect_refused(bench, bench.run({bench.download("k", "b")}));
    copy_rest(*first, *source, 2, 5);
    ASSERT_TRUE(first->finish(0, {}));
    EXPECT_EQ(bench.read("b"), text);
    EXPECT_EQ(bench.names(), std::vector<std::string>{"b"});
    EXPECT_TRUE(bench.run({bench.download("k", "b")}));
  });
}

// As by kill -9: what keeps others away ends with it, and what it has written counts.
TEST(Copier, GoesOnWithADownloadThatWasKilled) {
  sim::Simulation simulation({.seed = 1});
  sim::Machine& machine = simulation.add_machine("m");
  MemoryBucket bucket;
  const std::string text = random_text(5 * kPart);
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          TrickyStore store(bucket, world.clock);
          const Bench bench = {.world = world, .dir = "", .store = store};
          ASSERT_TRUE(store.put("k", as_bytes(text), WriteIf::always(), {}));
          machine.processes().install("cp", [&](sim::SimProcessSelf&) {
            const auto source = bench.open_object("k");
            const std::unique_ptr<Target> target = bench.file_target("b");
            EXPECT_TRUE(
                target->begin({.size = text.size(), .part_bytes = kPart}, source->identity(), {}));
            copy_rest(*target, *source, 0, 2);
            (void)world.clock.sleep_for(std::chrono::hours(1), {});
            return 0;
          });
          const auto cp = world.processes.spawn({.argv = {"cp"}});
          ASSERT_TRUE(cp);
          ASSERT_TRUE(world.clock.sleep_for(std::chrono::minutes(1), {}));
          expect_refused(bench, bench.run({bench.download("k", "b")}));
          ASSERT_TRUE((*cp)->signal(SIGKILL));
          ASSERT_TRUE((*cp)->wait({}));
          const auto done = bench.run({bench.download("k", "b")});
          ASSERT_TRUE(done) << done.error().to_string();
          EXPECT_EQ(done->bytes_resumed, 2 * kPart);
          EXPECT_EQ(bench.read("b"), text);
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

// Two at once, large or small, in many orders of events: each is whole or refused.
TEST(Copier, CopiesToTheSameFileDoNotMix) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    testing::in_simulation(seed, [seed](sys::World& world) {
      MemoryBucket bucket;
      TrickyStore store(bucket, world.clock);
      const Bench bench = {.world = world, .dir = "/d", .store = store};
      ASSERT_TRUE(world.files.make_dir(bench.dir));
      const std::size_t size = seed % 2 == 0 ? kPart / 2 : 3 * kPart;
      const std::array<std::string, 2> texts = {random_text(size), random_text(size + 1)};
      std::vector<std::unique_ptr<sys::Thread>> threads;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string key = fmt::format("k{}", i);
        ASSERT_TRUE(store.put(key, as_bytes(texts[i]), WriteIf::always(), {}));
        threads.push_back(world.threads.spawn(key, [&, key](const std::stop_token&) {
          for (int round = 0; round < 5; ++round) {
            const auto done = bench.run({bench.download(key, "b")});
            EXPECT_TRUE(done || done.error().code() == ErrorCode::kUnavailable);
            const std::string seen = bench.read("b");
            EXPECT_TRUE(seen == texts[0] || seen == texts[1]) << "seed " << seed;
          }
        }));
      }
      for (const auto& thread : threads) thread->join();
      EXPECT_EQ(bench.names(), std::vector<std::string>{"b"}) << "seed " << seed;
    });
  }
}

TEST(Copier, ASmallFileThatCannotBeWrittenLeavesNothingBehind) {
  with_bench([](Bench& bench) {
    ASSERT_TRUE(bench.store.put("k", as_bytes("small"), WriteIf::always(), {}));
    ASSERT_TRUE(sys::make_dirs(bench.world.files, bench.dir + "/b/in the way"));
    EXPECT_FALSE(bench.run({bench.download("k", "b")}));
    EXPECT_EQ(bench.names(), std::vector<std::string>{"b"});
  });
}

TEST(Copier, WhatAKilledSmallCopyLeftIsNotInTheWay) {
  with_bench([](Bench& bench) {
    ASSERT_TRUE(bench.store.put("k", as_bytes("small"), WriteIf::always(), {}));
    bench.write("b.outlast-new-0", "sma");
    ASSERT_TRUE(bench.run({bench.download("k", "b")}));
    EXPECT_EQ(bench.read("b"), "small");
    EXPECT_EQ(bench.names(), (std::vector<std::string>{"b", "b.outlast-new-0"}));
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
