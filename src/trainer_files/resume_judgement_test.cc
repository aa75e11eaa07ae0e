#include "trainer_files/resume_judgement.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "trainer_files/layout_table.h"

namespace outlast::trainer_files {
namespace {
namespace resume_judgement_test {

const Layout* layout_named(std::string_view name) {
  for (const Layout& row : layout_table()) {
    if (row.name == name) return &row;
  }
  ADD_FAILURE() << name;
  return nullptr;
}

TEST(ResumeJudgement, AFartherCheckpointMeansResumed) {
  const ResumeJudgement judgement = judge_resume({.step = 500}, {.step = 600}, nullptr);
  EXPECT_EQ(judgement.verdict, ResumeVerdict::kResumed);
  EXPECT_EQ(judgement.sentence, "resumed: restored step 500, and the next checkpoint is step 600");
}

TEST(ResumeJudgement, ANearerOneMeansThatTheScriptStartedOver) {
  const ResumeJudgement judgement =
      judge_resume({.step = 500}, {.step = 100}, layout_named("Hugging Face Trainer"));
  EXPECT_EQ(judgement.verdict, ResumeVerdict::kStartedOver);
  EXPECT_EQ(judgement.sentence,
            "restored, but your script started over: restored step 500, and the next checkpoint is "
            "step 100; to resume (Hugging Face Trainer), try --resume_from_checkpoint PATH, or "
            "trainer.train(resume_from_checkpoint=True)");
}

TEST(ResumeJudgement, TheAdviceIsThatOfTheTrainer) {
  const auto advice = [](std::string_view layout) {
    return judge_resume({.epoch = 4}, {.epoch = 1}, layout_named(layout)).sentence;
  };
  EXPECT_NE(advice("PyTorch imagenet example").find("--resume checkpoint.pth.tar"),
            std::string::npos);
  EXPECT_NE(advice("nanoGPT").find("--init_from=resume"), std::string::npos);
  EXPECT_NE(advice("Lightning").find("ckpt_path=\"last\""), std::string::npos);
}

TEST(ResumeJudgement, EpochsCountWhereStepsAreMissing) {
  EXPECT_EQ(judge_resume({.step = 5, .epoch = 2}, {.epoch = 3}, nullptr).verdict,
            ResumeVerdict::kResumed);
  EXPECT_EQ(judge_resume({.epoch = 2}, {.step = 900, .epoch = 1}, nullptr).verdict,
            ResumeVerdict::kStartedOver);
  // Steps come first: an epoch may be the same in both.
  EXPECT_EQ(judge_resume({.step = 5, .epoch = 2}, {.step = 6, .epoch = 2}, nullptr).verdict,
            ResumeVerdict::kResumed);
}

TEST(ResumeJudgement, WithoutNumbersNothingCanBeTold) {
  const ResumeJudgement judgement = judge_resume({}, {.step = 5}, layout_named("nanoGPT"));
  EXPECT_EQ(judgement.verdict, ResumeVerdict::kCannotTell);
  EXPECT_NE(judgement.sentence.find("if it started over, try --init_from=resume"),
            std::string::npos);
  EXPECT_EQ(judge_resume({.step = 5}, {.epoch = 5}, nullptr).verdict, ResumeVerdict::kCannotTell);
}

RC_GTEST_PROP(ResumeJudgement, OnlyAFartherOneIsAResume,
              (std::uint64_t restored, std::uint64_t first_new)) {
  const bool is_resumed = judge_resume({.step = restored}, {.step = first_new}, nullptr).verdict ==
                          ResumeVerdict::kResumed;
  RC_ASSERT(is_resumed == (first_new > restored));
}

}  // namespace resume_judgement_test
}  // namespace
}  // namespace outlast::trainer_files
