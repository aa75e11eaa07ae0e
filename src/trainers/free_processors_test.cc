#include "trainers/free_processors.h"

#include <gtest/gtest.h>

namespace outlast::trainers {
namespace {

TEST(FreeProcessors, AreTheAllowedLessTheBusy) {
  EXPECT_EQ(free_processors({.allowed = 5}), 5U);
  EXPECT_EQ(free_processors({.allowed = 5, .average = "1.80 1.00 0.90 3/200 7\n"}), 3U);
  EXPECT_EQ(free_processors({.allowed = 5, .quota = "250000 100000\n"}), 2U);
  EXPECT_EQ(free_processors({.allowed = 5, .quota = "max 100000\n"}), 5U);
}

TEST(FreeProcessors, AreOneAtLeast) {
  EXPECT_EQ(free_processors(Processors{}), 1U);
  EXPECT_EQ(free_processors({.allowed = 2, .average = "9.00 "}), 1U);
  EXPECT_EQ(free_processors({.allowed = 2, .quota = "50000 100000"}), 1U);
}

}  // namespace
}  // namespace outlast::trainers
