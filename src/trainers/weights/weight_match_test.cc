#include "trainers/weights/weight_match.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "trainers/weights/testing/made_weights.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers::testing {
namespace {
namespace weight_match_test {

using checkpoint::Dtype;

const Weights kHave = {
    .tensors = {counting("a", Dtype::kF32, {2, 3}), counting("b", Dtype::kI64, {})}};

std::string mismatch(const std::vector<WantedTensor>& wanted) {
  const auto matched = match(kHave, wanted);
  if (matched) return "";
  EXPECT_EQ(matched.error().code(), ErrorCode::kInvalidArgument);
  return matched.error().to_string();
}

TEST(WeightMatch, OrderDoesNotMatter) {
  EXPECT_EQ(mismatch({{"b", {}, Dtype::kI64}, {"a", {2, 3}, Dtype::kF32}}), "");
}

TEST(WeightMatch, TheFirstThatDiffersIsShownWithBothShapes) {
  EXPECT_EQ(mismatch({{"a", {3, 2}, Dtype::kF32}, {"b", {1}, Dtype::kI64}}),
            "tensor \"a\" has shape [2,3] of F32, and the model wants [3,2] of F32");
  EXPECT_EQ(mismatch({{"a", {2, 3}, Dtype::kF32}, {"b", {}, Dtype::kI32}}),
            "tensor \"b\" has shape [] of I64, and the model wants [] of I32");
}

TEST(WeightMatch, NamesThatAreMissingAndThatNobodyWantsAreListed) {
  EXPECT_EQ(mismatch({{"a", {2, 3}, Dtype::kF32}}),
            "of the 1 tensors that the model has, 1 is not expected (\"b\")");
  EXPECT_EQ(mismatch({{"a"}, {"c"}, {"d"}, {"e"}, {"f"}}),
            "of the 5 tensors that the model has, 4 are missing (\"c\", \"d\", \"e\", …) and 1 is "
            "not expected (\"b\")");
}

}  // namespace weight_match_test
}  // namespace
}  // namespace outlast::trainers::testing
