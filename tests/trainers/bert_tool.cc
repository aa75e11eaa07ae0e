// A BERT of ours, so that Hugging Face's can be compared to it:
//
//   bert_tool logits SHAPE MODEL TEXTS         prints a row of logits for each text
//   bert_tool train SHAPE MODEL TEXTS STEPS RATE OUT
//                                              STEPS steps on all texts at once, nothing dropped,
//                                              at a learning rate that falls linearly from RATE to
//                                              0
//
// SHAPE: LAYERS,HIDDEN,HEADS,VOCABULARY,CLASSES. TEXTS: in each line a class and the numbers of
// tokens.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/posix_world.h"
#include "trainers/torch/bert_learner.h"
#include "trainers/torch/torch_run.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {
namespace {

BertShape shape_of(const std::string& text) {
  std::istringstream in(text);
  BertShape shape;
  char comma = 0;
  in >> shape.layers >> comma >> shape.hidden >> comma >> shape.heads >> comma >>
      shape.vocabulary >> comma >> shape.classes;
  return shape;
}

TokenSet texts_of(const std::string& path) {
  std::ifstream file(path);
  TokenSet set;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::uint16_t label = 0;
    in >> label;
    std::vector<std::int32_t> tokens;
    for (std::int32_t token = 0; in >> token;) tokens.push_back(token);
    set.texts.add(tokens);
    set.labels.push_back(label);
  }
  return set;
}

Result<void> run(sys::FileSystem& files, const std::vector<std::string>& words) {
  const bool trains = words[0] == "train";
  const TokenSet texts = texts_of(words[3]);
  BertLearner learner({.shape = shape_of(words[1]),
                       .batch_size = texts.size(),
                       .learning_rate = trains ? std::stod(words[5]) : 0,
                       .drop_rate = 0,
                       .schedule = {.kind = Schedule::Kind::kLinear},
                       .steps = trains ? std::stoul(words[4]) : 0},
                      {.train = texts});
  OUTLAST_TRY_ASSIGN(const Weights weights, read_weights(files, words[2]));
  OUTLAST_TRY(learner.load(weights));
  if (!trains) {
    OUTLAST_TRY_ASSIGN(const std::vector<float> logits, learner.logits(texts.texts));
    const std::size_t classes = logits.size() / texts.size();
    std::cout.precision(9);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      std::cout << logits[i] << ((i + 1) % classes == 0 ? "\n" : " ");
    }
    return {};
  }
  for (std::uint64_t step = 0; step < std::stoul(words[4]); ++step) {
    OUTLAST_TRY(learner.step(step));
  }
  return write_safetensors(files, words[6], learner.weights(), {{"format", "pt"}});
}

}  // namespace
}  // namespace outlast::trainers

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  const bool fits =
      (words.size() == 4 && words[0] == "logits") || (words.size() == 7 && words[0] == "train");
  if (!fits) {
    std::cerr << "usage: bert_tool logits SHAPE MODEL TEXTS\n"
                 "       bert_tool train SHAPE MODEL TEXTS STEPS RATE OUT\n";
    return 2;
  }
  outlast::trainers::use_threads(1);
  outlast::sys::RealWorld real;
  const auto done = outlast::trainers::run(real.world().files, words);
  if (!done) std::cerr << done.error().to_string() << "\n";
  return done ? 0 : 1;
}
