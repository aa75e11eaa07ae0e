#include "trainers/census/cross_validation.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "trainers/census/adult.h"
#include "trainers/census/census_encoding.h"
#include "trainers/census/fold_booster.h"
#include "trainers/census/search_space.h"
#include "trainers/data/order.h"

namespace outlast::trainers {

std::vector<std::uint32_t> stratified_folds(const CensusTable& table, const FoldPlan& plan) {
  const std::vector<std::uint32_t> order = epoch_order(
      {.seed = plan.seed, .epoch = 0, .count = static_cast<std::uint32_t>(table.rows())});
  std::vector<std::uint32_t> folds(table.rows());
  std::array<std::size_t, 2> seen = {};
  for (const std::uint32_t row : order) {
    folds[row] = static_cast<std::uint32_t>(seen.at(table.earns_more[row])++ % plan.folds);
  }
  return folds;
}

Result<CrossValidation> CrossValidation::prepare(const CensusTable& table, const FoldPlan& plan) {
  const auto earners = static_cast<std::size_t>(
      std::count(table.earns_more.begin(), table.earns_more.end(), std::uint8_t{1}));
  if (std::min(earners, table.rows() - earners) < plan.folds) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} people of whom {} earn more than 50K are too few for {} folds: "
                             "each needs both kinds",
                             table.rows(), earners, plan.folds));
  }
  const std::vector<std::uint32_t> fold_of = stratified_folds(table, plan);
  std::vector<Fold> folds;
  folds.reserve(plan.folds);
  for (std::size_t fold = 0; fold < plan.folds; ++fold) {
    std::vector<std::uint32_t> inside;
    std::vector<std::uint32_t> others;
    for (std::uint32_t row = 0; row < table.rows(); ++row) {
      (fold_of[row] == fold ? inside : others).push_back(row);
    }
    const CensusEncoding encoding = learn_census_encoding(table, others);
    const std::vector<float> values = encode_census(encoding, table, others);
    const std::vector<float> labels = census_labels(table, others);
    const std::vector<float> held_out = encode_census(encoding, table, inside);
    folds.push_back(
        {.rows = FoldRows({.learn_from = {.values = values, .columns = kCensusColumns},
                           .labels = labels,
                           .held_out = {.values = held_out, .columns = kCensusColumns}}),
         .held_out_labels = census_labels(table, inside)});
  }
  return CrossValidation(std::move(folds));
}

Result<std::vector<std::uint32_t>> CrossValidation::correct(const Chain& chain, std::size_t fold,
                                                            const std::stop_token& stop) const {
  const Fold& with = folds_[fold];
  FoldBooster booster(with.rows, chain.boosting);
  std::vector<std::uint32_t> counts;
  unsigned grown = 0;
  for (const Chain::Member& member : chain.members) {
    if (grown == member.trees && !counts.empty()) {
      counts.push_back(counts.back());
      continue;
    }
    for (; grown < member.trees; ++grown) {
      if (stop.stop_requested()) return Error(ErrorCode::kCancelled, "cross-validation stopped");
      booster.boost();
    }
    counts.push_back(count_correct(booster.margins(), with.held_out_labels));
  }
  return counts;
}

std::uint32_t count_correct(std::span<const float> margins, std::span<const float> labels) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    count += (margins[i] > 0) == (labels[i] > 0) ? 1U : 0U;
  }
  return count;
}

}  // namespace outlast::trainers
