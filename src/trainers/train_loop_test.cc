#include "trainers/train_loop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/program/catalog.h"
#include "cli/program/terminal.h"
#include "sdk/snapshots.h"
#include "sys/file_ops.h"
#include "sys/posix_world.h"

namespace outlast::trainers {
namespace {

// One weight that moves by what the step's number says; may fail, or lose its way, at a step.
class Walker final : public Learner {
 public:
  std::optional<std::uint64_t> dies_at;
  std::optional<std::uint64_t> is_lost_at;
  std::vector<std::uint64_t> walked;
  std::vector<std::string> remarks;
  float weight = 1;

  void describe(Snapshots& snapshots) override { snapshots.add("weight", &weight, 1); }
  Result<StepReport> step(std::uint64_t number) override {
    if (number == dies_at) return Error(ErrorCode::kFailed, "died");
    walked.push_back(number);
    weight = weight * 0.99F + static_cast<float>(number % 7);
    return StepReport{
        .loss = number == is_lost_at ? std::numeric_limits<double>::quiet_NaN() : weight,
        .examples = 4,
        .correct = number % 5};
  }
  Result<Evaluation> evaluate() override {
    return Evaluation{.loss = weight, .examples = 10, .correct = 5};
  }
  Result<void> predict(const PredictionSink& sink) override {
    return sink({.example = "0", .label = "up", .probability = 0.5});
  }
  Weights weights() const override {
    Weights weights;
    weights.tensors.push_back({.name = "weight", .shape = {1}, .data = Bytes(4)});
    std::memcpy(weights.tensors[0].data.data(), &weight, 4);
    return weights;
  }
  std::vector<std::string> notes() const override { return remarks; }
  Result<void> load(const Weights& weights) override {
    std::memcpy(&weight, weights.tensors.at(0).data.data(), 4);
    return {};
  }
};

class TrainLoop : public testing::Test {
 protected:
  TrainLoop() : folder_(std::filesystem::temp_directory_path() / "outlast-train-loop-XXXXXX") {
    std::string name = folder_;
    folder_ = ::mkdtemp(name.data());
    plan_.options = {.task = "walk",
                     .job_dir = folder_ + "/job",
                     .epochs = 4,
                     .checkpoint_steps = 3,
                     .batch_size = 4,
                     .learning_rate = 0.5};
    plan_.hyper_parameters = hyper_parameters(plan_.options);
    plan_.steps_per_epoch = 25;
    plan_.data_from = "nowhere";
  }
  ~TrainLoop() override { std::filesystem::remove_all(folder_); }

  Result<cli::ExitCode> run(Walker& walker) {
    cli::Terminal terminal(real_.world().console, {.program = "test", .quiet = is_quiet_});
    const cli::Catalog catalog({.name = "test", .tagline = "t", .typical_command = "x"}, {}, {});
    cli::Context context{.world = real_.world(), .terminal = terminal, .catalog = catalog};
    return run_task(walker, plan_, context);
  }
  std::string text(const std::string& name) {
    return sys::read_file(real_.world().files, plan_.options.job_dir + "/" + name, 1U << 20U)
        .value_or("");
  }

