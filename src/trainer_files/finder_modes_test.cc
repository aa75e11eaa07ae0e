#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sys/testing/real_world_maker.h"
#include "sys/testing/world_maker.h"
#include "sys/world.h"
#include "trainer_files/checkpoint_finder.h"
#include "trainer_files/layouts.h"
#include "trainer_files/testing/made_files.h"
#include "trainer_files/testing/trainer_rig.h"

namespace outlast::trainer_files::testing {
namespace {
namespace finder_modes_test {

using Paths = std::vector<std::string>;

const std::string kWholeZip = made_zip(std::string(200, 'z'), {.is_large = true});

class FinderModes : public ::testing::TestWithParam<sys::testing::WorldMaker> {};

TEST_P(FinderModes, EverythingInAFolderThatWasNamedIsTheState) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir, {.recognise = Recognise::kEverything});
    rig.file("begin.txt", "1");
    rig.look(0);
    rig.file("counter.txt", "2");
    rig.file("run.log", "a log grows all the time");
    rig.file("counter.txt.tmp", "3");
    rig.look(10);
    EXPECT_EQ(rig.finder().state().paths, (Paths{"begin.txt"}));
    rig.look(2000);
    EXPECT_EQ(rig.finder().state().paths, (Paths{"begin.txt", "counter.txt"}));
    ASSERT_NE(rig.finder().new_set(), nullptr);
    EXPECT_EQ(rig.finder().new_set()->set.name, "counter.txt");
    rig.file("counter.txt", "4");
    rig.look(10);
    EXPECT_FALSE(rig.finder().state().is_ready);
    // Where there is a checkpoint that is known as one, such a file is not waited for.
    rig.file("model.pt", kWholeZip);
    rig.look(10);
    EXPECT_TRUE(rig.finder().state().is_ready) << rig.finder().state().why_not;
    EXPECT_EQ(rig.finder().state().paths, (Paths{"begin.txt", "model.pt"}));
  });
}

TEST_P(FinderModes, WhatATrainerLeftThatEndedWellIsComplete) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    rig.file("model.pkl", "who knows where this ends");
    rig.half("torn.pt", kWholeZip);
    rig.look(10);
    EXPECT_FALSE(rig.finder().state().is_ready);
    rig.end(10);
    EXPECT_TRUE(rig.finder().state().is_ready);
    EXPECT_EQ(rig.finder().state().paths, (Paths{"model.pkl"}));
    EXPECT_EQ(rig.finder().state().entries.size(), 1U);
  });
}

TEST_P(FinderModes, AFastRotationIsFollowed) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    for (int step = 1; step <= 5; ++step) {
      rig.file(fmt::format("checkpoint_{}.pth", step), kWholeZip);
      if (step > 2) rig.remove(fmt::format("checkpoint_{}.pth", step - 2));
      rig.look(300);
      EXPECT_TRUE(rig.finder().state().is_ready) << rig.finder().state().why_not;
      EXPECT_EQ(rig.finder().state().epoch, static_cast<std::uint64_t>(step));
    }
  });
}

TEST_P(FinderModes, AFileThatNobodyHasOpenIsCompleteSooner) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.look(0);
    rig.file("model.pkl", "who knows where this ends");
    rig.look(10, {"another.file"});
    EXPECT_EQ(rig.standing("model.pkl"), "being written");
    rig.look(500);
    EXPECT_EQ(rig.standing("model.pkl"), "being written");  // nobody knows who has what open
    rig.look(1, {"model.pkl"});
    EXPECT_EQ(rig.standing("model.pkl"), "being written");
    rig.look(1, {"another.file"});
    EXPECT_EQ(rig.standing("model.pkl"), "complete");
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, FinderModes,
                         ::testing::Values(sys::testing::real_world(), simulated_world()));

}  // namespace finder_modes_test
}  // namespace
}  // namespace outlast::trainer_files::testing
