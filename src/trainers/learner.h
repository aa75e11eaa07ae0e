#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainers/weights/weight_file.h"

namespace outlast {
class Snapshots;
}

namespace outlast::trainers {

// What one step has seen of its batch, before it changed the weights.
struct StepReport {
  double loss = 0;  // the mean over the batch
  std::uint64_t examples = 0;
  std::uint64_t correct = 0;
};

struct Evaluation {
  double loss = 0;  // the mean over all examples
  std::uint64_t examples = 0;
  std::uint64_t correct = 0;

  double accuracy() const {
    return examples == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(examples);
  }
};

// What the model says of one example.
struct Prediction {
  std::string example = {};  // its number, file or text
  std::string label = {};    // the class that it thinks likeliest
  double probability = 0;
  std::string truth = {};  // the class that it has, where that is known
};
using PredictionSink = std::function<Result<void>(const Prediction&)>;

// Something that learns in steps. What a step does is a function of what describe() has registered
// and of the step's number: the order of the data, the schedule and all randomness follow from that
// number and the seed, so that nobody has to save a position or a generator. Confined to its owner.
class Learner {
 public:
  virtual ~Learner() = default;

  // Registers all that steps change: weights, what the optimizer keeps, running statistics. It
  // stays where it is from then on.
  virtual void describe(Snapshots& snapshots) = 0;
  // One step, counted from 0. A loss that is not finite is the caller's to judge: the weights may
  // be spoilt by then.
  virtual Result<StepReport> step(std::uint64_t number) = 0;
  // Over the examples kept for that. Changes nothing that describe() has registered.
  virtual Result<Evaluation> evaluate() = 0;
  // Of the same examples, or of others that the task was told of, one after the other.
  virtual Result<void> predict(const PredictionSink& sink) = 0;
  // The model alone, under the names and in the shapes that PyTorch has for it.
  virtual Weights weights() const = 0;
  // Puts them in place of the model's. kInvalidArgument, with the first tensor that does not fit
  // and both shapes, and nothing changed, if they are another model's.
  virtual Result<void> load(const Weights& weights) = 0;
  // What a person should know of the examples that were used so far, a line each: some were
  // damaged.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace outlast::trainers
