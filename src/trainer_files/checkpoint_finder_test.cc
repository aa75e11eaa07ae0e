#include "trainer_files/checkpoint_finder.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "sim/simulation.h"
#include "sys/testing/real_world_maker.h"
#include "sys/testing/world_maker.h"
#include "sys/world.h"
#include "trainer_files/testing/made_files.h"
#include "trainer_files/testing/trainer_rig.h"

namespace outlast::trainer_files::testing {
namespace {
namespace checkpoint_finder_test {

using Paths = std::vector<std::string>;

const std::string kWholeZip = made_zip(std::string(200, 'z'), {.is_large = true});

class Finders : public ::testing::TestWithParam<sys::testing::WorldMaker> {};

TEST_P(Finders, FindWhereCheckpointsAreWrittenInPlace) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("train.py", "code");
    rig.file("data/train.npz", kWholeZip);
    rig.look(0);
    EXPECT_EQ(rig.finder().folder(), std::nullopt);
    EXPECT_FALSE(rig.finder().state().is_ready);
    EXPECT_EQ(rig.report(),
              "found no checkpoints yet\n"
              "left out data/train.npz: was there before the start and has not changed\n");
    rig.half("out/ckpt.pt", kWholeZip);
    rig.look(1000);
    EXPECT_EQ(rig.standing("out/ckpt.pt"), "being written");
    EXPECT_FALSE(rig.finder().state().is_ready);
    rig.file("out/ckpt.pt", kWholeZip);
    rig.look(1, {"out/ckpt.pt"});
    EXPECT_EQ(rig.standing("out/ckpt.pt"), "being written");  // whole, but open
    rig.look(1);
    EXPECT_EQ(rig.standing("out/ckpt.pt"), "complete");
    EXPECT_EQ(rig.finder().folder(), "out");
    const CommitState first = rig.finder().state();
    EXPECT_TRUE(first.is_ready);
    EXPECT_EQ(first.paths, (Paths{"out/ckpt.pt"}));
    // The second save destroys the first.
    rig.half("out/ckpt.pt", kWholeZip);
    rig.look(1000);
    EXPECT_FALSE(rig.finder().state().is_ready);
    rig.file("out/ckpt.pt", kWholeZip);
    rig.look(1000);
    EXPECT_TRUE(rig.finder().state().is_ready);
    EXPECT_NE(rig.finder().state().fingerprint, first.fingerprint);
    EXPECT_EQ(rig.report(),
              "found checkpoints in out/: ckpt.pt (nanoGPT, written in place)\n"
              "left out data/train.npz: was there before the start and has not changed\n");
  });
}

TEST_P(Finders, WaitForAFileThatIsOverwrittenAndNotForANewOne) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    rig.file("weights/last.pt", kWholeZip);
    rig.file("weights/best.pt", kWholeZip);
    rig.look(100);
    EXPECT_TRUE(rig.finder().state().is_ready);
    rig.half("weights/last.pt", kWholeZip);
    rig.look(100);
    EXPECT_FALSE(rig.finder().state().is_ready);
    EXPECT_EQ(rig.finder().state().why_not,
              "'weights/last.pt' is being written again: it has no end record yet");
    rig.file("weights/last.pt", kWholeZip);
    rig.half("weights/epoch5.pt", kWholeZip);
    rig.look(100);
    EXPECT_TRUE(rig.finder().state().is_ready);
    EXPECT_EQ(rig.finder().state().paths, (Paths{"weights/best.pt", "weights/last.pt"}));
    // A trainer that dies while it overwrites leaves no state that is worth having.
    rig.half("weights/last.pt", kWholeZip);
    rig.look(100);
    rig.look(100'000);
    EXPECT_EQ(rig.standing("weights/last.pt"), "abandoned");
    EXPECT_FALSE(rig.finder().state().is_ready);
  });
}

