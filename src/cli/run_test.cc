#include "cli/run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "cli/catalog.h"
#include "cli/command_spec.h"
#include "cli/exit_code.h"
#include "cli/testing/command_runner.h"

namespace outlast::cli {
namespace {

using testing::CommandRunner;
using testing::Ran;
using testing::run_command;

CommandSpec failing_command(ErrorCode code) {
  return {.path = {"fail"},
          .hidden = true,
          .run = [code](const Invocation&, Context&) -> Result<ExitCode> {
            return Error(code, "no luck");
          }};
}

Ran run_failing(ErrorCode code, const std::vector<std::string>& arguments) {
  CommandRunner runner;
  Ran ran;
  runner.run_body([&](sys::World& world) {
    ran.exit_code = static_cast<int>(run(Catalog({}, {failing_command(code)}), arguments, world));
  });
  ran.out = runner.machine().console().out_text;
  ran.err = runner.machine().console().err_text;
  return ran;
}

TEST(Run, NothingTypedShowsTheCommandsAndIsAMistake) {
  const Ran ran = run_command({});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("job check"), std::string::npos);
  EXPECT_NE(ran.err.find("outlast --help"), std::string::npos);
}

TEST(Run, AGroupAloneSaysWhatMayFollow) {
  const Ran ran = run_command({"job"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "outlast: error: 'outlast job' needs one of check, schema. "
            "See: outlast job --help\n");
}

TEST(Run, UnknownOptionWithoutACommand) {
  const Ran ran = run_command({"--versoin"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "outlast: error: there is no option '--versoin'; did you mean '--version'? "
            "See: outlast --help\n");
}

TEST(Run, Version) {
  EXPECT_EQ(run_command({"--version"}).out, "outlast " + std::string(version()) + "\n");
  const auto json = parse_json(run_command({"--version", "--json"}).out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["version"], version());
}

TEST(Run, HelpGoesToStandardOutput) {
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

TEST(Run, HelpAboutWhatIsNoCommand) {
  const Ran ran = run_command({"help", "job", "chekc"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("did you mean 'check'?"), std::string::npos);
  EXPECT_EQ(run_command({"help", "doctor", "x"}).exit_code, 2);
}

TEST(Run, WordsAfterDoubleDashAreRefusedWhereNoneBelong) {
  const Ran ran = run_command({"doctor", "--", "x"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "outlast: error: 'outlast doctor' takes nothing after '--'. "
            "See: outlast doctor --help\n");
}

TEST(Run, ErrorsBecomeExitCodes) {
  EXPECT_EQ(run_failing(ErrorCode::kFailed, {"fail"}).exit_code, 1);
  EXPECT_EQ(run_failing(ErrorCode::kInvalidArgument, {"fail"}).exit_code, 3);
  EXPECT_EQ(run_failing(ErrorCode::kThrottled, {"fail"}).exit_code, 4);
  EXPECT_EQ(run_failing(ErrorCode::kUnknownOutcome, {"fail"}).exit_code, 1);
  EXPECT_EQ(run_failing(ErrorCode::kCancelled, {"fail"}).exit_code, 130);
  const Ran ran = run_failing(ErrorCode::kFailed, {"fail"});
  EXPECT_EQ(ran.err, "outlast: error: no luck\n");
  EXPECT_EQ(ran.out, "");
}

TEST(Run, ErrorsAsJson) {
  const Ran ran = run_failing(ErrorCode::kUnavailable, {"fail", "--json"});
  EXPECT_EQ(ran.exit_code, 4);
  EXPECT_EQ(ran.err, "");
  const auto json = parse_json(ran.out);
  ASSERT_TRUE(json) << ran.out;
  EXPECT_EQ((*json)["error"]["code"], "unavailable");
  EXPECT_EQ((*json)["error"]["message"], "no luck");
}

TEST(Run, AWrongCommandLineIsJsonToo) {
  const Ran ran = run_command({"--json", "doktor"});
  EXPECT_EQ(ran.exit_code, 2);
  const auto json = parse_json(ran.out);
  ASSERT_TRUE(json) << ran.out;
  EXPECT_EQ((*json)["error"]["code"], "wrong command line");
}

TEST(Run, JsonAfterDoubleDashIsNotOurs) {
  EXPECT_EQ(run_command({"doctor", "--", "--json"}).out, "");
}

TEST(Run, OutputThatNobodyTookIsAFailure) {
  CommandRunner runner;
  runner.machine().console().status = Error(ErrorCode::kNoSpace, "the disk is full");
  const Ran ran = runner.run({"--version"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.err, "outlast: error: the disk is full\n");
}

TEST(Run, AReaderThatWentAwayIsNotWorthASentence) {
  CommandRunner runner;
  runner.machine().console().status = Error(ErrorCode::kCancelled, "gone");
  const Ran ran = runner.run({"--version"});
  EXPECT_EQ(ran.exit_code, 141);
  EXPECT_EQ(ran.err, "");
}

}  // namespace
}  // namespace outlast::cli
