#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "job/fields.h"
#include "job/place.h"
#include "job/spec.h"
#include "job/spec_text.h"
#include "job/testing/files.h"
#include "job/testing/fuzz_job_spec.h"

namespace outlast::job {
namespace {

using testing::file_bytes;
using testing::files_in;
using testing::tree_path;

constexpr std::string_view kSmallest = "name: demo\nrun: python train.py\n";

std::string mistakes_in(std::string_view yaml) {
  return format_diagnostics("job", read_spec(yaml));
}

TEST(SpecReader, FillsInDefaults) {
  const SpecReading reading = read_spec(kSmallest);
  ASSERT_TRUE(reading.spec) << mistakes_in(kSmallest);
  const Spec& spec = *reading.spec;
  EXPECT_EQ(spec.name.str(), "demo");
  EXPECT_EQ(spec.root, "./outlast-root");
  EXPECT_EQ(spec.run, "python train.py");
  EXPECT_EQ(spec.checkpoint, CheckpointRules{});
  ASSERT_EQ(spec.places.size(), 1U);
  EXPECT_EQ(spec.places[0], Place{});
  EXPECT_EQ(spec.spot, SpotPolicy::kPrefer);
  EXPECT_EQ(spec.retries, 3U);
  EXPECT_EQ(spec.on_failed, OnFailed{});
  EXPECT_EQ(spec.grace, std::chrono::seconds(30));
  EXPECT_EQ(spec.exit_codes, (ExitCodes{.left = 75, .never = 78}));
  EXPECT_FALSE(spec.lifetime || spec.progress.regex);
  EXPECT_FALSE(spec.deadline || spec.budget || spec.notify || spec.git || spec.container);
}

TEST(SpecReader, ReadsEveryKey) {
  const SpecReading reading = read_spec(file_bytes(tree_path("examples/cifar10.yaml")));
  ASSERT_TRUE(reading.spec);
  const Spec& spec = *reading.spec;
  EXPECT_EQ(spec.env.at("PYTHONUNBUFFERED"), "1");
  EXPECT_EQ(spec.files, (std::vector<std::string>{"train.py", "requirements.txt", "data"}));
  EXPECT_EQ(spec.checkpoint.dir, "checkpoints");
  ASSERT_EQ(spec.places.size(), 3U);
  EXPECT_EQ(spec.places[0].cloud, Cloud::kGcp);
  EXPECT_EQ(spec.places[1].max_price, Money{350'000});
  EXPECT_EQ(spec.places[2].partition, "ckpt");
  EXPECT_EQ(spec.deadline, std::chrono::hours(12));
  EXPECT_EQ(spec.budget, Money{5'000'000});
  EXPECT_EQ(spec.grace, std::chrono::seconds(30));
  EXPECT_EQ(spec.lifetime, std::chrono::hours(24));
  EXPECT_EQ(spec.exit_codes.never, 78);
  EXPECT_EQ(spec.progress.regex, "epoch (?<epoch>\\d+) loss (?<loss>\\S+)");
  EXPECT_EQ(spec.on_failed.keep_for, std::chrono::minutes(30));
  EXPECT_EQ(spec.cache, (std::vector<std::string>{".venv", "~/.cache/huggingface"}));
  ASSERT_TRUE(spec.notify);
  EXPECT_EQ(spec.notify->on.back(), NotifyEvent::kOverBudget);
}

TEST(SpecReader, ReadsHowTheMachineAndTheTrainerEnd) {
  const SpecReading reading =
      read_spec(std::string(kSmallest) +
                "grace: 2m\nlifetime: 24h\nexit_codes: {left: 3, never: 75}\n"
                "progress: {regex: 'at (?<step>\\d+)'}\n");
  ASSERT_TRUE(reading.spec) << format_diagnostics("job", reading);
  EXPECT_EQ(reading.spec->grace, std::chrono::minutes(2));
  EXPECT_EQ(reading.spec->lifetime, std::chrono::hours(24));
  EXPECT_EQ(reading.spec->exit_codes, (ExitCodes{.left = 3, .never = 75}));
  EXPECT_EQ(reading.spec->progress.regex, "at (?<step>\\d+)");
  EXPECT_TRUE(read_spec(std::string(kSmallest) + "progress: auto\nlifetime: none\n").spec);
}

// The other code keeps its default, which is none of what the file says.
TEST(SpecReader, OneExitCodeAloneIsComparedWithTheDefaultOfTheOther) {
  EXPECT_EQ(mistakes_in(std::string(kSmallest) + "exit_codes: {never: 75}\n"),
            "job:3:21: 'exit_codes.left' and 'exit_codes.never' are both 75, which is the default "
            "of left; one code cannot mean both\n");
  EXPECT_EQ(mistakes_in(std::string(kSmallest) + "exit_codes: {never: 3}\n"), "");
}

TEST(SpecReader, SaysWhatWasDefaulted) {
  const SpecReading reading = read_spec(
      "name: demo\nrun: x\ncheckpoint: {keep: 2}\nspot: prefer\nplaces: [{cloud: ssh, host: a}]\n");
  ASSERT_TRUE(reading.spec);
  const std::vector<std::string>& keys = reading.defaulted;
  const auto has = [&](std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  EXPECT_TRUE(has("checkpoint.every") && has("retries") && has("places[0].port"));
  EXPECT_FALSE(has("checkpoint") || has("checkpoint.keep") || has("spot") || has("places"));
}

TEST(SpecReader, KeepsTextAsWritten) {
  const SpecReading reading =
      read_spec("name: 007\nrun: |\n  echo 1\n  echo 2\nenv: {A: 010, B: no, C: '', D: 1e3}\n");
  ASSERT_TRUE(reading.spec);
  EXPECT_EQ(reading.spec->name.str(), "007");
  EXPECT_EQ(reading.spec->run, "echo 1\necho 2");
  EXPECT_EQ(reading.spec->env.at("A"), "010");
  EXPECT_EQ(reading.spec->env.at("B"), "no");
  EXPECT_EQ(reading.spec->env.at("C"), "");
  EXPECT_EQ(reading.spec->env.at("D"), "1e3");
}

TEST(SpecReader, MessagesHoldNoPassword) {
  const std::string message =
      mistakes_in("name: a\nrun: a\ngit: {url: 'https://me:hunter2@h/r'}\n");
  EXPECT_NE(message.find("it holds a password"), std::string::npos) << message;
  EXPECT_EQ(message.find("hunter2"), std::string::npos) << message;
}

TEST(SpecReader, EveryDefaultInTheTableIsValid) {
  const auto check_fields = [](const Record& record, const std::string& before,
                               const std::string& after) {
    for (const Field& field : record.fields) {
      if (field.default_yaml.empty()) continue;
      const std::string yaml =
          before + std::string(field.key) + ": " + std::string(field.default_yaml) + after + "\n";
      EXPECT_EQ(mistakes_in(yaml), "");
    }
  };
  check_fields(job_record(), std::string(kSmallest), "");
  for (const Field& field : job_record().fields) {
    if (field.type->record == nullptr) continue;
    std::string before = std::string(kSmallest) + std::string(field.key) + ": {";
    if (field.key == "git") before += "url: 'https://h/r', ";
    if (field.key == "notify") before += "webhook: 'https://h/r', ";
    check_fields(*field.type->record, before, "}");
  }
}

// Each says in NAME.expected exactly what is wrong with NAME.yaml.
TEST(BadJobs, AreReportedExactly) {
  const auto jobs = files_in("tests/bad-jobs", ".yaml");
  EXPECT_GE(jobs.size(), 20U);
  EXPECT_EQ(jobs.size(), files_in("tests/bad-jobs", ".expected").size());
  for (std::filesystem::path path : jobs) {
    const std::string shown = "tests/bad-jobs/" + path.filename().string();
    const SpecReading reading = read_spec(file_bytes(path));
    EXPECT_FALSE(reading.spec) << shown;
    EXPECT_EQ(format_diagnostics(shown, reading), file_bytes(path.replace_extension(".expected")));
  }
}

TEST(BadJobs, TenMistakesAreTenMessages) {
  EXPECT_EQ(read_spec(file_bytes(tree_path("tests/bad-jobs/ten-mistakes.yaml"))).diagnostics.size(),
            10U);
}

TEST(BadJobs, TooLargeIsASentence) {
  const std::string large = std::string(kSmallest) + "# " + std::string(kYamlBytesMax, 'x') + "\n";
  EXPECT_EQ(mistakes_in(large), "job:1:1: the file is larger than 1MiB\n");
}

TEST(BadJobs, ManyMistakesAreCounted) {
  std::string yaml(kSmallest);
  for (int i = 0; i < 5'000; ++i) yaml += "key" + std::to_string(i) + ": 1\n";
  const SpecReading reading = read_spec(yaml);
  EXPECT_EQ(reading.diagnostics.size(), kDiagnosticsMax);
  EXPECT_EQ(reading.more, 5'000 - kDiagnosticsMax);
  EXPECT_EQ(reading.diagnostics[0].position.line, 3U);
  EXPECT_TRUE(format_diagnostics("job", reading).ends_with("\njob: and 4900 more\n"));
}

// Large inputs that make a careless reader quadratic; a test that hangs has failed.
TEST(BadJobs, HostileFilesTakeLinearTime) {
  const auto fill = [](std::string_view start, std::string_view unit) {
    std::string text(start);
    while (text.size() < kYamlBytesMax / 4) text += unit;
    return text;
  };
  std::string keys;
  for (int i = 0; keys.size() < kYamlBytesMax / 4; ++i)
    keys += "key" + std::to_string(i) + ": [a, b]\n";
  for (const std::string& yaml : {fill("", "["),
                                  fill("", "{"),
                                  fill("", "- "),
                                  fill("", "? "),
                                  fill("", "a: "),
                                  fill("a: ", "&a "),
                                  fill("a: [", "*a,"),
                                  fill("", "a: 1\n"),
                                  fill("", "!"),
                                  fill("a: \"", "\\n"),
                                  fill("a: '", "\n "),
                                  fill("a: |\n", " \n"),
                                  fill("", "#\n"),
                                  fill("", "\n"),
                                  fill("a: ", "b "),
                                  fill("", "%"),
                                  fill("", "---\n"),
                                  fill("places:\n", "- {cloud: gcp}\n"),
                                  fill("places: [", "{},"),
                                  fill("files: [", "a,"),
                                  fill("files: [", "../x,"),
                                  fill("{", "a,"),
                                  fill("cache:\n", "- ~\n"),
                                  keys}) {
    const SpecReading reading = read_spec(yaml);
    EXPECT_FALSE(reading.spec);
    EXPECT_LE(reading.diagnostics.size(), kDiagnosticsMax);
    EXPECT_FALSE(reading.diagnostics.empty());
  }
}

TEST(Examples, AreReadWithoutAMistake) {
  const auto examples = files_in("examples", ".yaml");
  EXPECT_GE(examples.size(), 4U);
  for (const auto& path : examples) {
    EXPECT_EQ(format_diagnostics(path.string(), read_spec(file_bytes(path))), "");
  }
}

// Aborts on the first input that breaks a promise.
TEST(Corpus, IsReplayed) {
  std::size_t replayed = 0;
  for (const std::string_view folder : {"tests/corpus/job_spec", "tests/bad-jobs", "examples"}) {
    for (const auto& path : files_in(folder)) {
      testing::fuzz_job_spec(file_bytes(path));
      ++replayed;
    }
  }
  EXPECT_GT(replayed, 50U);
}

}  // namespace
}  // namespace outlast::job
