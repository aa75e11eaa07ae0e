#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sys/testing/real_world_maker.h"
#include "sys/testing/world_maker.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"
#include "trainer_files/testing/made_files.h"
#include "trainer_files/testing/trainer_rig.h"

// Checkpoints that are folders, or several files. Each test does what the trainer does, in its
// order.
namespace outlast::trainer_files::testing {
namespace {
namespace folder_layouts_test {

using Paths = std::vector<std::string>;

const std::string kZipFile = made_zip(std::string(200, 'z'), {.is_large = true});

class FolderLayouts : public ::testing::TestWithParam<sys::testing::WorldMaker> {};

TEST_P(FolderLayouts, HuggingFaceWritesItsStateLast) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    const std::string name = "out/checkpoint-500";
    rig.half(name + "/model.safetensors", made_safetensors(400));
    EXPECT_EQ(rig.state(name), "incomplete");
    rig.file(name + "/model.safetensors", made_safetensors(400));
    rig.file(name + "/training_args.bin", kZipFile);
    EXPECT_EQ(rig.state(name), "incomplete");
    rig.file(name + "/optimizer.pt", kZipFile);
    rig.file(name + "/scheduler.pt", kZipFile);
    rig.file(name + "/rng_state.pth", kZipFile);
    EXPECT_EQ(rig.state(name), "incomplete");
    rig.half(name + "/trainer_state.json", R"({"global_step": 500, "epoch": 1.25})");
    EXPECT_EQ(rig.state(name), "incomplete");
    rig.file(name + "/trainer_state.json", R"({"global_step": 500, "epoch": 1.25})");
    const FoundSet set = rig.find(name);
    EXPECT_EQ(set.layout->name, "Hugging Face Trainer");
    EXPECT_EQ(set.state, SetState::kUnsure) << set.why;
    EXPECT_EQ(set.facts, (NameFacts{.step = 500, .epoch = 1}));
    EXPECT_EQ(set.paths.size(), 7U);
    EXPECT_EQ(set.paths.front(), name);
    EXPECT_EQ(rig.find().size(), 1U);
    rig.half(name + "/optimizer.pt", kZipFile);
    EXPECT_EQ(rig.state(name), "incomplete");
  });
}

TEST_P(FolderLayouts, AJustInTimeSaveIsIncompleteUntilItsSentinelIsGone) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    const std::string name = "checkpoint-7";
    rig.file(name + "/checkpoint-is-incomplete.txt", "x");
    EXPECT_EQ(rig.state(name), "incomplete");
    rig.file(name + "/model.safetensors", made_safetensors(4));
    rig.file(name + "/trainer_state.json", "{}");
    EXPECT_EQ(rig.state(name), "incomplete");
    rig.remove(name + "/checkpoint-is-incomplete.txt");
    EXPECT_EQ(rig.state(name), "unsure");
  });
}

TEST_P(FolderLayouts, ShardsOfPyTorchAreNoTornZips) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("checkpoint-7/pytorch_model_fsdp_0/__0_0.distcp", kZipFile + kZipFile);
    rig.file("checkpoint-7/pytorch_model_fsdp_0/.metadata", made_pickle("plan"));
    rig.file("checkpoint-7/trainer_state.json", "{}");
    EXPECT_EQ(rig.state("checkpoint-7"), "unsure");
    EXPECT_EQ(rig.find().size(), 1U);
  });
}

TEST_P(FolderLayouts, AccelerateWritesItsRandomStatesLast) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("out/step_300/model.safetensors", made_safetensors(9));
    rig.file("out/step_300/optimizer.bin", kZipFile);
    EXPECT_EQ(rig.state("out/step_300"), "incomplete");
    rig.file("out/step_300/random_states_0.pkl", made_pickle("seed"));
    EXPECT_EQ(rig.state("out/step_300"), "unsure");
    EXPECT_EQ(rig.find("out/step_300").layout->name, "Accelerate");
  });
}

TEST_P(FolderLayouts, DistributedCheckpointsAreSealedByTheirMetadata) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("dcp/step-20/__0_0.distcp", kZipFile);
    rig.file("dcp/step-20/__1_0.distcp", kZipFile);
    EXPECT_EQ(rig.state("dcp/step-20"), "incomplete");
    rig.file("dcp/step-20/.metadata.tmp", made_pickle("plan"));
    EXPECT_EQ(rig.state("dcp/step-20"), "incomplete");
    rig.rename("dcp/step-20/.metadata.tmp", "dcp/step-20/.metadata");
    const FoundSet set = rig.find("dcp/step-20");
    EXPECT_EQ(set.state, SetState::kComplete) << set.why;
    EXPECT_EQ(set.layout->name, "PyTorch DCP");
    EXPECT_EQ(set.facts.step, 20U);
    // A log beside it grows all the time, and would never let it be saved.
    rig.file("dcp/step-20/train.log", "a line\n");
    EXPECT_EQ(rig.find("dcp/step-20").paths, set.paths);
    EXPECT_EQ(rig.state("dcp/step-20"), "complete");
    // Into the same folder once more.
    rig.file("dcp/step-20/__0_0.distcp", kZipFile);
    EXPECT_EQ(rig.state("dcp/step-20"), "unsure");
  });
}