TEST_P(Finders, AskForQuietWhereNothingProvesTheEnd) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    rig.file("model.pkl", made_pickle("trees"));
    rig.look(1000);
    EXPECT_EQ(rig.standing("model.pkl"), "being written");
    rig.look(1900);
    EXPECT_EQ(rig.standing("model.pkl"), "being written");
    rig.file("model.pkl", made_pickle("more trees"));
    rig.look(200);  // touched: from the beginning
    EXPECT_EQ(rig.standing("model.pkl"), "being written");
    EXPECT_EQ(rig.report(),
              "found checkpoints in ./: model.pkl (pickle)\n"
              "model.pkl is not complete yet: it ends as a pickle does, and is complete when it "
              "has not changed for 2s\n");
    rig.look(2000, {"model.pkl"});
    EXPECT_EQ(rig.standing("model.pkl"), "being written");
    rig.look(1);
    EXPECT_EQ(rig.standing("model.pkl"), "complete");
  });
}

TEST_P(Finders, FollowHuggingFaceThroughItsRotation) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    const auto save = [&](int step) {
      const std::string name = fmt::format("out/checkpoint-{}", step);
      rig.file(name + "/model.safetensors", made_safetensors(300));
      rig.look(100);
      EXPECT_EQ(rig.standing(name), "being written");
      rig.file(name + "/optimizer.pt", kWholeZip);
      rig.look(60'000);
      EXPECT_EQ(rig.standing(name), "being written");
      rig.file(name + "/trainer_state.json", fmt::format(R"({{"global_step": {}}})", step));
      rig.look(100);
      EXPECT_EQ(rig.standing(name), "being written");
      rig.look(5000);
      EXPECT_EQ(rig.standing(name), "complete");
    };
    rig.look(0);
    save(100);
    save(200);
    EXPECT_EQ(rig.finder().folder(), "out");
    EXPECT_EQ(rig.finder().state().step, 200U);
    EXPECT_EQ(rig.finder().state().paths.size(), 8U);
    // The old folder goes, file by file.
    rig.remove("out/checkpoint-100/model.safetensors");
    rig.look(100);
    EXPECT_FALSE(rig.finder().state().is_ready);
    rig.remove("out/checkpoint-100");
    rig.look(100);
    const CommitState state = rig.finder().state();
    EXPECT_TRUE(state.is_ready);
    EXPECT_EQ(state.paths,
              (Paths{"out/checkpoint-200", "out/checkpoint-200/model.safetensors",
                     "out/checkpoint-200/optimizer.pt", "out/checkpoint-200/trainer_state.json"}));
  });
}

TEST_P(Finders, DoNotTrustAFolderThatChangesAfterItWasComplete) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    rig.file("ckpts/12.orbax-checkpoint-tmp-0/_CHECKPOINT_METADATA", "{}");
    rig.file("ckpts/12.orbax-checkpoint-tmp-0/default/manifest.ocdbt", "m");
    rig.look(100'000);
    EXPECT_FALSE(rig.finder().state().is_ready);
    rig.rename("ckpts/12.orbax-checkpoint-tmp-0", "ckpts/12");
    rig.look(10);
    EXPECT_EQ(rig.standing("ckpts/12"), "complete");
    EXPECT_EQ(rig.finder().state().step, 12U);
    rig.remove("ckpts/12/default");  // its name is still its final one
    rig.look(10);
    EXPECT_EQ(rig.standing("ckpts/12"), "being written");
    rig.look(4000);
    EXPECT_FALSE(rig.finder().state().is_ready);
  });
}

TEST_P(Finders, LeaveOutWhatATrainerLeftHalfWritten) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    rig.file("checkpoints/checkpoint_1.pth", kWholeZip);
    rig.half("checkpoints/checkpoint_2.pth", kWholeZip);
    rig.look(100);
    rig.look(59'000);
    EXPECT_EQ(rig.standing("checkpoints/checkpoint_2.pth"), "being written");
    rig.look(1000);
    EXPECT_EQ(rig.standing("checkpoints/checkpoint_2.pth"), "abandoned");
    EXPECT_EQ(rig.finder().state().paths, (Paths{"checkpoints/checkpoint_1.pth"}));
    EXPECT_EQ(rig.finder().state().epoch, 1U);
    EXPECT_EQ(rig.report(),
              "found checkpoints in checkpoints/: checkpoint_1.pth (PyTorch)\n"
              "left out checkpoints/checkpoint_2.pth: it has no end record yet, and nobody goes on "
              "writing it\n");
  });
}

