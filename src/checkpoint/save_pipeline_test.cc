#include "checkpoint/save_pipeline.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "base/encoding.h"
#include "base/random.h"
#include "base/result.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/tree_scan.h"
#include "checkpoint/writer.h"
#include "store/memory_store.h"
#include "sys/file_ops.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::checkpoint {
namespace pipeline_test {

// A file of random bytes is saved so that its workers stand back, and restored: what is there then.
bool saves_all(const SaveOptions& options) {
  bool is_same = false;
  sys::testing::real_world().run([&](sys::World& world, const std::string& dir) {
    store::MemoryBucket bucket;
    store::MemoryStore root(bucket, world.clock);
    Random random(1);
    std::string text;
    while (text.size() < 9'000'000) text += static_cast<char>(random.next());
    const std::string file = dir + "/model.bin";
    ASSERT_TRUE(sys::write_file_atomically(world.files, file, as_bytes(text)));
    State state;
    state.files = scan_tree(world.files, {file}, {}).value().found;
    const auto job = Checkpoints::open({.root = root,
                                        .files = world.files,
                                        .threads = world.threads,
                                        .clock = world.clock,
                                        .random = world.random,
                                        .writer = "test"},
                                       "j", {})
                         .value();
    const Result<Saved> saved = job->save(state, {.options = options}, {});
    ASSERT_TRUE(saved) << saved.error().to_string();
    const Result<Restored> restored = job->restore({.folder = dir + "/back"}, {});
    ASSERT_TRUE(restored) << restored.error().to_string();
    is_same = sys::read_file(world.files, dir + "/back/model.bin", 1U << 30U).value() == text;
  });
  return is_same;
}

TEST(SavePipeline, ASaveThatStandsBackSavesAll) {
  EXPECT_TRUE(saves_all({.workers = 3, .pack_bytes = 100'000, .stands_back = true}));
}

TEST(SavePipeline, ASaveThatIsHurriedFromTheStartSavesAll) {
  std::stop_source hurry;
  hurry.request_stop();
  EXPECT_TRUE(saves_all(
      {.workers = 3, .pack_bytes = 100'000, .stands_back = true, .hurry = hurry.get_token()}));
}

TEST(SavePipeline, ASaveThatIsHurriedMidwaySavesAll) {
  std::stop_source hurry;
  EXPECT_TRUE(saves_all({.workers = 3,
                         .pack_bytes = 100'000,
                         .watch =
                             [&](const SaveProgress& progress) {
                               if (progress.bytes_known > 0) hurry.request_stop();
                             },
                         .stands_back = true,
                         .hurry = hurry.get_token()}));
}

}  // namespace pipeline_test
}  // namespace outlast::checkpoint
