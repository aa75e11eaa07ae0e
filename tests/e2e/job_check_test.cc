#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "program.h"

namespace outlast::e2e {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMinimalJob = "name: a\nrun: b\n";

// Paths of job files under the source folder, relative to it.
std::vector<std::string> job_files(const std::string& folder) {
  std::vector<std::string> files;
  const fs::path source = OUTLAST_SOURCE_DIR;
  for (const fs::directory_entry& entry : fs::directory_iterator(source / folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(fs::relative(entry.path(), source));
  }
  std::ranges::sort(files);
  return files;
}

// The diagnostics without the closing line, which must say how many there are.
std::string without_count(const std::string& err, const std::string& file) {
  const std::size_t last = err.rfind('\n', err.size() < 2 ? 0 : err.size() - 2) + 1;
  const std::string closing = err.substr(last);
  const std::string one = fmt::format("1 mistake in {}\n", file);
  const std::string many = fmt::format(" mistakes in {}\n", file);
  EXPECT_TRUE(closing == one || closing.ends_with(many)) << err;
  return err.substr(0, last);
}

TEST(JobCheck, EveryExamplePassesAndSoDoesWhatIsPrinted) {
  const std::vector<std::string> files = job_files("examples");
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Ended ended = outlast({"job", "check", file});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(ended.err, "");
    const Ended json = outlast({"job", "check", "--json", file});
    EXPECT_TRUE(parse_json(json.out)) << json.out;
    How again;
    again.input = ended.out;
    EXPECT_EQ(outlast({"job", "check", "--json", "-"}, again).out, json.out);
  }
}

TEST(JobCheck, EveryBadJobGivesExactlyItsMessages) {
  const std::vector<std::string> files = job_files("tests/bad-jobs");
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const std::string expected =
        fs::path(OUTLAST_SOURCE_DIR) / fs::path(file).replace_extension(".expected");
    const Ended ended = outlast({"job", "check", file});
    EXPECT_EQ(ended.exit_code, 3);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(without_count(ended.err, file), read_text(expected));
    const Ended json = outlast({"job", "check", "--json", file});
    EXPECT_EQ(json.exit_code, 3);
    EXPECT_EQ(json.err, "");
    const auto parsed = parse_json(json.out);
    ASSERT_TRUE(parsed) << json.out;
    EXPECT_GE((*parsed)["mistakes"].size(), 1U);
  }
}

TEST(JobCheck, AHugeFileIsRefusedAtOnce) {
  TemporaryFolder folder;
  const std::string file = folder.write("huge.yaml", "");
  fs::resize_file(file, 200'000'000);
  const auto start = std::chrono::steady_clock::now();
  const Ended ended = outlast({"job", "check", file});
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_EQ(ended.err,
            fmt::format("outlast: error: {} is larger than 1.0 MiB: that is no job file\n", file));
  // Generous: sanitizers and a busy machine. Reading it all would need more of both.
  EXPECT_LT(took, std::chrono::seconds(5));
  EXPECT_LT(ended.memory_kib_max, 190'000);
}

TEST(JobCheck, AnEndlessFileIsRefused) {
  const Ended ended = outlast({"job", "check", "/dev/zero"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_NE(ended.err.find("larger than 1.0 MiB"), std::string::npos) << ended.err;
}

TEST(JobCheck, WhatIsNoReadableFileIsOneSentence) {
  TemporaryFolder folder;
  const Ended missing = outlast({"job", "check", folder.path() + "/none.yaml"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_TRUE(missing.err.starts_with("outlast: error: there is no file '")) << missing.err;
  const Ended directory = outlast({"job", "check", folder.path()});
  EXPECT_EQ(directory.exit_code, 3);
  EXPECT_EQ(std::ranges::count(directory.err, '\n'), 1) << directory.err;
  EXPECT_NE(directory.err.find(folder.path()), std::string::npos) << directory.err;
}

TEST(JobCheck, AFileThatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "missing: a user other than root, whom files can refuse";
  TemporaryFolder folder;
  const std::string file = folder.write("job.yaml", kMinimalJob);
  fs::permissions(file, fs::perms::none);
  const Ended ended = outlast({"job", "check", file});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_NE(ended.err.find("ermission denied"), std::string::npos) << ended.err;
}

TEST(JobCheck, ReadsAPipe) {
  const Ended ended =
      run({"bash", "-c", "printf 'name: a\\nrun: b\\n' | outlast job check --json -"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(parse_json(ended.out)) << ended.out;
}

}  // namespace
}  // namespace outlast::e2e