TEST_P(Finders, KeepWhatWasRestored) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir, {.restored = {"out/epoch_1.pth", "out/model.pkl"}});
    rig.file("out/epoch_1.pth", kWholeZip);
    rig.file("out/model.pkl", made_pickle("x"));
    rig.file("pretrained.pth", kWholeZip);
    rig.look(0);
    EXPECT_EQ(rig.finder().state().paths, (Paths{"out/epoch_1.pth", "out/model.pkl"}));
    rig.file("out/epoch_2.pth", kWholeZip);
    rig.look(10);
    EXPECT_EQ(rig.finder().state().paths,
              (Paths{"out/epoch_1.pth", "out/epoch_2.pth", "out/model.pkl"}));
    EXPECT_EQ(rig.finder().folder(), "out");
  });
}

TEST_P(Finders, SayWhatTheyLeaveOutAndWhy) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    for (int i = 0; i < 3; ++i) rig.file(fmt::format("images/{}.npz", i), kWholeZip);
    rig.file("env/pyvenv.cfg", "");
    rig.look(0);
    rig.file("data/processed/training.pt", kWholeZip);
    rig.file("hub/resnet50-0676ba61.pth", kWholeZip);
    rig.file("runs/events.out.tfevents.1.host", "events");
    for (int i = 0; i < 6; ++i) rig.file(fmt::format("run/a/epoch_{}.pth", i), kWholeZip);
    rig.file("run/b/epoch_0.pth", kWholeZip);
    rig.look(100);
    EXPECT_EQ(rig.report(),
              "found checkpoints in run/: a/epoch_0.pth, a/epoch_1.pth, a/epoch_2.pth, "
              "a/epoch_3.pth and 3 more (MMEngine)\n"
              "left out data/processed/training.pt: was written once, into a folder of data "
              "('data')\n"
              "left out hub/resnet50-0676ba61.pth: has the name of downloaded weights\n"
              "left out images/ (3 files): was there before the start and has not changed\n"
              "left out runs/events.out.tfevents.1.host: TensorBoard event files are no "
              "checkpoints\n"
              "did not look at virtual environments (1)\n");
    EXPECT_EQ(rig.finder().folder(), "run");
    // What is written again and again is a checkpoint wherever it is.
    rig.look(20'000);
    rig.file("data/processed/training.pt", kWholeZip);
    rig.look(100);
    EXPECT_EQ(rig.standing("data/processed/training.pt"), "complete");
    EXPECT_EQ(rig.finder().folder(), "");
  });
}

TEST_P(Finders, TakeLinksAndTheEndOfABackupAsPartOfTheState) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    rig.file("out/tmp.pth.tar", kWholeZip);
    rig.rename("out/tmp.pth.tar", "out/last.pth.tar");
    rig.hardlink("out/last.pth.tar", "out/checkpoint-0.pth.tar");
    rig.file("out/backup/latest.weights.h5", made_hdf5(0, 500));
    rig.file("out/backup/training_metadata.json", R"({"epoch": 4})");
    rig.look(100);
    EXPECT_EQ(rig.finder().state().paths, (Paths{"out/backup", "out/backup/latest.weights.h5",
                                                 "out/backup/training_metadata.json",
                                                 "out/checkpoint-0.pth.tar", "out/last.pth.tar"}));
    EXPECT_EQ(rig.finder().state().epoch, 4U);
    rig.remove("out/backup");
    rig.file("out/tmp.pth.tar", kWholeZip);
    rig.rename("out/tmp.pth.tar", "out/last.pth.tar");
    rig.look(100);
    EXPECT_EQ(rig.finder().state().paths, (Paths{"out/checkpoint-0.pth.tar", "out/last.pth.tar"}));
  });
}

TEST_P(Finders, NoticeThatOnlyThePointerMoved) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    rig.file("epoch_1.pth", kWholeZip);
    rig.file("last_checkpoint", "epoch_1.pth");
    rig.file("epoch_2.pth", kWholeZip);
    rig.look(100);
    const CommitState before = rig.finder().state();
    EXPECT_EQ(before.paths, (Paths{"epoch_1.pth", "epoch_2.pth", "last_checkpoint"}));
    rig.look(100);
    EXPECT_EQ(rig.finder().state().fingerprint, before.fingerprint);
    rig.file("last_checkpoint", "epoch_2.pth");
    rig.look(100);
    const CommitState after = rig.finder().state();
    EXPECT_TRUE(after.is_ready);
    EXPECT_EQ(after.paths, before.paths);
    EXPECT_NE(after.fingerprint, before.fingerprint);
  });
}

