#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/encoding.h"
#include "checkpoint/testing/fuzz_manifest.h"
#include "checkpoint/testing/fuzz_pack.h"
#include "checkpoint/testing/fuzz_safetensors.h"
#include "sys/file_ops.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::checkpoint {
namespace {
namespace corpus_test {

// Every input that was ever interesting, given to what looks for broken promises.
void try_all(const std::string& name, const std::function<void(const std::string&)>& look) {
  sys::testing::real_world().run([&](sys::World& world, const std::string&) {
    const std::string folder = OUTLAST_SOURCE_DIR "/tests/corpus/" + name;
    const auto entries = world.files.list(folder);
    ASSERT_TRUE(entries) << entries.error().to_string();
    ASSERT_FALSE(entries->empty());
    for (const auto& entry : *entries) {
      const auto bytes = sys::read_file(world.files, folder + "/" + entry.name, 1U << 20U);
      ASSERT_TRUE(bytes) << bytes.error().to_string();
      look(*bytes);
    }
  });
}

TEST(CheckpointCorpus, ManifestsKeepThePromises) {
  try_all("manifest", [](const std::string& text) { testing::fuzz_manifest(text); });
}

TEST(CheckpointCorpus, PacksKeepThePromises) {
  try_all("pack", [](const std::string& text) { testing::fuzz_pack(as_bytes(text)); });
}

TEST(CheckpointCorpus, SafetensorsKeepThePromises) {
  try_all("safetensors",
          [](const std::string& text) { testing::fuzz_safetensors(as_bytes(text)); });
}

}  // namespace corpus_test
}  // namespace
}  // namespace outlast::checkpoint
