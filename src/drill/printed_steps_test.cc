#include "drill/printed_steps.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace outlast::drill {
namespace {

std::vector<StepSample> read(std::string_view text) {
  StepReader reader({});
  double at = 0;
  for (const char c : text) reader.feed(std::string_view(&c, 1), at += 1);
  return reader.samples();
}

std::vector<std::uint64_t> steps(const std::vector<StepSample>& life, const StepScale& scale) {
  std::vector<std::uint64_t> numbers;
  for (const NumberedSample& one : on_scale(life, scale)) numbers.push_back(one.step);
  return numbers;
}
using Steps = std::vector<std::uint64_t>;

TEST(PrintedSteps, WhatIsSaidOnOtherOccasionsIsNoStep) {
  const auto first =
      read("step 1/9 loss 0.5\nstep 2/9 loss 0.4\nsaved step 2\nstep 3/9 loss 0.3\n");
  const auto second = read("resumed at step 2\nstep 3/9 loss 0.3\nstep 4/9 loss 0.2\n");
  const StepScale scale = find_scale(std::vector{&first, &second});
  EXPECT_EQ(steps(first, scale), (Steps{1, 2, 3}));
  EXPECT_EQ(steps(second, scale), (Steps{3, 4}));
  EXPECT_EQ(scale.distance, 1U);
  EXPECT_EQ(first[0].metrics.at("loss"), 0.5);
}

TEST(PrintedSteps, ThoseThatBeginAnewWithEachEpochGoOn) {
  const auto life =
      read("epoch 0 step 50/100 loss 1\nepoch 0 step 100/100 loss 1\nepoch 1 step 50/100 loss 1\n");
  const StepScale scale = find_scale(std::vector{&life});
  EXPECT_TRUE(scale.is_per_epoch);
  EXPECT_EQ(steps(life, scale), (Steps{50, 100, 150}));
  EXPECT_EQ(scale.distance, 50U);
}

TEST(PrintedSteps, EpochsWillDo) {
  const auto life = read("epoch 1/5 loss 1\nepoch 2/5 loss 0.5\n");
  EXPECT_EQ(steps(life, find_scale(std::vector{&life})), (Steps{1, 2}));
}

TEST(PrintedSteps, SilenceHasNone) {
  const auto life = read("hello\n\n");
  EXPECT_EQ(steps(life, find_scale(std::vector{&life})), Steps());
}

TEST(PrintedSteps, TheLastWordsAreKept) {
  StepReader reader({});
  for (int i = 0; i < 100; ++i) reader.feed("line " + std::to_string(i) + "\n", 0);
  EXPECT_EQ(reader.last_words().size(), 12U);
  EXPECT_EQ(reader.last_words().back(), "line 99");
}

}  // namespace
}  // namespace outlast::drill
