#include "trainer_files/layouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sys/testing/real_world_maker.h"
#include "sys/testing/world_maker.h"
#include "sys/world.h"
#include "trainer_files/file_looks.h"
#include "trainer_files/layout_table.h"
#include "trainer_files/testing/made_files.h"
#include "trainer_files/testing/trainer_rig.h"
#include "trainer_files/tree_listing.h"

// Checkpoints that are files. Each test does what the trainer does, in its order.
namespace outlast::trainer_files::testing {
namespace {
namespace layouts_test {

using Paths = std::vector<std::string>;

const std::string kZip = made_zip(std::string(200, 'z'), {.is_large = true});

class FileLayouts : public ::testing::TestWithParam<sys::testing::WorldMaker> {};

TEST_P(FileLayouts, TorchSaveInPlaceIsCompleteWithItsEndRecord) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    EXPECT_EQ(rig.state("out/ckpt.pt"), "none");
    rig.file("out/ckpt.pt", "");
    EXPECT_EQ(rig.state("out/ckpt.pt"), "incomplete");
    rig.half("out/ckpt.pt", kZip);
    EXPECT_EQ(rig.state("out/ckpt.pt"), "incomplete");
    rig.file("out/ckpt.pt", kZip);
    EXPECT_EQ(rig.state("out/ckpt.pt"), "complete");
    EXPECT_EQ(rig.find("out/ckpt.pt").layout->name, "nanoGPT");
    rig.half("out/ckpt.pt", kZip);  // the next save
    EXPECT_EQ(rig.state("out/ckpt.pt"), "incomplete");
  });
}

TEST_P(FileLayouts, AFileThatIsNoLongerWhatWasListedIsNotComplete) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("ckpt.pt", kZip);
    const TreeListing listing = rig.list();
    rig.file("ckpt.pt", kZip);  // whole again, but what was before may be what gets saved
    FileLooks looks(world.files);
    const std::vector<FoundSet> found = find_sets(listing, looks);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].state, SetState::kIncomplete);
    EXPECT_EQ(found[0].why, "changed while it was looked at");
    rig.remove("ckpt.pt");
    FileLooks later(world.files);
    EXPECT_EQ(find_sets(listing, later)[0].state, SetState::kIncomplete);
  });
}

TEST_P(FileLayouts, TheImagenetExampleCopiesItsBest) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("checkpoint.pth.tar", kZip);
    rig.half("model_best.pth.tar", kZip);
    EXPECT_EQ(rig.state("checkpoint.pth.tar"), "complete");
    EXPECT_EQ(rig.state("model_best.pth.tar"), "incomplete");
    rig.file("model_best.pth.tar", kZip);
    EXPECT_EQ(rig.state("model_best.pth.tar"), "complete");
    EXPECT_EQ(rig.find("model_best.pth.tar").layout->name, "PyTorch imagenet example");
  });
}

TEST_P(FileLayouts, AllHardLinksOfTimmAreOneSet) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.half("out/tmp.pth.tar", kZip);
    EXPECT_TRUE(rig.find().empty());
    rig.file("out/tmp.pth.tar", kZip);
    EXPECT_TRUE(rig.find().empty());
    rig.rename("out/tmp.pth.tar", "out/last.pth.tar");
    EXPECT_EQ(rig.state("out/last.pth.tar"), "complete");
    rig.hardlink("out/last.pth.tar", "out/checkpoint-3.pth.tar");
    rig.hardlink("out/last.pth.tar", "out/model_best.pth.tar");
    const FoundSet set = rig.find("out/checkpoint-3.pth.tar");
    EXPECT_EQ(set.paths,
              (Paths{"out/checkpoint-3.pth.tar", "out/last.pth.tar", "out/model_best.pth.tar"}));
    EXPECT_EQ(set.state, SetState::kComplete);
    EXPECT_EQ(set.facts.epoch, 3U);
    EXPECT_EQ(set.layout->name, "timm");
    EXPECT_EQ(rig.find().size(), 1U);
    rig.hardlink("out/last.pth.tar", "out/tmp.pth.tar");
    EXPECT_EQ(rig.find("out/checkpoint-3.pth.tar").paths, set.paths);
    // The next epoch: last moves on, the others stay.
    rig.remove("out/tmp.pth.tar");
    rig.file("out/tmp.pth.tar", kZip);
    rig.rename("out/tmp.pth.tar", "out/last.pth.tar");
    EXPECT_EQ(rig.find("out/checkpoint-3.pth.tar").paths,
              (Paths{"out/checkpoint-3.pth.tar", "out/model_best.pth.tar"}));
    EXPECT_EQ(rig.state("out/last.pth.tar"), "complete");
  });
}

