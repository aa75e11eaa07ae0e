#include "trainers/images/transforms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "base/random.h"
#include "trainers/images/testing/made_pictures.h"

namespace outlast::trainers {
namespace {

Crop whole(const Picture& picture) {
  return {.left = 0, .top = 0, .width = picture.width, .height = picture.height};
}

// One row of gray pixels.
Picture gray_row(const std::vector<std::uint8_t>& values) {
  Picture row = {.width = values.size(), .height = 1};
  for (const std::uint8_t value : values) row.rgb.insert(row.rgb.end(), 3, value);
  return row;
}

std::vector<std::uint8_t> resized_row(const std::vector<std::uint8_t>& values, std::size_t width) {
  const Picture row = gray_row(values);
  const Picture result = resize(row, whole(row), {.width = width, .height = 1});
  std::vector<std::uint8_t> gray;
  for (std::size_t i = 0; i < width; ++i) gray.push_back(result.rgb[3 * i]);
  return gray;
}

// The numbers are those of PyTorch's interpolate() with antialias, rounded, which agrees with
// Pillow.
TEST(Resize, IsWhatPillowAndPyTorchDo) {
  using Row = std::vector<std::uint8_t>;
  EXPECT_EQ(resized_row({0, 100, 200, 250}, 4), (Row{0, 100, 200, 250}));
  EXPECT_EQ(resized_row({0, 100, 200, 250}, 2), (Row{71, 207}));
  EXPECT_EQ(resized_row({0, 100, 200, 250}, 8), (Row{0, 25, 75, 125, 175, 213, 238, 250}));
  EXPECT_EQ(resized_row({9, 0, 255, 3, 80, 120, 7, 200, 90, 33}, 3), (Row{71, 88, 94}));
  EXPECT_EQ(resized_row({42}, 5), (Row{42, 42, 42, 42, 42}));
}

TEST(Resize, LeavesAnEvenSurfaceEven) {
  for (const std::size_t from : {1U, 3U, 50U, 333U}) {
    for (const std::size_t to : {1U, 2U, 31U, 224U}) {
      EXPECT_EQ(resized_row(std::vector<std::uint8_t>(from, 255), to),
                std::vector<std::uint8_t>(to, 255));
    }
  }
}

TEST(Resize, TakesOnlyThePart) {
  Picture picture = testing::made_picture({.width = 9, .height = 8}, 1);
  const Crop part = {.left = 2, .top = 3, .width = 4, .height = 2};
  const Picture same = resize(picture, part, {.width = 4, .height = 2});
  EXPECT_EQ(same.rgb[0], picture.rgb[(3 * 9 + 2) * 3]);
  EXPECT_EQ(same.rgb.back(), picture.rgb[(4 * 9 + 5) * 3 + 2]);
  const Picture before = resize(picture, part, {.width = 7, .height = 7});
  for (std::size_t i = 0; i < 9; ++i) picture.rgb[(2 * 9 + i) * 3] = 255;
  for (std::size_t i = 0; i < 8; ++i) picture.rgb[(i * 9 + 6) * 3] = 255;
  EXPECT_EQ(resize(picture, part, {.width = 7, .height = 7}).rgb, before.rgb);
}

TEST(CentreCrop, IsTheMiddle) {
  EXPECT_EQ(centre_crop({.width = 10, .height = 7}, {.width = 4, .height = 4}),
            (Crop{.left = 3, .top = 1, .width = 4, .height = 4}));
  EXPECT_EQ(centre_crop({.width = 3, .height = 7}, {.width = 4, .height = 4}),
            (Crop{.left = 0, .top = 1, .width = 3, .height = 4}));
  EXPECT_EQ(with_shorter_side({.width = 500, .height = 375}, 256),
            (Size{.width = 341, .height = 256}));
  EXPECT_EQ(with_shorter_side({.width = 375, .height = 500}, 256),
            (Size{.width = 256, .height = 341}));
}

TEST(RandomCrop, StaysWithinThePictureAndTheRange) {
  Random random(5);
  std::set<std::size_t> areas;
  for (int i = 0; i < 1000; ++i) {
    const Crop crop = random_crop({.width = 400, .height = 300}, {}, random);
    ASSERT_LE(crop.left + crop.width, 400U);
    ASSERT_LE(crop.top + crop.height, 300U);
    const double area = static_cast<double>(crop.width * crop.height) / (400 * 300);
    const double ratio = static_cast<double>(crop.width) / static_cast<double>(crop.height);
    EXPECT_GT(area, 0.078);
    EXPECT_GT(ratio, 0.74);
    EXPECT_LT(ratio, 1.35);
    areas.insert(static_cast<std::size_t>(area * 10));
  }
  EXPECT_GE(areas.size(), 9U);
}

TEST(RandomCrop, IsTheMiddleOfAPictureThatIsTooLong) {
  Random random(5);
  EXPECT_EQ(random_crop({.width = 1000, .height = 3}, {.area_min = 0.9}, random),
            (Crop{.left = 498, .top = 0, .width = 4, .height = 3}));
}

TEST(Flip, ExchangesLeftAndRight) {
  Picture row = gray_row({1, 2, 3});
  flip(row);
  EXPECT_EQ(row.rgb, gray_row({3, 2, 1}).rgb);
}

TEST(Normalised, HasEachChannelByItsOwnMeanAndDeviation) {
  const std::vector<std::uint8_t> rgb = {0, 51, 255, 255, 51, 0};
  std::vector<float> out(6);
  normalise(rgb, {.mean = {0, 0.2F, 0.5F}, .std = {1, 1, 0.25F}}, out);
  EXPECT_EQ(out, (std::vector<float>{0, 0, 2, 1, 0, -2}));
}

TEST(Transformed, HasTheWantedSizeAndDependsOnTheGeneratorOnly) {
  const Picture picture = testing::made_picture({.width = 70, .height = 50}, 1);
  const Transform train = {.size = {.width = 32, .height = 24}};
  std::set<std::vector<std::uint8_t>> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random one(seed);
    Random same(seed);
    const Picture result = transformed(picture, train, one);
    EXPECT_EQ(result.rgb.size(), 32U * 24U * 3U);
    EXPECT_EQ(result.rgb, transformed(picture, train, same).rgb);
    seen.insert(result.rgb);
  }
  EXPECT_EQ(seen.size(), 20U);
  const Transform test = {.random = false, .size = {.width = 32, .height = 32}, .shorter_side = 40};
  Random one(1);
  Random other(2);
  EXPECT_EQ(transformed(picture, test, one).rgb, transformed(picture, test, other).rgb);
}

}  // namespace
}  // namespace outlast::trainers
