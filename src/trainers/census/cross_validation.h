#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trainers/census/adult.h"
#include "trainers/census/fold_booster.h"
#include "trainers/census/search_space.h"

namespace outlast::trainers {

struct FoldPlan {
  std::uint64_t seed = 0;
  std::size_t folds = 5;  // from 2
};
// For each person the fold that holds them out: each fold has its share, to one person, of those
// who earn more and of those who do not. A pure function.
std::vector<std::uint32_t> stratified_folds(const CensusTable& table, const FoldPlan& plan);

// The people in folds, encoded and sorted into bins once for all configurations. Immutable after
// construction: any number of threads may ask it at once, and the answers depend on nothing else.
class CrossValidation {
 public:
  // kInvalidArgument if there are fewer people of a kind than folds.
  static Result<CrossValidation> prepare(const CensusTable& table, const FoldPlan& plan);

  std::size_t folds() const { return folds_.size(); }
  std::size_t people(std::size_t fold) const { return folds_[fold].held_out_labels.size(); }

  // Learns from all other folds and judges this one: how many of its people are told right, for
  // each member of the chain. Takes seconds, on the calling thread; kCancelled soon after `stop`.
  Result<std::vector<std::uint32_t>> correct(const Chain& chain, std::size_t fold,
                                             const std::stop_token& stop) const;

 private:
  struct Fold {
    FoldRows rows;
    std::vector<float> held_out_labels;
  };
  explicit CrossValidation(std::vector<Fold> folds) : folds_(std::move(folds)) {}

  std::vector<Fold> folds_;
};

// How many of these labels the margins tell right.
std::uint32_t count_correct(std::span<const float> margins, std::span<const float> labels);

}  // namespace outlast::trainers
