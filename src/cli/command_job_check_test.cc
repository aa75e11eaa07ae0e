#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "cli/testing/command_runner.h"
#include "job/spec.h"

namespace outlast::cli {
namespace {

using testing::CommandRunner;
using testing::Ran;

constexpr const char* kGoodJob = "name: cifar10\nrun: python train.py\n";
constexpr const char* kBadJob = "name: cifar10\nrun: python train.py\ndeadlin: 12h\nkeep: 3\n";

Ran check(const std::string& text, const std::vector<std::string>& words) {
  CommandRunner runner;
  runner.add_file("/job.yaml", text);
  return runner.run(words);
}

TEST(JobCheck, PrintsTheCompleteJob) {
  const Ran ran = check(kGoodJob, {"job", "check", "job.yaml"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(job::read_spec(ran.out).spec) << ran.out;
  EXPECT_NE(ran.out.find("outlast-root"), std::string::npos) << ran.out;
}

TEST(JobCheck, PrintsTheJobAsJson) {
  const auto json = parse_json(check(kGoodJob, {"job", "check", "--json", "job.yaml"}).out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["name"], "cifar10");
}

TEST(JobCheck, ReportsEveryMistakeThenTheirNumber) {
  const Ran ran = check(kBadJob, {"job", "check", "job.yaml"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, job::format_diagnostics("job.yaml", job::read_spec(kBadJob)) +
                         "2 mistakes in job.yaml\n");
}

TEST(JobCheck, QuietLeavesOutTheNumber) {
  const Ran ran = check(kBadJob, {"job", "check", "job.yaml", "--quiet"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.err, job::format_diagnostics("job.yaml", job::read_spec(kBadJob)));
}

TEST(JobCheck, ReportsMistakesAsJson) {
  const Ran ran = check(kBadJob, {"job", "check", "job.yaml", "--json"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.err, "");
  const auto json = parse_json(ran.out);
  ASSERT_TRUE(json) << ran.out;
  EXPECT_EQ((*json)["error"]["message"], "2 mistakes in job.yaml");
  ASSERT_EQ((*json)["mistakes"].size(), 2U);
  EXPECT_EQ((*json)["mistakes"][0]["line"], 3);
  EXPECT_EQ((*json)["mistakes"][0]["column"], 1);
  EXPECT_FALSE((*json)["mistakes"][0]["message"].get<std::string>().empty());
}

TEST(JobCheck, AFileThatIsNotThere) {
  const Ran ran = check(kGoodJob, {"job", "check", "jbo.yaml"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.err,
            "outlast: error: there is no file 'jbo.yaml'; give the path of a job file, "
            "such as job.yaml\n");
}

TEST(JobCheck, AFileThatIsTooLarge) {
  const Ran ran = check(std::string(2U << 20U, '#'), {"job", "check", "job.yaml"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.err, "outlast: error: job.yaml is larger than 1.0 MiB: that is no job file\n");
}

TEST(JobCheck, AFileThatCannotBeRead) {
  CommandRunner runner;
  runner.add_file("/job.yaml", kGoodJob);
  runner.machine().files().set_fault([](std::string_view operation, const std::string& path) {
    return operation == "read" && path.ends_with("job.yaml")
               ? std::optional(Error(ErrorCode::kFailed, "read job.yaml: input/output error"))
               : std::nullopt;
  });
  const Ran ran = runner.run({"job", "check", "job.yaml"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.err,
            "outlast: error: cannot read the job file: read job.yaml: input/output error\n");
}

TEST(JobSchema, IsJson) {
  const Ran ran = testing::run_command({"job", "schema"});
  EXPECT_EQ(ran.exit_code, 0);
  const auto json = parse_json(ran.out);
  ASSERT_TRUE(json);
  EXPECT_TRUE(json->contains("$schema"));
}

}  // namespace
}  // namespace outlast::cli
