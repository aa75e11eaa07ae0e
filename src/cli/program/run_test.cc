#include "cli/program/run.h"  // IWYU pragma: keep

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/testing/program_runner.h"

namespace outlast::cli {
namespace {

using testing::ProgramRunner;
using testing::Ran;

CommandSpec failing_command(ErrorCode code) {
  return {.path = {"fail"},
          .hidden = true,
          .run = [code](const Invocation&, Context&) -> Result<ExitCode> {
            return Error(code, "no luck");
          }};
}

Catalog failing_program(ErrorCode code) {
  return {{.name = "other"}, {}, {failing_command(code)}};
}

Ran run_failing(ErrorCode code, const std::vector<std::string>& arguments) {
  return ProgramRunner().run(failing_program(code), arguments);
}

TEST(Run, ErrorsBecomeExitCodes) {
  EXPECT_EQ(run_failing(ErrorCode::kFailed, {"fail"}).exit_code, 1);
  EXPECT_EQ(run_failing(ErrorCode::kInvalidArgument, {"fail"}).exit_code, 3);
  EXPECT_EQ(run_failing(ErrorCode::kThrottled, {"fail"}).exit_code, 4);
  EXPECT_EQ(run_failing(ErrorCode::kUnknownOutcome, {"fail"}).exit_code, 1);
  EXPECT_EQ(run_failing(ErrorCode::kCancelled, {"fail"}).exit_code, 130);
  const Ran ran = run_failing(ErrorCode::kFailed, {"fail"});
  EXPECT_EQ(ran.err, "other: error: no luck\n");
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

TEST(Run, OutputThatNobodyTookIsAFailure) {
  ProgramRunner runner;
  runner.machine().console().status = Error(ErrorCode::kNoSpace, "the disk is full");
  const Ran ran = runner.run(failing_program(ErrorCode::kFailed), {"--version"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.err, "other: error: the disk is full\n");
}

TEST(Run, AReaderThatWentAwayIsNotWorthASentence) {
  ProgramRunner runner;
  runner.machine().console().status = Error(ErrorCode::kCancelled, "gone");
  const Ran ran = runner.run(failing_program(ErrorCode::kFailed), {"--version"});
  EXPECT_EQ(ran.exit_code, 141);
  EXPECT_EQ(ran.err, "");
}

}  // namespace
}  // namespace outlast::cli
