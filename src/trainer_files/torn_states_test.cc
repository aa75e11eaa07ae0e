// Moments in which a state must not be taken, and files that must not keep one from being taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "sys/world.h"
#include "trainer_files/checkpoint_finder.h"
#include "trainer_files/testing/made_files.h"
#include "trainer_files/testing/trainer_rig.h"
#include "trainer_files/tree_listing.h"

namespace outlast::trainer_files::testing {
namespace {
namespace torn_states_test {

void with_trainer(const std::function<void(TrainerRig&)>& body) {
  simulated_world().run([&](sys::World& world, const std::string& scratch) {
    TrainerRig trainer(world, scratch);
    trainer.look(0);
    body(trainer);
  });
}

const std::string& zip() {
  static const std::string bytes = made_zip("x");
  return bytes;
}

TEST(TornStates, AFileThatIsRemovedAndWrittenAnewIsWaitedFor) {
  with_trainer([](TrainerRig& trainer) {
    trainer.file("out/ckpt.pt", zip());
    trainer.file("out/best.pt", zip());
    trainer.look(100);
    ASSERT_TRUE(trainer.finder().state().is_ready);
    trainer.remove("out/ckpt.pt");
    trainer.look(100);
    EXPECT_FALSE(trainer.finder().state().is_ready);
    trainer.half("out/ckpt.pt", zip());
    trainer.look(100);
    EXPECT_FALSE(trainer.finder().state().is_ready);
    trainer.file("out/ckpt.pt", zip());
    trainer.look(100);
    EXPECT_EQ(trainer.finder().state().paths.size(), 2U);
  });
}

TEST(TornStates, ShardsThatAreOverwrittenAreNotProvedByTheOldPointer) {
  with_trainer([](TrainerRig& trainer) {
    trainer.file("t/cp.ckpt.data-00000-of-00001", "1111");
    trainer.file("t/cp.ckpt.index", "i1");
    trainer.file("t/checkpoint", "model_checkpoint_path: \"cp.ckpt\"\n");
    trainer.look(100);
    ASSERT_TRUE(trainer.finder().state().is_ready);
    trainer.file("t/cp.ckpt.data-00000-of-00001", "2222");
    trainer.look(100);
    EXPECT_FALSE(trainer.finder().state().is_ready);
    trainer.file("t/cp.ckpt.index", "i2");
    trainer.look(100);
    trainer.look(20'000);
    EXPECT_TRUE(trainer.finder().state().is_ready);
  });
}

TEST(TornStates, APointerThatIsNewerThanTheListingIsNotBelieved) {
  simulated_world().run([](sys::World& world, const std::string& scratch) {
    TrainerRig trainer(world, scratch);
    CheckpointFinder finder(world.files, {});
    MonoTime now(std::chrono::hours(1));
    finder.observe(trainer.list(), now, {});
    trainer.file("o/global_step100/a.pt", zip());
    trainer.file("o/global_step100/b.pt", zip());
    trainer.file("o/latest", "global_step100");
    finder.observe(trainer.list(), now += std::chrono::seconds(1), {});
    ASSERT_EQ(finder.state().step, 100U);
    trainer.half("o/global_step200/a.pt", zip());
    TreeListing listing = trainer.list();
    trainer.file("o/global_step200/a.pt", zip());
    trainer.file("o/global_step200/b.pt", zip());
    trainer.file("o/latest", "global_step200");
    finder.observe(std::move(listing), now += std::chrono::seconds(1), {});
    EXPECT_NE(finder.state().step, 200U);
    finder.observe(trainer.list(), now += std::chrono::seconds(1), {});
    EXPECT_EQ(finder.state().step, 200U);
  });
}

TEST(TornStates, AnEmptySealIsNone) {
  with_trainer([](TrainerRig& trainer) {
    trainer.file("b/latest.weights.h5", made_hdf5(0, 200));
    trainer.file("b/training_metadata.json", "");
    trainer.look(100);
    trainer.look(1'000);
    EXPECT_FALSE(trainer.finder().state().is_ready);
    trainer.file("b/training_metadata.json", "{\"epoch\": 3}");
    trainer.look(100);
    trainer.look(20'000);
    EXPECT_TRUE(trainer.finder().state().is_ready);
  });
}

TEST(TornStates, AnOlderStepThatIsWrittenNowIsNotOld) {
  with_trainer([](TrainerRig& trainer) {
    trainer.file("o/global_step100/m.pt", zip());
    trainer.file("o/latest", "global_step100");
    trainer.look(100);
    ASSERT_TRUE(trainer.finder().state().is_ready);
    trainer.half("o/global_step10/m.pt", zip());  // the script has started over
    trainer.look(100);
    for (const std::string& path : trainer.finder().state().paths) {
      EXPECT_EQ(path.find("global_step10/"), std::string::npos) << path;
    }
  });
}

TEST(CompleteStates, HuggingFaceWithAShardedOptimizer) {
  with_trainer([](TrainerRig& trainer) {
    trainer.file("out/checkpoint-5/model.safetensors", made_safetensors(10));
    trainer.file("out/checkpoint-5/optimizer.bin", zip());
    trainer.file("out/checkpoint-5/rng_state_0.pth", zip());
    // Not JSON, although it begins like it.
    trainer.file("out/checkpoint-5/chat_template.jinja", "{% for m in ms %}{{ m }}<|end|>");
    trainer.file("out/checkpoint-5/trainer_state.json", "{\"global_step\":5}");
    trainer.look(100);
    trainer.look(20'000);
    EXPECT_TRUE(trainer.finder().state().is_ready) << trainer.report();
    EXPECT_EQ(trainer.finder().state().step, 5U);
  });
}

TEST(CompleteStates, ALogBesideOrbaxCheckpointsKeepsNobodyWaiting) {
  with_trainer([](TrainerRig& trainer) {
    for (const std::string step : {"100", "200"}) {
      trainer.file("runs/exp_1/" + step + "/_METADATA", "{}");
      trainer.file("runs/exp_1/" + step + "/manifest.ocdbt", "x");
    }
    for (int i = 0; i < 30; ++i) {
      trainer.file("runs/exp_1/train.log", "line " + std::to_string(i));
      trainer.look(1'000);
    }
    EXPECT_TRUE(trainer.finder().state().is_ready) << trainer.report();
    EXPECT_EQ(trainer.finder().state().step, 200U);
  });
}

TEST(CompleteStates, TheTagThatDeepSpeedNeedsIsSaved) {
  with_trainer([](TrainerRig& trainer) {
    trainer.file("o/epoch-last/mp_rank_00_model_states.pt", zip());
    trainer.file("o/latest", "epoch-last");
    trainer.look(100);
    trainer.look(20'000);
    const std::vector<std::string> paths = trainer.finder().state().paths;
    EXPECT_NE(std::find(paths.begin(), paths.end(), "o/latest"), paths.end()) << trainer.report();
  });
}

}  // namespace torn_states_test
}  // namespace
}  // namespace outlast::trainer_files::testing
