#include "trainers/train_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"

namespace outlast::trainers {
namespace {

const TaskDefaults kTask = {.task = "walk",
                            .epochs = "10",
                            .batch_size = "4",
                            .learning_rate = "0.001",
                            .data_help = "What to walk on"};

Result<TrainOptions> read(const std::vector<std::string>& words) {
  const cli::CommandSpec command = {.path = {"walk"}, .options = train_option_specs(kTask)};
  Result<cli::Invocation> invocation = cli::parse_invocation(command, words);
  if (!invocation) return invocation.error();
  return read_train_options(*invocation, kTask, 3);
}

TEST(TrainOptions, AreTheTasksDefaults) {
  const Result<TrainOptions> options = read({});
  ASSERT_TRUE(options) << options.error().to_string();
  EXPECT_EQ(options->epochs, 10U);
  EXPECT_EQ(options->batch_size, 4U);
  EXPECT_EQ(options->learning_rate, 0.001);
  EXPECT_EQ(options->momentum, 0.9);
  EXPECT_EQ(options->optimizer, Optimizer::kSgd);
  EXPECT_EQ(options->threads, 3U);
  EXPECT_EQ(options->job_dir, "outlast-walk");
  EXPECT_EQ(options->total_steps(7), 70U);
}

TEST(TrainOptions, AreWhatWasGiven) {
  const Result<TrainOptions> options = read(
      {"--train-steps", "99", "--learning-rate", "1e-4", "--optimizer", "adamw", "--schedule",
       "step:7:0.1", "--threads", "2", "--mode", "evaluate", "--seed", "18446744073709551615"});
  ASSERT_TRUE(options) << options.error().to_string();
  EXPECT_EQ(options->total_steps(7), 99U);
  EXPECT_EQ(options->learning_rate, 1e-4);
  EXPECT_EQ(options->optimizer, Optimizer::kAdamW);
  EXPECT_EQ(to_string(options->schedule), "step:7:0.1");
  EXPECT_EQ(options->threads, 2U);
  EXPECT_EQ(options->mode, Mode::kEvaluate);
  EXPECT_EQ(options->seed, 18446744073709551615U);
}

TEST(TrainOptions, RefuseWhatCannotBe) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--batch-size", "0"},       {"--epochs", "0"},       {"--train-steps", "0"},
      {"--learning-rate", "-1"},   {"--momentum", "1"},     {"--threads", "0"},
      {"--schedule", "sometimes"}, {"--optimizer", "lion"}, {"--epochs", "2", "--train-steps", "3"},
      {"--weight-decay", "x"},     {"--job-dir", ""}};
  for (const std::vector<std::string>& words : wrong) {
    const Result<TrainOptions> options = read(words);
    ASSERT_FALSE(options) << words[0];
    EXPECT_NE(options.error().to_string().find(words[0].substr(2)), std::string::npos)
        << options.error().to_string();
  }
}

TEST(HyperParameters, AreComparedByNameWithBothValues) {
  TrainOptions one;
  one.batch_size = 4;
  one.optimizer = Optimizer::kSgd;
  TrainOptions other = one;
  EXPECT_EQ(difference(hyper_parameters(one), hyper_parameters(other)), "");
  other.batch_size = 8;
  other.optimizer = Optimizer::kAdam;
  EXPECT_EQ(
      difference(hyper_parameters(one), hyper_parameters(other)),
      "--batch-size was 4 and is 8 now, --momentum was 0 and is not given now, --optimizer was "
      "sgd and is adam now");
  other = one;
  other.epochs = 20;  // longer, with a constant rate: the same training, and more of it
  EXPECT_EQ(difference(hyper_parameters(one), hyper_parameters(other)), "");
}

}  // namespace
}  // namespace outlast::trainers
