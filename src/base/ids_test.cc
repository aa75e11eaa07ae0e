#include "base/ids.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace outlast {
namespace {

using OtherName = Name<struct OtherNameTag>;
using OtherOrdinal = Ordinal<struct OtherOrdinalTag>;

template <typename A, typename B>
concept EqualityComparable = requires(const A& a, const B& b) { a == b; };

static_assert(!std::is_convertible_v<std::string, JobName>);
static_assert(!std::is_constructible_v<JobName, OtherName>);
static_assert(!std::is_constructible_v<Epoch, OtherOrdinal>);
static_assert(EqualityComparable<JobName, JobName>);
static_assert(!EqualityComparable<JobName, OtherName>);
static_assert(!EqualityComparable<Epoch, OtherOrdinal>);

TEST(Name, ComparesByItsText) {
  EXPECT_EQ(JobName("cifar10"), JobName("cifar10"));
  EXPECT_LT(JobName("cifar10"), JobName("imagenet"));
  EXPECT_EQ(JobName("cifar10").str(), "cifar10");
  EXPECT_TRUE(JobName().empty());
  EXPECT_FALSE(JobName("a").empty());
}

TEST(Ordinal, NextIsGreater) {
  EXPECT_EQ(Epoch{}.value, 0U);
  EXPECT_EQ(Epoch{4}.next(), Epoch{5});
  EXPECT_LT(Epoch{4}, Epoch{4}.next());
}

}  // namespace
}  // namespace outlast
