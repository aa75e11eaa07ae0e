#include "trainers/metrics.h"

#include <gtest/gtest.h>

namespace outlast::trainers {
namespace {

Metrics two_points() {
  Metrics metrics;
  metrics.add({.step = 100,
               .epoch = 0.1,
               .loss = 2.3025850929940455,
               .accuracy = 0.1,
               .learning_rate = 0.001});
  metrics.add({.step = 1000, .epoch = 1, .test_loss = 1.0 / 3, .test_accuracy = 0.625});
  return metrics;
}

TEST(Metrics, AreReadBackToTheLastBit) {
  const Metrics metrics = two_points();
  const Result<Metrics> again = Metrics::parse(metrics.text());
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->points(), metrics.points());
}

TEST(Metrics, AreAnObjectALine) {
  EXPECT_EQ(two_points().text(),
            "{\"accuracy\":0.1,\"epoch\":0.1,\"learning_rate\":0.001,\"loss\":2.3025850929940455,"
            "\"step\":100}\n"
            "{\"epoch\":1.0,\"step\":1000,\"test_accuracy\":0.625,\"test_loss\":"
            "0.3333333333333333}\n");
}

TEST(Metrics, SayWhichLineIsWrong) {
  const Result<Metrics> metrics = Metrics::parse("{\"step\":1,\"epoch\":1}\n{\"step\":\"x\"}\n");
  ASSERT_FALSE(metrics);
  EXPECT_NE(metrics.error().to_string().find("line 2"), std::string::npos);
}

TEST(RunningSums, WeighByExamples) {
  RunningSums sums;
  sums.add({.loss = 2, .examples = 4, .correct = 1});
  sums.add({.loss = 1, .examples = 2, .correct = 2});
  EXPECT_EQ(sums.loss, 10);
  EXPECT_EQ(sums.examples, 6U);
  EXPECT_EQ(sums.correct, 3U);
}

}  // namespace
}  // namespace outlast::trainers
