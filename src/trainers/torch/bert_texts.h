#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/world.h"
#include "trainers/torch/bert_learner.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

struct BertTextOptions {
  std::string data = {};         // "synthetic", or a folder with train.csv and test.csv
  std::string vocabulary = {};   // a vocab.txt; empty: the folder's
  std::string input = {};        // a file with a text in each line; empty: the texts of test.csv
  std::size_t length_max = 512;  // in tokens: what is longer is cut
  std::uint64_t seed = 0;        // of synthetic texts
  Mode mode = Mode::kTrain;      // what is not needed for it is not made into tokens
  unsigned threads = 1;
};

struct BertTexts {
  BertLearner::Texts sets = {};
  std::size_t classes = 0;
  std::size_t vocabulary = 0;            // tokens
  std::vector<std::string> labels = {};  // the lines of the folder's class.txt, if it has as many
  std::string from = {};                 // for messages
};

// Reads all that a task needs and makes tokens of it. kNotFound names what is missing and where it
// belongs; kInvalidArgument if there is no text to learn from.
Result<BertTexts> read_bert_texts(sys::World& world, const BertTextOptions& options);

}  // namespace outlast::trainers