TEST_P(FolderLayouts, TheWholeTreeMayBeOneCheckpoint) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("__0_0.distcp", kZipFile);
    EXPECT_EQ(rig.state(""), "incomplete");
    rig.file(".metadata", made_pickle("plan"));
    EXPECT_EQ(rig.state(""), "complete");
    EXPECT_EQ(rig.find("").paths, (Paths{".metadata", "__0_0.distcp"}));
  });
}

TEST_P(FolderLayouts, DeepSpeedsTextFileNamesTheNewest) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("ds/global_step10/mp_rank_00_model_states.pt", kZipFile);
    EXPECT_EQ(rig.state("ds/global_step10"), "incomplete");
    rig.file("ds/latest", "global_step10");
    EXPECT_EQ(rig.state("ds/global_step10"), "complete");
    EXPECT_EQ(rig.find("ds/global_step10").paths.back(), "ds/latest");
    rig.half("ds/global_step20/mp_rank_00_model_states.pt", kZipFile);
    EXPECT_EQ(rig.state("ds/global_step20"), "incomplete");
    rig.file("ds/global_step20/mp_rank_00_model_states.pt", kZipFile);
    EXPECT_EQ(rig.state("ds/global_step20"), "incomplete");
    rig.file("ds/latest", "global_step20\n");
    EXPECT_EQ(rig.state("ds/global_step20"), "complete");
    EXPECT_EQ(rig.state("ds/global_step10"), "complete");
    EXPECT_EQ(rig.find("ds/global_step20").layout->name, "DeepSpeed");
    EXPECT_EQ(rig.find("ds/global_step10").paths.size(), 2U);
  });
}

TEST_P(FolderLayouts, MegatronsTextFileHasANumber) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("iter_0000100/mp_rank_00/model_optim_rng.pt", kZipFile);
    EXPECT_EQ(rig.state("iter_0000100"), "incomplete");
    rig.file("latest_checkpointed_iteration.txt", "50");
    EXPECT_EQ(rig.state("iter_0000100"), "incomplete");
    rig.file("latest_checkpointed_iteration.txt", "100");
    const FoundSet set = rig.find("iter_0000100");
    EXPECT_EQ(set.state, SetState::kComplete) << set.why;
    EXPECT_EQ(set.facts.step, 100U);
    EXPECT_EQ(set.paths.back(), "latest_checkpointed_iteration.txt");
    rig.file("latest_checkpointed_iteration.txt", "");
    EXPECT_EQ(rig.state("iter_0000100"), "incomplete");
  });
}

TEST_P(FolderLayouts, OrbaxRenamesItsFolder) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    const std::string unfinished = "ckpts/12.orbax-checkpoint-tmp-1700000000";
    rig.file(unfinished + "/default.orbax-checkpoint-tmp-3/manifest.ocdbt", "x");
    EXPECT_EQ(rig.state(unfinished), "incomplete");
    rig.rename(unfinished + "/default.orbax-checkpoint-tmp-3", unfinished + "/default");
    rig.file(unfinished + "/_CHECKPOINT_METADATA", "{}");
    EXPECT_EQ(rig.state(unfinished), "incomplete");
    rig.rename(unfinished, "ckpts/12");
    const FoundSet set = rig.find("ckpts/12");
    EXPECT_EQ(set.state, SetState::kComplete);
    EXPECT_EQ(set.layout->name, "Orbax");
    EXPECT_EQ(set.facts.step, 12U);
    EXPECT_EQ(rig.find().size(), 1U);
    rig.file("ckpts/13/default/checkpoint", "of older versions");
    EXPECT_EQ(rig.state("ckpts/13"), "complete");
  });
}

TEST_P(FolderLayouts, FoldersOfImagesAreNoCheckpoints) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("mnist/7/0001.png", "picture");
    rig.file("12/notes.txt", "text");
    rig.file(".metadata/workspace", "of an editor");
    EXPECT_TRUE(rig.find().empty());
  });
}

