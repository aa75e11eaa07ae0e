#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace outlast::trainers {

// How large a BERT is. A value.
struct BertShape {
  std::int64_t layers = 2;
  std::int64_t hidden = 128;
  std::int64_t heads = 2;
  std::int64_t vocabulary = 30522;
  std::int64_t classes = 2;
  std::int64_t positions = 512;  // the longest text, in tokens
  std::int64_t token_types = 2;

  std::int64_t intermediate() const { return 4 * hidden; }
  std::int64_t head_size() const { return hidden / heads; }

  friend bool operator==(const BertShape&, const BertShape&) = default;
};

// "tiny", "mini", "small", "medium" or "base", as their authors have called them. kInvalidArgument
// for another name.
Result<BertShape> bert_shape(std::string_view size);

// One parameter and its place in an array that holds all of them.
struct BertParameter {
  std::string name = {};  // "bert.encoder.layer.0.output.dense.weight"
  std::vector<std::int64_t> shape = {};
  std::size_t begin = 0;  // in numbers; a multiple of 16
  std::size_t count = 0;
  bool decays = true;  // not biases and the norms' weights
};

// All of them, with the names, the shapes and in the order of BertForSequenceClassification of
// Hugging Face's transformers.
std::vector<BertParameter> bert_parameters(const BertShape& shape);
// How many numbers the array has, those that only align included.
std::size_t bert_array_size(const std::vector<BertParameter>& parameters);

// What an entry of a file of weights is called here: the prefix "bert." is added where the file has
// an encoder alone, "LayerNorm.gamma" and "beta" are the weights and biases of old files. Empty: it
// is for something else than this model (the head that guesses words, lists of positions).
std::string bert_parameter_name(std::string_view entry);

}  // namespace outlast::trainers
