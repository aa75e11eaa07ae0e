#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "cli/testing/command_runner.h"

namespace outlast::cli {
namespace {

using testing::Ran;
using testing::run_command;

TEST(SimRun, SaysThatEverySeedHeld) {
  const Ran ran = run_command({"sim", "run", "--seeds", "5"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_TRUE(ran.out.starts_with("wal-counter: 5 seeds, 0 failed; ")) << ran.out;
}

TEST(SimRun, NamesTheSeedsThatFindABugAndHowToReadThem) {
  const Ran ran = run_command({"sim", "run", "--seeds", "20", "--bug", "skip-record-sync"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("outlast sim replay "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find(" --workload wal-counter --bug skip-record-sync"), std::string::npos);
}

TEST(SimRun, RefusesWhatIsNotANumber) {
  const Ran ran = run_command({"sim", "run", "--seeds", "many"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "outlast: error: --seeds must be a whole number below 2^64, not 'many'. See: outlast "
            "sim run --help\n");
}

TEST(SimRun, RefusesToShowNothing) {
  EXPECT_EQ(run_command({"sim", "run", "--seeds", "0"}).exit_code, 2);
  EXPECT_EQ(
      run_command({"sim", "run", "--seeds", "2", "--first", "18446744073709551615"}).exit_code, 2);
}

TEST(SimReplay, TellsTheSameStoryTwice) {
  const Ran first = run_command({"sim", "replay", "3"});
  const Ran second = run_command({"sim", "replay", "3"});
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_EQ(first.out, second.out);
  EXPECT_NE(first.out.find("wal-counter seed 3: held; trace "), std::string::npos) << first.out;
}

TEST(SimReplay, GivesTheTraceAsJson) {
  const auto json = parse_json(run_command({"sim", "replay", "3", "--json"}).out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["seed"], 3);
  EXPECT_GT((*json)["trace"].size(), 10U);
}

}  // namespace
}  // namespace outlast::cli