TEST_P(FileLayouts, ASymlinkBelongsToWhatItLeadsTo) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    const std::string best = "model-epoch=03-step=800-val_loss=0.12.ckpt";
    const std::string name = "logs/version_0/checkpoints/" + best;
    rig.half(name, kZip);
    rig.symlink(best, "logs/version_0/checkpoints/last.ckpt");
    EXPECT_EQ(rig.state(name), "incomplete");
    rig.file(name, kZip);
    const FoundSet set = rig.find(name);
    EXPECT_EQ(set.layout->name, "Lightning");
    EXPECT_EQ(set.state, SetState::kComplete);
    EXPECT_EQ(set.paths, (Paths{"logs/version_0/checkpoints/last.ckpt", name}));
    EXPECT_EQ(set.facts, (NameFacts{.step = 800, .epoch = 3, .metrics = {{"val_loss", 0.12}}}));
    // The next: the old one is removed before the link moves on.
    rig.remove(name);
    EXPECT_EQ(rig.state("logs/version_0/checkpoints/last.ckpt"), "incomplete");
  });
}

TEST_P(FileLayouts, SymlinksAreFollowedInsideTheTreeOnly) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("run/epoch_2.pth", kZip);
    rig.symlink("../run/./epoch_2.pth", "run/latest.pth");
    rig.symlink(rig.at("run/latest.pth"), "newest");
    rig.symlink("../run/epoch_2.pth", "out.pth");
    rig.symlink("circle.pth", "circle.pth");
    EXPECT_EQ(rig.find("run/epoch_2.pth").paths,
              (Paths{"newest", "run/epoch_2.pth", "run/latest.pth"}));
    EXPECT_EQ(rig.state("out.pth"), "incomplete");
    EXPECT_EQ(rig.state("circle.pth"), "incomplete");
  });
}

TEST_P(FileLayouts, LightningMayCopyItsLast) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("checkpoints/epoch=0-step=100.ckpt", kZip);
    rig.half("checkpoints/last.ckpt", kZip);
    EXPECT_EQ(rig.state("checkpoints/epoch=0-step=100.ckpt"), "complete");
    EXPECT_EQ(rig.state("checkpoints/last.ckpt"), "incomplete");
    rig.file("checkpoints/last.ckpt", kZip);
    EXPECT_EQ(rig.state("checkpoints/last.ckpt"), "complete");
  });
}

TEST_P(FileLayouts, MMEnginesTextFileGoesWithWhatItNames) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("work_dirs/epoch_1.pth", kZip);
    rig.file("work_dirs/last_checkpoint", rig.at("work_dirs/epoch_1.pth"));
    rig.half("work_dirs/epoch_2.pth", kZip);
    EXPECT_EQ(rig.find("work_dirs/epoch_1.pth").paths,
              (Paths{"work_dirs/epoch_1.pth", "work_dirs/last_checkpoint"}));
    EXPECT_EQ(rig.state("work_dirs/epoch_2.pth"), "incomplete");
    rig.file("work_dirs/epoch_2.pth", kZip);
    rig.file("work_dirs/last_checkpoint", rig.at("work_dirs/epoch_2.pth"));
    const FoundSet set = rig.find("work_dirs/epoch_2.pth");
    EXPECT_EQ(set.paths, (Paths{"work_dirs/epoch_2.pth", "work_dirs/last_checkpoint"}));
    EXPECT_EQ(set.state, SetState::kComplete);
    EXPECT_EQ(set.facts.epoch, 2U);
    EXPECT_EQ(rig.state("work_dirs/epoch_1.pth"), "complete");
    EXPECT_EQ(rig.find().size(), 2U);
    rig.file("work_dirs/last_checkpoint", "");
    EXPECT_EQ(rig.state("work_dirs/epoch_2.pth"), "unsure");
  });
}

TEST_P(FileLayouts, YoloOverwritesLastAndBest) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("runs/train/weights/last.pt", kZip);
    rig.half("runs/train/weights/best.pt", kZip);
    EXPECT_EQ(rig.state("runs/train/weights/last.pt"), "complete");
    EXPECT_EQ(rig.state("runs/train/weights/best.pt"), "incomplete");
    EXPECT_EQ(rig.find("runs/train/weights/best.pt").layout->name, "YOLO");
  });
}

