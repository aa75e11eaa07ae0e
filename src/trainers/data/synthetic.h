#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainers/data/image_set.h"
#include "trainers/data/text_set.h"

// Data that is made up, for machines without a network and for tests: the same bytes on every
// machine and in every build, because whole numbers and base/random.h make them.
namespace outlast::trainers {

struct SyntheticImages {
  std::size_t classes = 10;  // > 0
  std::size_t width = 32;    // > 0, as are the next two
  std::size_t height = 32;
  std::size_t channels = 3;
  std::size_t train_count = 10'000;
  std::size_t test_count = 2'000;
  std::uint64_t seed = 0;
};
// A class is a stripe pattern of one direction, width and pair of colours, seen through a round
// window at any place and of any phase, and a spot in a third colour beside it. Two weaker pieces
// of any classes' patterns and noise lie over it, so that a network has to learn for a while (a
// small one gets less than half of them right after an epoch of 10,000, and most after eight), and
// single pixels tell nothing. Classes come in turn, so that each has its share of any count.
ImageData synthetic_images(const SyntheticImages& wanted);

struct SyntheticTexts {
  std::size_t train_count = 4'000;
  std::size_t test_count = 1'000;
  std::uint64_t seed = 0;
};
// Sentences of four classes (weather, cooking, trains, music). Most words are of no class, some are
// of the sentence's own, a few are of another one.
TextData synthetic_texts(const SyntheticTexts& wanted);
// Every word in them, in lower case and sorted: the vocabulary of a tokenizer for them.
std::vector<std::string> synthetic_words();

}  // namespace outlast::trainers