TEST_P(Finders, WaitForAFileThatIsRemovedBeforeItIsReplaced) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    rig.file("out/last.pth.tar", kWholeZip);
    rig.hardlink("out/last.pth.tar", "out/checkpoint-0.pth.tar");
    rig.look(100);
    EXPECT_TRUE(rig.finder().state().is_ready);
    rig.file("out/tmp.pth.tar", kWholeZip);
    rig.remove("out/last.pth.tar");
    rig.look(100);
    EXPECT_EQ(rig.finder().state().why_not, "'out/last.pth.tar' was removed just now");
    rig.rename("out/tmp.pth.tar", "out/last.pth.tar");
    rig.look(100);
    EXPECT_TRUE(rig.finder().state().is_ready);
    // And one that stays away is gone.
    rig.remove("out/last.pth.tar");
    rig.look(100);
    EXPECT_FALSE(rig.finder().state().is_ready);
    rig.look(2000);
    EXPECT_TRUE(rig.finder().state().is_ready);
    EXPECT_EQ(rig.finder().state().paths, (Paths{"out/checkpoint-0.pth.tar"}));
  });
}

TEST_P(Finders, SayNothingOfATreeThatIsTooLarge) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    CheckpointFinder finder(world.files, {});
    finder.observe(rig.list(), MonoTime(), {});
    rig.file("a.pt", kWholeZip);
    rig.file("b.pt", kWholeZip);
    finder.observe(rig.list({.entries_max = 1}), MonoTime(), {});
    EXPECT_FALSE(finder.state().is_ready);
    EXPECT_EQ(finder.report().back(),
              "stopped looking after 1 files and folders: name the folder of the checkpoints in "
              "the job file (checkpoint: {dir: …})");
    finder.observe(rig.list({.entries_max = 2}), MonoTime(), {});
    EXPECT_TRUE(finder.state().is_ready);
  });
}

TEST_P(Finders, DoNotBelieveAListingThatWasDisturbed) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    CheckpointFinder finder(world.files, {});
    finder.observe(rig.list(), MonoTime(), {});
    rig.file("a.pt", kWholeZip);
    finder.observe(rig.list(), MonoTime(), {});
    TreeListing disturbed(dir, {});
    disturbed.disturbed = true;
    finder.observe(disturbed, MonoTime(), {});
    EXPECT_EQ(finder.state().paths, (Paths{"a.pt"}));
  });
}

TEST_P(Finders, SetsInTheRootOfTheTreeMakeItTheFolder) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    rig.file("checkpoint.pth.tar", kWholeZip);
    rig.look(10);
    EXPECT_EQ(rig.finder().folder(), "");
    EXPECT_EQ(rig.report(),
              "found checkpoints in ./: checkpoint.pth.tar (PyTorch imagenet example)\n");
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, Finders,
                         ::testing::Values(sys::testing::real_world(), simulated_world()));

TEST(CheckpointFinder, ATreeThatDoesNotChangeIsNotReadAgain) {
  sim::Simulation simulation({.seed = 1});
  sim::Machine& machine = simulation.add_machine("m1");
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          TrainerRig rig(world, "");
          rig.file("images/1.npz", kWholeZip);
          rig.look(0);
          rig.file("out/ckpt.pt", kWholeZip);
          rig.file("out/model.pkl", made_pickle("x"));
          int opened = 0;
          machine.files().set_fault(
              [&](std::string_view operation, const std::string&) -> std::optional<Error> {
                if (operation == "open") ++opened;
                return std::nullopt;
              });
          rig.look(1000);
          EXPECT_EQ(opened, 2);  // nothing that was there at the start
          // Again, until they cannot have changed within one step of the file system's clock.
          rig.look(1000);
          EXPECT_EQ(opened, 4);
          rig.look(1500);
          EXPECT_EQ(opened, 6);
          for (int i = 0; i < 5; ++i) rig.look(1000);
          EXPECT_EQ(opened, 6);
          machine.files().set_fault({});
          rig.half("out/ckpt.pt", kWholeZip);
          rig.look(1000);
          EXPECT_EQ(rig.standing("out/ckpt.pt"), "being written");
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

}  // namespace checkpoint_finder_test
}  // namespace
}  // namespace outlast::trainer_files::testing