TEST_P(FileLayouts, KerasWritesZipsAndHdf5WithMetricsInTheirNames) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.half("weights.05-0.12.h5", made_hdf5(0, 2000));
    EXPECT_EQ(rig.state("weights.05-0.12.h5"), "incomplete");
    rig.file("weights.05-0.12.h5", made_hdf5(0, 2000));
    rig.file("model-07-0.98.keras", made_zip("config"));
    const FoundSet set = rig.find("weights.05-0.12.h5");
    EXPECT_EQ(set.state, SetState::kComplete);
    EXPECT_EQ(set.layout->name, "Keras");
    EXPECT_EQ(set.facts, (NameFacts{.epoch = 5, .metrics = {{"metric", 0.12}}}));
    EXPECT_EQ(rig.find("model-07-0.98.keras").facts.epoch, 7U);
    EXPECT_EQ(rig.state("model-07-0.98.keras"), "complete");
  });
}

TEST_P(FileLayouts, TheNamesOfTheSourceProjects) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.half("checkpoints/checkpoint_9.pth", kZip);
    EXPECT_EQ(rig.state("checkpoints/checkpoint_9.pth"), "incomplete");
    rig.file("checkpoints/checkpoint_9.pth", kZip);
    EXPECT_EQ(rig.state("checkpoints/checkpoint_9.pth"), "complete");
    EXPECT_EQ(rig.find("checkpoints/checkpoint_9.pth").facts.epoch, 9U);
    rig.half("Models.05-0.1234", made_hdf5(2, 900));
    EXPECT_EQ(rig.state("Models.05-0.1234"), "incomplete");
    rig.file("Models.05-0.1234", made_hdf5(2, 900));
    EXPECT_EQ(rig.state("Models.05-0.1234"), "complete");
    EXPECT_EQ(rig.find("Models.05-0.1234").facts,
              (NameFacts{.epoch = 5, .metrics = {{"val_loss", 0.1234}}}));
  });
}

TEST_P(FileLayouts, PicklesAndOtherFormatsLeaveItToTime) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.half("model.pkl", made_pickle("trees"));
    EXPECT_EQ(rig.state("model.pkl"), "incomplete");
    rig.file("model.pkl", made_pickle("trees"));
    rig.file("model_12.ubj", "{L booster }");
    rig.half("model_13.json", "{\"learner\": 1}");
    rig.file("search.joblib", "x\x9c compressed");
    rig.file("ckpt_500.bin", "anything");
    EXPECT_EQ(rig.state("model.pkl"), "unsure");
    EXPECT_EQ(rig.state("model_12.ubj"), "unsure");
    EXPECT_EQ(rig.find("model_12.ubj").facts.step, 12U);
    EXPECT_EQ(rig.state("model_13.json"), "incomplete");
    EXPECT_EQ(rig.state("search.joblib"), "unsure");
    EXPECT_EQ(rig.state("ckpt_500.bin"), "unsure");
    EXPECT_EQ(rig.find("ckpt_500.bin").facts.step, 500U);
  });
}

TEST_P(FileLayouts, OtherFilesAreNoCheckpoints) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    for (const std::string name :
         {"train.py", "log.txt", "metrics.csv", "events.out.tfevents.17.host", "checkpoint.log",
          "plot.png", "README.md", "checkpoint_config.json", "data_batch_1", "ckpt.pt.tmp",
          "checkpoint-5.tmp/model.pt", "ckpt.pt.part", ".~ckpt.pt", "ckpt.pt.incomplete"}) {
      rig.file(name, kZip);
    }
    for (const FoundSet& set : rig.find()) ADD_FAILURE() << set.name;
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, FileLayouts,
                         ::testing::Values(sys::testing::real_world(), simulated_world()));

TEST(LayoutTable, EveryRowIsWhole) {
  std::set<std::string_view> names;
  for (const Layout& row : layout_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.names.empty()) << row.name;
    EXPECT_FALSE(row.resume.empty()) << row.name;
    EXPECT_EQ(row.last.empty(), row.proof != Proof::kLastFile && row.proof != Proof::kSealed)
        << row.name;
    if (row.proof == Proof::kPointer) {
      EXPECT_FALSE(row.pointer.empty()) << row.name;
    }
    if (row.proof == Proof::kRename) {
      EXPECT_FALSE(row.unfinished.empty()) << row.name;
    }
    // What begins a placeholder ends it.
    for (const std::string_view pattern : row.names) {
      EXPECT_EQ(std::ranges::count(pattern, '{'), std::ranges::count(pattern, '}')) << pattern;
    }
  }
}

}  // namespace layouts_test
}  // namespace
}  // namespace outlast::trainer_files::testing
