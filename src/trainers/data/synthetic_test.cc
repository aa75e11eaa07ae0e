#include "trainers/data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/encoding.h"
#include "base/hash.h"

namespace outlast::trainers {
namespace {

TEST(SyntheticImages, AreTheSameBytesOnEveryMachine) {
  const ImageData data = synthetic_images({.train_count = 30, .test_count = 10, .seed = 1});
  EXPECT_EQ(data.train.pixels.size(), 30U * 3072U);
  EXPECT_EQ(data.test.count(), 10U);
  EXPECT_TRUE(data.synthetic);
  EXPECT_EQ(sha256(std::as_bytes(std::span(data.train.pixels))).hex().substr(0, 16),
            "5e815701a8b6a8f8");
}

TEST(SyntheticImages, HaveEveryShapeAndEachClassItsShare) {
  const ImageData data = synthetic_images(
      {.classes = 3, .width = 7, .height = 5, .channels = 1, .train_count = 9, .test_count = 0});
  EXPECT_EQ(data.train.pixels.size(), 9U * 35U);
  EXPECT_EQ(data.train.class_names.size(), 3U);
  for (int label = 0; label < 3; ++label)
    EXPECT_EQ(std::ranges::count(data.train.labels, label), 3);
  EXPECT_EQ(data.test.count(), 0U);
  EXPECT_EQ(
      synthetic_images({.classes = 2, .width = 1, .height = 1, .train_count = 4}).train.count(),
      4U);
}

TEST(SyntheticImages, DifferFromEachOtherAndByTheSeed) {
  const ImageData one = synthetic_images({.train_count = 20, .test_count = 20, .seed = 1});
  const ImageData other = synthetic_images({.train_count = 20, .test_count = 20, .seed = 2});
  std::set<std::vector<std::uint8_t>> seen;
  for (const ImageSet* set : {&one.train, &one.test, &other.train, &other.test}) {
    for (std::size_t i = 0; i < set->count(); ++i) {
      seen.insert({set->image(i).begin(), set->image(i).end()});
    }
  }
  EXPECT_EQ(seen.size(), 80U);
}

// A mean colour alone tells a class a little better than chance, and far from well: there is
// something to learn, and something to look at.
TEST(SyntheticImages, AreNotToldByTheirMeanColour) {
  const ImageData data = synthetic_images({.train_count = 400, .test_count = 200});
  const auto mean = [](const ImageSet& set, std::size_t i) {
    std::array<double, 3> sums = {};
    for (std::size_t at = 0; at < 3072; ++at) sums[at / 1024] += set.image(i)[at] / 1024.0;
    return sums;
  };
  std::size_t right = 0;
  std::vector<std::array<double, 3>> train;
  for (std::size_t i = 0; i < data.train.count(); ++i) train.push_back(mean(data.train, i));
  for (std::size_t i = 0; i < data.test.count(); ++i) {
    const std::array<double, 3> here = mean(data.test, i);
    const auto distance = [&](const std::array<double, 3>& there) {
      double sum = 0;
      for (std::size_t c = 0; c < 3; ++c) sum += (here[c] - there[c]) * (here[c] - there[c]);
      return sum;
    };
    const auto nearest = std::ranges::min_element(train, {}, distance);
    const auto index = static_cast<std::size_t>(nearest - train.begin());
    if (data.train.labels[index] == data.test.labels[i]) ++right;
  }
  EXPECT_LT(right, 100U);
}

TEST(SyntheticTexts, AreTheSameOnEveryMachine) {
  const TextData data = synthetic_texts({.train_count = 8, .test_count = 4, .seed = 1});
  EXPECT_EQ(data.train.texts[1], "From long degrees left before plate the.");
  EXPECT_EQ(data.train.labels, (std::vector<std::uint16_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(data.train.class_count, 4U);
  EXPECT_NE(data.train.texts[0], data.test.texts[0]);
}

TEST(SyntheticTexts, AreMadeOfTheWords) {
  const std::vector<std::string> words = synthetic_words();
  EXPECT_TRUE(std::ranges::is_sorted(words));
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), words.size());
  std::set<std::string> seen;
  for (const std::string& text : synthetic_texts({}).train.texts) {
    std::string word;
    for (const char c : text) {
      if (ascii_lower_char(c) >= 'a') {
        word += ascii_lower_char(c);
      } else if (!word.empty()) {
        seen.insert(word);
        word.clear();
      }
    }
  }
  EXPECT_EQ(std::vector<std::string>(seen.begin(), seen.end()), words);
}

}  // namespace
}  // namespace outlast::trainers