TEST_P(FolderLayouts, TensorFlowsTextFileNamesItsShards) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("tf/ckpt-4.data-00000-of-00002", "d");
    EXPECT_EQ(rig.state("tf/ckpt-4"), "incomplete");
    rig.file("tf/ckpt-4.index", "i");
    EXPECT_EQ(rig.state("tf/ckpt-4"), "incomplete");
    rig.file("tf/ckpt-4.data-00001-of-00002", "d");
    EXPECT_EQ(rig.state("tf/ckpt-4"), "incomplete");
    rig.file("tf/checkpoint.tmp123", "x");
    rig.rename("tf/checkpoint.tmp123", "tf/checkpoint");
    EXPECT_EQ(rig.state("tf/ckpt-4"), "unsure");  // older than what names something else
    rig.file("tf/checkpoint",
             "model_checkpoint_path: \"ckpt-4\"\nall_model_checkpoint_paths: \"ckpt-3\"\n"
             "all_model_checkpoint_paths: \"ckpt-4\"\nlast_preserved_timestamp: 17.5\n");
    const FoundSet set = rig.find("tf/ckpt-4");
    EXPECT_EQ(set.state, SetState::kComplete) << set.why;
    EXPECT_EQ(set.layout->name, "TensorFlow");
    EXPECT_EQ(set.facts.step, 4U);
    EXPECT_EQ(set.paths, (Paths{"tf/checkpoint", "tf/ckpt-4.data-00000-of-00002",
                                "tf/ckpt-4.data-00001-of-00002", "tf/ckpt-4.index"}));
    EXPECT_EQ(rig.find().size(), 1U);
    rig.remove("tf/ckpt-4.data-00001-of-00002");
    EXPECT_EQ(rig.find("tf/ckpt-4").why, "has 1 of 2 data files");
    EXPECT_EQ(rig.state("tf/ckpt-4"), "incomplete");
    rig.file("tf/ckpt-5.data-00000-of-00001", "d");
    rig.file("tf/ckpt-5.index", "i");
    EXPECT_EQ(rig.state("tf/ckpt-5"), "incomplete");
  });
}

TEST_P(FolderLayouts, BackupAndRestoreIsAFolderThatGoesAway) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("backup/latest.weights.h5", made_hdf5(0, 600));
    rig.file("backup/training_metadata.json", R"({"epoch": 3, "batch": 0})");
    const FoundSet set = rig.find("backup");
    EXPECT_EQ(set.layout->name, "Keras BackupAndRestore");
    EXPECT_EQ(set.state, SetState::kComplete);
    EXPECT_EQ(set.facts.epoch, 3U);
    // The next epoch: a copy, the weights, and then what tells of them.
    rig.file("backup/_latest.weights.h5", made_hdf5(0, 600));
    EXPECT_EQ(rig.state("backup"), "unsure");
    rig.half("backup/latest.weights.h5", made_hdf5(0, 600));
    EXPECT_EQ(rig.state("backup"), "incomplete");
    rig.file("backup/latest.weights.h5", made_hdf5(0, 600));
    EXPECT_EQ(rig.state("backup"), "unsure");
    rig.file("backup/training_metadata.json", R"({"epoch": 4, "batch": 0})");
    EXPECT_EQ(rig.state("backup"), "complete");
    rig.remove("backup");
    EXPECT_TRUE(rig.find().empty());
  });
}

TEST_P(FolderLayouts, AFolderThatOnlyItsNameSpeaksForLeavesItToTime) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.folder("epoch_3");
    EXPECT_EQ(rig.state("epoch_3"), "incomplete");
    rig.file("epoch_3/weights.pt", kZipFile);
    rig.file("epoch_3/tmpfile", "x");
    EXPECT_EQ(rig.state("epoch_3"), "unsure");
    EXPECT_EQ(rig.find("epoch_3").facts.epoch, 3U);
    EXPECT_EQ(rig.find("epoch_3").paths, (Paths{"epoch_3", "epoch_3/weights.pt"}));
    rig.half("epoch_3/weights.pt", kZipFile);
    EXPECT_EQ(rig.state("epoch_3"), "incomplete");
  });
}

TEST_P(FolderLayouts, ASavedModelIsCompleteWithItsGraph) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("Models.05-0.25/variables/variables.index", "i");
    rig.file("Models.05-0.25/saved_model.pb", "graph");
    const FoundSet set = rig.find("Models.05-0.25");
    EXPECT_EQ(set.state, SetState::kUnsure);
    EXPECT_EQ(set.facts, (NameFacts{.epoch = 5, .metrics = {{"val_loss", 0.25}}}));
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, FolderLayouts,
                         ::testing::Values(sys::testing::real_world(), simulated_world()));

}  // namespace folder_layouts_test
}  // namespace
}  // namespace outlast::trainer_files::testing
