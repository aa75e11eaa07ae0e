#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "trainers/data/order.h"
#include "trainers/data/synthetic.h"
#include "trainers/data/text_set.h"

namespace outlast::trainers {
namespace {

constexpr std::size_t kTopics = 4;
constexpr std::size_t kTopicWords = 24;

using TopicWords = std::array<std::string_view, kTopicWords>;

constexpr std::array<TopicWords, kTopics> kTopicLists = {{
    {"rain",  "cloud",  "storm",   "sunshine", "wind",   "fog",   "snow",    "thunder",
     "frost", "breeze", "drizzle", "forecast", "hail",   "humid", "drought", "lightning",
     "gust",  "mist",   "degrees", "climate",  "shower", "ice",   "heat",    "barometer"},
    {"bread", "soup",  "oven",   "butter", "pepper", "onion", "flour",  "kitchen",
     "spoon", "stew",  "garlic", "recipe", "sugar",  "knife", "boiled", "baked",
     "sauce", "dough", "plate",  "cheese", "fried",  "salt",  "tomato", "dinner"},
    {"train",    "station",   "track",   "platform",   "engine",    "ticket",
     "railway",  "carriage",  "signal",  "bridge",     "conductor", "express",
     "junction", "tunnel",    "luggage", "timetable",  "departed",  "freight",
     "delay",    "passenger", "sleeper", "locomotive", "wheel",     "terminus"},
    {"violin",  "song",    "choir",  "drum",   "melody", "piano",  "concert", "rhythm",
     "guitar",  "singer",  "opera",  "chord",  "flute",  "tune",   "band",    "orchestra",
     "trumpet", "harmony", "chorus", "ballad", "cello",  "encore", "stage",   "applause"},
}};

constexpr std::array<std::string_view, 48> kPlainWords = {
    "the",    "a",      "and",    "of",    "to",    "in",    "it",    "was",   "for",     "on",
    "with",   "as",     "at",     "by",    "from",  "had",   "they",  "we",    "she",     "he",
    "after",  "before", "while",  "again", "never", "often", "today", "later", "morning", "evening",
    "people", "town",   "small",  "large", "quiet", "new",   "old",   "first", "last",    "long",
    "came",   "went",   "looked", "said",  "found", "left",  "made",  "knew"};

std::string_view draw_word(std::span<const std::string_view> words, Random& random) {
  return words[random.below(words.size())];
}

std::string draw_sentence(std::size_t topic, Random& random) {
  const std::size_t length = 6 + random.below(15);
  // One word is always of the topic: a sentence without any could not be told.
  const std::size_t sure = random.below(length);
  std::string sentence;
  for (std::size_t i = 0; i < length; ++i) {
    const std::uint64_t draw = random.below(100);
    std::string word;
    if (i == sure || draw < 16) {
      word = draw_word(kTopicLists[topic], random);
    } else if (draw < 24) {
      word = draw_word(kTopicLists[random.below(kTopics)], random);
    } else {
      word = draw_word(kPlainWords, random);
    }
    if (i == 0) word[0] = static_cast<char>(word[0] - 'a' + 'A');
    if (i > 0) sentence += random.below(10) == 0 ? ", " : " ";
    sentence += word;
  }
  return sentence + '.';
}

TextSet draw_texts(std::size_t count, std::uint64_t seed, std::uint64_t draws) {
  TextSet set = {.class_count = kTopics};
  for (std::size_t i = 0; i < count; ++i) {
    Random random(mix_seed({.a = seed, .b = draws, .c = i}));
    const std::size_t topic = i % kTopics;
    set.texts.push_back(draw_sentence(topic, random));
    set.labels.push_back(static_cast<std::uint16_t>(topic));
  }
  return set;
}

}  // namespace

TextData synthetic_texts(const SyntheticTexts& wanted) {
  return {.train = draw_texts(wanted.train_count, wanted.seed, 1),
          .test = draw_texts(wanted.test_count, wanted.seed, 2),
          .synthetic = true,
          .from = fmt::format("made up with seed {}", wanted.seed)};
}

std::vector<std::string> synthetic_words() {
  std::vector<std::string> words(kPlainWords.begin(), kPlainWords.end());
  for (const TopicWords& list : kTopicLists) words.insert(words.end(), list.begin(), list.end());
  std::ranges::sort(words);
  return words;
}

}  // namespace outlast::trainers
