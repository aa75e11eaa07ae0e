#include "job/trainer_end.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <set>
#include <string>

#include "job/spec.h"

namespace outlast::job {
namespace {
namespace trainer_end_test {

TrainerExit code(int value) {
  return {.by_signal = false, .value = value};
}
TrainerExit killed(int signal) {
  return {.by_signal = true, .value = signal};
}

EndMeaning meaning(const TrainerExit& exit, bool asked = false, const ExitCodes& codes = {}) {
  return judge_end(exit, asked, codes).meaning;
}

TEST(TrainerEnd, IsDoneOnlyByAnExitZeroThatNobodyAskedFor) {
  EXPECT_EQ(meaning(code(0)), EndMeaning::kDone);
  EXPECT_EQ(meaning(code(0), true), EndMeaning::kLeft);
  for (int value = 1; value < 256; ++value) {
    EXPECT_NE(meaning(code(value)), EndMeaning::kDone) << value;
    EXPECT_NE(meaning(killed(value)), EndMeaning::kDone) << value;
  }
  EXPECT_EQ(meaning(killed(0)), EndMeaning::kFailed);  // no such death, and so no success
}

TEST(TrainerEnd, EveryEndAfterARequestToLeaveIsLeft) {
  for (int value = 0; value < 256; ++value) {
    EXPECT_EQ(meaning(code(value), true), EndMeaning::kLeft) << value;
    EXPECT_EQ(meaning(killed(value), true), EndMeaning::kLeft) << value;
  }
}

TEST(TrainerEnd, ExactlyTwoCodesHaveAMeaningOfTheirOwn) {
  for (const ExitCodes codes : {ExitCodes{}, ExitCodes{.left = 3, .never = 1}}) {
    for (int value = 1; value < 256; ++value) {
      const EndMeaning expected = value == codes.left    ? EndMeaning::kLeft
                                  : value == codes.never ? EndMeaning::kNeverAgain
                                                         : EndMeaning::kFailed;
      EXPECT_EQ(meaning(code(value), false, codes), expected) << value;
      EXPECT_EQ(meaning(killed(value), false, codes), EndMeaning::kFailed) << value;
    }
  }
}

TEST(TrainerEnd, SaysWhatHappened) {
  const ExitCodes codes;
  EXPECT_EQ(judge_end(code(0), false, codes).why, "the trainer is done: it ended with exit code 0");
  EXPECT_EQ(judge_end(code(0), true, codes).why,
            "the trainer left as it was asked to, with exit code 0");
  EXPECT_EQ(judge_end(code(75), false, codes).why,
            "the trainer saved and left by itself: exit code 75 means that");
  EXPECT_EQ(judge_end(code(78), false, codes).why,
            "the trainer failed for good: exit code 78 means that trying again is no use");
  EXPECT_EQ(judge_end(code(1), false, codes).why, "the trainer failed with exit code 1");
  EXPECT_EQ(judge_end(code(127), false, codes).why,
            "the trainer failed with exit code 127; the shell does not find the command");
  EXPECT_EQ(judge_end(killed(SIGKILL), false, codes).why,
            "the trainer failed with SIGKILL; most often the machine had run out of memory");
  EXPECT_EQ(judge_end(code(137), false, codes).why,
            "the trainer failed with exit code 137 (SIGKILL); most often the machine had run out "
            "of memory");
  EXPECT_EQ(judge_end(killed(63), false, codes).why, "the trainer failed with signal 63");
}

TEST(TrainerEnd, DifferentDeathsHaveDifferentNames) {
  std::set<std::string> names;
  for (int value = 0; value < 256; ++value) names.insert(describe(code(value)));
  for (int value = 1; value < 65; ++value) names.insert(describe(killed(value)));
  EXPECT_EQ(names.size(), 256U + 64U);
}

}  // namespace trainer_end_test
}  // namespace
}  // namespace outlast::job
