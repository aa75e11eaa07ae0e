#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/testing/command_runner.h"

namespace outlast::cli {
namespace {

using testing::CommandRunner;
using testing::Ran;

// 'outlast drill' with these options, on a machine that has a trainer.
Ran drilled(std::vector<std::string> options, const std::vector<std::string>& command) {
  CommandRunner runner;
  options.insert(options.begin(), "drill");
  if (!command.empty()) options.emplace_back("--");
  options.insert(options.end(), command.begin(), command.end());
  return runner.run(options);
}

TEST(DrillCommand, RefusesWhatCannotBeBeforeAnythingStarts) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--as", "moon"}, "moon"},
      {{"--notice-time", "30"}, "--notice-time takes a time such as 30s, not '30'"},
      {{"--notice-time", "0s"}, "--notice-time takes a time such as 30s, not '0s'"},
      {{"--preemptions", "0"}, "--preemptions takes 1 to 1000"},
      {{"--preemptions", "1001"}, "--preemptions takes 1 to 1000"},
      {{"--schedule", "5s", "--poisson", "3s"}, "--schedule says what happens and how often"},
      {{"--schedule", "5s withdrawn"}, "a notice by 'signal' cannot be taken back"},
      {{"--seed", "3"}, "--seed is for --poisson"},
      {{"--expect", "fast"}, "the expectation 'fast': lost<=0, lost<=10s"},
      {{"--every", "sometimes"}, "checkpoint.every"},
      {{"trainer"}, "'trainer' is no job file (.yaml); a command comes after '--'"}};
  for (const auto& [options, sentence] : cases) {
    const Ran ran = drilled(options, {"trainer"});
    EXPECT_EQ(ran.exit_code, 2) << sentence;
    EXPECT_NE(ran.err.find(sentence), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  const Ran nothing = drilled({}, {});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_NE(nothing.err.find("what is to be run?"), std::string::npos) << nothing.err;
}

}  // namespace
}  // namespace outlast::cli
