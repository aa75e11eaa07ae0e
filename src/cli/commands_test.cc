#include "cli/commands.h"  // IWYU pragma: keep

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/program/run.h"
#include "cli/testing/command_runner.h"

namespace outlast::cli {
namespace {

using testing::Ran;
using testing::run_command;

TEST(Outlast, NothingTypedShowsTheCommandsAndIsAMistake) {
  const Ran ran = run_command({});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("job check"), std::string::npos);
  EXPECT_NE(ran.err.find("outlast --help"), std::string::npos);
}

TEST(Outlast, AGroupAloneSaysWhatMayFollow) {
  const Ran ran = run_command({"job"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "outlast: error: 'outlast job' needs one of check, schema. "
            "See: outlast job --help\n");
}

TEST(Outlast, UnknownOptionWithoutACommand) {
  const Ran ran = run_command({"--versoin"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "outlast: error: there is no option '--versoin'; did you mean '--version'? "
            "See: outlast --help\n");
}

TEST(Outlast, Version) {
  EXPECT_EQ(run_command({"--version"}).out, "outlast " + std::string(version()) + "\n");
  const auto json = parse_json(run_command({"--version", "--json"}).out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["version"], version());
}

TEST(Outlast, HelpGoesToStandardOutput) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--help"}, {"-h"}, {"help"}, {"job", "--help"}, {"job", "check", "-h"}}) {
    const Ran ran = run_command(words);
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_NE(ran.out.find("Usage: outlast"), std::string::npos);
    EXPECT_EQ(ran.err, "");
  }
  EXPECT_EQ(run_command({"help", "job", "check"}).out, run_command({"job", "check", "--help"}).out);
  EXPECT_EQ(run_command({"help", "job"}).out, run_command({"job", "--help"}).out);
}

TEST(Outlast, HelpAboutWhatIsNoCommand) {
  const Ran ran = run_command({"help", "job", "chekc"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("did you mean 'check'?"), std::string::npos);
  EXPECT_EQ(run_command({"help", "doctor", "x"}).exit_code, 2);
}

TEST(Outlast, WordsAfterDoubleDashAreRefusedWhereNoneBelong) {
  const Ran ran = run_command({"doctor", "--", "x"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "outlast: error: 'outlast doctor' takes nothing after '--'. "
            "See: outlast doctor --help\n");
}

TEST(Outlast, AWrongCommandLineIsJsonToo) {
  const Ran ran = run_command({"--json", "doktor"});
  EXPECT_EQ(ran.exit_code, 2);
  const auto json = parse_json(ran.out);
  ASSERT_TRUE(json) << ran.out;
  EXPECT_EQ((*json)["error"]["code"], "wrong command line");
}

TEST(Outlast, JsonAfterDoubleDashIsNotOurs) {
  EXPECT_EQ(run_command({"doctor", "--", "--json"}).out, "");
}

}  // namespace
}  // namespace outlast::cli
