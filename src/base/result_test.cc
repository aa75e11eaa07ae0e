#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace outlast {
namespace {

Error no_such_thing() {
  return {ErrorCode::kNotFound, "no such thing"};
}

Result<int> number_if(bool works) {
  if (!works) return no_such_thing();
  return 7;
}
Result<void> nothing_if(bool works) {
  if (!works) return no_such_thing();
  return {};
}
Result<std::unique_ptr<int>> pointer_if(bool works) {
  if (!works) return no_such_thing();
  return std::make_unique<int>(7);
}

Result<std::string> tries_in_order(bool first, bool second, std::string& reached) {
  OUTLAST_TRY(nothing_if(first));
  reached += "1";
  OUTLAST_TRY(number_if(second));  // a value that nobody wants is dropped
  reached += "2";
  return std::string("all");
}

Result<int> adds_two_pointers(bool works) {
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<int> first, pointer_if(true));
  OUTLAST_TRY_ASSIGN(auto second, pointer_if(works));
  OUTLAST_TRY_ASSIGN(*second, number_if(true));  // an assignment works as well as a declaration
  return *first + *second;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(number_if(true).value(), 7);
  ASSERT_FALSE(number_if(false));
  EXPECT_EQ(number_if(false).error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(nothing_if(true));
  EXPECT_FALSE(nothing_if(false));
  EXPECT_EQ(number_if(false).value_or(3), 3);
}

TEST(Result, CarriesValuesThatOnlyMove) {
  std::unique_ptr<int> taken = *pointer_if(true);
  EXPECT_EQ(*taken, 7);
  static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
}

TEST(Result, SaysWhatWasBeingDoneOnFailureOnly) {
  EXPECT_EQ(number_if(false).while_doing("count").error().to_string(), "count: no such thing");
  EXPECT_EQ(nothing_if(false).while_doing("wait").error().to_string(), "wait: no such thing");
  EXPECT_EQ(number_if(true).while_doing("count").value(), 7);
  EXPECT_TRUE(nothing_if(true).while_doing("wait"));
  EXPECT_EQ(*pointer_if(true).while_doing("point").value(), 7);
}

TEST(Try, ReturnsTheFirstErrorAndDoesNotGoOn) {
  std::string reached;
  EXPECT_EQ(tries_in_order(true, true, reached).value(), "all");
  EXPECT_EQ(std::exchange(reached, ""), "12");
  EXPECT_EQ(tries_in_order(true, false, reached).error().to_string(), "no such thing");
  EXPECT_EQ(std::exchange(reached, ""), "1");
  EXPECT_FALSE(tries_in_order(false, true, reached));
  EXPECT_EQ(reached, "");
}

TEST(TryAssign, MovesTheValueOut) {
  EXPECT_EQ(adds_two_pointers(true).value(), 14);
  EXPECT_EQ(adds_two_pointers(false).error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace outlast
