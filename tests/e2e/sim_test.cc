// One seed is one history, in two processes of the real program.
#include <gtest/gtest.h>

#include <string>

#include "program.h"

namespace outlast::e2e {
namespace {

TEST(Sim, OneSeedIsOneHistoryInTwoProcesses) {
  const Ended first = outlast({"sim", "replay", "114"});
  const Ended second = outlast({"sim", "replay", "114"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.out.find("CRASH server."), std::string::npos) << first.out;
  EXPECT_EQ(first.out, second.out);
}

TEST(Sim, ABugIsFoundAndItsStoryEndsWithTheLoss) {
  const Ended found = outlast({"sim", "run", "--seeds", "50", "--bug", "skip-record-sync"});
  EXPECT_EQ(found.exit_code, 1);
  const Ended story = outlast({"sim", "replay", "2", "--bug", "skip-record-sync"});
  EXPECT_EQ(story.exit_code, 1);
  EXPECT_NE(story.out.find("FAILED lost: "), std::string::npos) << story.out;
}

}  // namespace
}  // namespace outlast::e2e