  sys::RealWorld real_;
  bool is_quiet_ = true;
  std::string folder_;
  TrainPlan plan_;
};

TEST_F(TrainLoop, EndsAsIfItHadNeverBeenInterrupted) {
  Walker undisturbed;
  ASSERT_TRUE(run(undisturbed));
  const std::string metrics = text("metrics.jsonl");
  const std::string model = text("model.safetensors");
  EXPECT_EQ(undisturbed.walked.size(), 100U);
  ASSERT_FALSE(model.empty());

  plan_.options.job_dir = folder_ + "/again";
  std::uint64_t steps = 0;
  for (const std::uint64_t end : {5U, 26U, 50U, 76U, 99U}) {
    Walker walker;
    walker.weight = -5;  // which the checkpoint replaces
    walker.dies_at = end;
    if (end == 5) walker.weight = 1;
    EXPECT_FALSE(run(walker));
    steps += walker.walked.size();
  }
  Walker last;
  ASSERT_TRUE(run(last));
  EXPECT_EQ(text("metrics.jsonl"), metrics);
  EXPECT_EQ(text("model.safetensors"), model);
  EXPECT_EQ(last.weight, undisturbed.weight);
  // No more is done twice than the steps since a checkpoint.
  EXPECT_LE(steps + last.walked.size(), 100U + 5 * 3);
}

TEST_F(TrainLoop, KeepsItsFolderInAStore) {
  ::setenv("XDG_CACHE_HOME", (folder_ + "/cache").c_str(), 1);
  Walker undisturbed;
  ASSERT_TRUE(run(undisturbed));
  const std::string model = text("model.safetensors");

  plan_.options.job_dir = "file://" + folder_ + "/bucket/walk";
  plan_.options.checkpoint_steps = 1000;  // the last one is all that there is
  plan_.options.train_steps = 60;
  Walker first;
  ASSERT_TRUE(run(first));
  std::filesystem::remove_all(folder_ + "/cache");  // another machine
  plan_.options.train_steps = 100;
  Walker second;
  ASSERT_TRUE(run(second));
  EXPECT_EQ(second.walked.size(), 40U);
  plan_.options.job_dir = folder_ + "/bucket/walk";
  EXPECT_EQ(text("model.safetensors"), model);
  ::unsetenv("XDG_CACHE_HOME");
}

TEST_F(TrainLoop, KeepsTheLastGoodCheckpointWhenTheLossIsNoNumber) {
  Walker lost;
  lost.is_lost_at = 40;
  const Result<cli::ExitCode> code = run(lost);
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().to_string().find("step 41"), std::string::npos);
  Walker next;
  ASSERT_TRUE(run(next));
  EXPECT_EQ(next.walked.front(), 39U);
}

TEST_F(TrainLoop, RefusesOtherHyperParametersWithBothValues) {
  Walker first;
  first.dies_at = 10;
  EXPECT_FALSE(run(first));
  plan_.options.batch_size = 8;
  plan_.hyper_parameters = hyper_parameters(plan_.options);
  Walker second;
  const Result<cli::ExitCode> code = run(second);
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(code.error().to_string().find("--batch-size was 4 and is 8 now"), std::string::npos);
  EXPECT_TRUE(second.walked.empty());
  plan_.options.change_hyper_parameters = true;
  ASSERT_TRUE(run(second));
  EXPECT_EQ(second.walked.front(), 9U);
}

TEST_F(TrainLoop, ComputesWithAsManyThreadsAsItBeganWith) {
  unsigned used = 0;
  plan_.use_threads = [&used](unsigned threads) { used = threads; };
  plan_.options.threads = 4;
  Walker first;
  first.dies_at = 10;
  EXPECT_FALSE(run(first));
  EXPECT_EQ(used, 4U);

  plan_.options.threads = 2;  // on a machine that has no more
  Walker second;
  second.dies_at = 20;
  EXPECT_FALSE(run(second));
  EXPECT_EQ(used, 4U);

  plan_.options.threads_given = true;
  Walker third;
  const Result<cli::ExitCode> code = run(third);
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().to_string().find("--threads was 4 and is 2 now"), std::string::npos);
  plan_.options.change_hyper_parameters = true;
  ASSERT_TRUE(run(third));
  EXPECT_EQ(used, 2U);
}

TEST_F(TrainLoop, TellsOfEveryEpochAndOfWhereItBegins) {
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> epochs;
  plan_.begins = [&](JobFolder&, std::uint64_t step) -> Result<void> {
    begins.push_back(step);
    return {};
  };
  plan_.epoch_done = [&](JobFolder&, const EpochReport& report) -> Result<void> {
    epochs.push_back(report.epoch);
    return {};
  };
  Walker first;
  first.dies_at = 60;
  EXPECT_FALSE(run(first));
  Walker second;
  ASSERT_TRUE(run(second));
  EXPECT_EQ(begins, (std::vector<std::uint64_t>{0, 60}));
  EXPECT_EQ(epochs, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(TrainLoop, EvaluatesTheModelOrTheNewestCheckpoint) {
  plan_.options.mode = Mode::kEvaluate;
  Walker none;
  const Result<cli::ExitCode> code = run(none);
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code(), ErrorCode::kNotFound);

  plan_.options.mode = Mode::kTrain;
  Walker half;
  half.dies_at = 50;
  EXPECT_FALSE(run(half));
  plan_.options.mode = Mode::kEvaluate;
  Walker at_checkpoint;
  EXPECT_TRUE(run(at_checkpoint));
  EXPECT_NE(at_checkpoint.weight, 1);

  plan_.options.mode = Mode::kTrain;
  Walker whole;
  ASSERT_TRUE(run(whole));
  plan_.options.mode = Mode::kPredict;
  Walker model;
  EXPECT_TRUE(run(model));
  EXPECT_EQ(model.weight, whole.weight);
}

TEST_F(TrainLoop, DoesNothingTwiceWhenItIsDone) {
  Walker first;
  ASSERT_TRUE(run(first));
  const std::string model = text("model.safetensors");
  Walker second;
  ASSERT_TRUE(run(second));
  EXPECT_TRUE(second.walked.empty());
  EXPECT_EQ(text("model.safetensors"), model);
}

TEST_F(TrainLoop, TellsWhatTheLearnerNotedOnceAtTheEndHoweverItEnds) {
  is_quiet_ = false;
  for (const Mode mode : {Mode::kTrain, Mode::kEvaluate}) {
    plan_.options.mode = mode;
    Walker walker;
    walker.remarks = {"3 steps were steep"};
    walker.dies_at = 60;
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(walker).has_value(), mode == Mode::kEvaluate);
    const std::string said = testing::internal::GetCapturedStderr();
    const std::size_t at = said.find(walker.remarks.front());
    ASSERT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.find(walker.remarks.front(), at + 1), std::string::npos) << said;
  }
}

TEST_F(TrainLoop, RefusesTooManyEvaluations) {
  plan_.options.eval_steps = 1;
  plan_.options.train_steps = 1'000'000;
  Walker walker;
  EXPECT_FALSE(run(walker));
}

}  // namespace
}  // namespace outlast::trainers
