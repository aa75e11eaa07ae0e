#include "trainers/census/fold_booster.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/check.h"
#include "trainers/census/bins.h"
#include "trainers/census/boosting.h"
#include "trainers/census/gradient_sums.h"

namespace outlast::trainers {
namespace {

// What a split must gain at least: XGBoost's.
constexpr float kGainLeast = 1e-6F;

}  // namespace

FoldRows::FoldRows(const Parts& parts)
    : bins_(learn_bins(parts.learn_from)),
      columns_(bins_.size()),
      labels_(parts.labels.begin(), parts.labels.end()),
      held_out_(bin_codes(bins_, parts.held_out)) {
  OUTLAST_CHECK(bins_.size() <= kGroupsMax, "{} columns are more than {}", bins_.size(),
                kGroupsMax);
  grouped_ = group_columns(bins_, bin_codes(bins_, parts.learn_from));
  for (std::size_t column = 0; column < bins_.size(); ++column) {
    columns_[column].first = column_of_.size();
    columns_[column].count = bins_[column].count();
    column_of_.insert(column_of_.end(), columns_[column].count, static_cast<std::uint8_t>(column));
  }
  for (std::size_t i = 0; i < grouped_.groups.size(); ++i) {
    const ColumnGroup& group = grouped_.groups[i];
    for (const std::size_t column : group.columns) columns_[column].group = i;
    for (std::size_t at = 0; at < group.codes.size(); ++at) {
      const Column& column = columns_[group.columns[at % group.columns.size()]];
      bin_of_.push_back(static_cast<std::uint16_t>(column.first + group.codes[at]));
    }
  }
}

FoldBooster::FoldBooster(const FoldRows& rows, const BoostingParameters& parameters)
    : rows_(rows),
      parameters_(parameters),
      scale_(GradientScale::for_rows(rows.rows())),
      margins_(rows.rows()),
      held_out_margins_(rows.held_out()),
      gradients_(rows.rows()),
      order_(rows.rows()),
      aside_(rows.rows()),
      histograms_(parameters.depth, std::vector<PackedGradient>(rows.grouped_.combination_count)),
      bin_sums_(rows.column_of_.size()),
      scores_(rows.column_of_.size()),
      goes_left_(rows.grouped_.combination_count),
      node_columns_(std::size_t{1} << parameters.depth),
      node_codes_(std::size_t{1} << parameters.depth),
      leaves_(std::size_t{1} << parameters.depth) {}

void FoldBooster::boost() {
  logistic_gradients(margins_, rows_.labels_, scale_, gradients_);
  std::iota(order_.begin(), order_.end(), 0U);
  std::fill(node_codes_.begin(), node_codes_.end(), std::uint8_t{255});
  const Node root{.rows = order_,
                  .sum = std::accumulate(gradients_.begin(), gradients_.end(), PackedGradient{0})};
  build_histogram(root.rows, histograms_[0]);
  grow(root, histograms_[0]);
  judge_held_out();
}

void FoldBooster::build_histogram(std::span<const std::uint32_t> rows,
                                  std::vector<PackedGradient>& histogram) const {
  std::fill(histogram.begin(), histogram.end(), 0);
  add_to_histogram(
      {.combinations = rows_.grouped_.combinations, .groups = rows_.grouped_.groups.size()}, rows,
      gradients_, histogram.data());
}

bool FoldBooster::may_be_parted(const Node& node) const {
  return node.level < parameters_.depth &&
         curvature_of(node.sum, scale_) >= 2.0 * parameters_.min_leaf;
}

// The lighter part's histogram is built; the heavier's is what it leaves of the whole's. So there
// is one for each level, whose whole is not needed any more once its parts are known.
void FoldBooster::grow(const Node& node, std::vector<PackedGradient>& histogram) {
  const Parting parting = best_parting(node, histogram);
  if (!parting.is_there) return end_in_leaf(node);
  const std::size_t group = rows_.columns_[parting.column].group;
  set_sides(parting, rows_.grouped_.groups[group]);
  node_columns_[node.number] = static_cast<std::uint8_t>(parting.column);
  node_codes_[node.number] = parting.code;
  Node left{.number = 2 * node.number, .level = node.level + 1, .sum = parting.left};
  Node right{.number = left.number + 1, .level = left.level, .sum = node.sum - parting.left};
  if (!may_be_parted(left) && !may_be_parted(right)) {
    return end_in_two_leaves(node, group, {leaf_weight(left), leaf_weight(right)});
  }
  const std::size_t lefts = part(node.rows, group);
  left.rows = node.rows.first(lefts);
  right.rows = node.rows.subspan(lefts);
  const bool left_is_lighter = left.rows.size() < right.rows.size();
  const Node& lighter = left_is_lighter ? left : right;
  const Node& heavier = left_is_lighter ? right : left;
  std::vector<PackedGradient>& below = histograms_[left.level];
  build_histogram(lighter.rows, below);
  for (std::size_t i = 0; i < below.size(); ++i) histogram[i] -= below[i];
  may_be_parted(lighter) ? grow(lighter, below) : end_in_leaf(lighter);
  may_be_parted(heavier) ? grow(heavier, histogram) : end_in_leaf(heavier);
}

FoldBooster::Parting FoldBooster::best_parting(const Node& node,
                                               const std::vector<PackedGradient>& histogram) {
  std::fill(bin_sums_.begin(), bin_sums_.end(), 0);
  const std::uint16_t* bin = rows_.bin_of_.data();
  for (const ColumnGroup& group : rows_.grouped_.groups) {
    const std::size_t columns = group.columns.size();
    const PackedGradient* sum = histogram.data() + group.first;
    for (const PackedGradient* const end = sum + group.count(); sum != end; ++sum) {
      for (std::size_t i = 0; i < columns; ++i) bin_sums_[*bin++] += *sum;
    }
  }
  for (const FoldRows::Column& column : rows_.columns_) {
    const auto sums = std::span(bin_sums_).subspan(column.first, column.count);
    PackedGradient sum = 0;
    for (PackedGradient& one : sums) one = sum += one;
  }
  const BestSplit best = best_split({.left = bin_sums_,
                                     .whole = node.sum,
                                     .scale = scale_,
                                     .least = static_cast<float>(parameters_.min_leaf)},
                                    scores_);
  if (best.score - score_of(node.sum, scale_) <= kGainLeast) return {};
  const std::size_t column = rows_.column_of_[best.place];
  return {.column = column,
          .code = static_cast<std::uint8_t>(best.place - rows_.columns_[column].first),
          .left = bin_sums_[best.place],
          .is_there = true};
}

void FoldBooster::set_sides(const Parting& parting, const ColumnGroup& group) {
  const std::size_t columns = group.columns.size();
  const auto place = static_cast<std::size_t>(
      std::find(group.columns.begin(), group.columns.end(), parting.column) -
      group.columns.begin());
  for (std::size_t i = 0; i < group.count(); ++i) {
    goes_left_[group.first + i] = group.codes[i * columns + place] <= parting.code ? 1 : 0;
  }
}

// Rows stay in their order on both sides, so that memory is gone through in one direction.
std::size_t FoldBooster::part(std::span<std::uint32_t> rows, std::size_t group) {
  const std::size_t groups = rows_.grouped_.groups.size();
  const std::uint16_t* const combinations = rows_.grouped_.combinations.data() + group;
  const std::uint8_t* const goes_left = goes_left_.data();
  std::uint32_t* const kept = rows.data();
  std::uint32_t* const aside = aside_.data();
  std::size_t lefts = 0;
  std::size_t rights = 0;
  for (const std::uint32_t row : rows) {
    const std::size_t is_left = goes_left[combinations[row * groups]];
    kept[lefts] = row;
    aside[rights] = row;
    lefts += is_left;
    rights += 1 - is_left;
  }
  std::copy_n(aside, rights, kept + lefts);
  return lefts;
}

float FoldBooster::leaf_weight(const Node& node) const {
  return static_cast<float>(-gradient_of(node.sum, scale_) / (curvature_of(node.sum, scale_) + 1) *
                            parameters_.learning_rate);
}

void FoldBooster::end_in_leaf(const Node& node) {
  const float weight = leaf_weight(node);
  for (const std::uint32_t row : node.rows) margins_[row] += weight;
  leaves_[leaf_place(node)] = weight;
}

void FoldBooster::end_in_two_leaves(const Node& node, std::size_t group,
                                    const std::array<float, 2>& weights) {
  const std::size_t groups = rows_.grouped_.groups.size();
  const std::uint16_t* const combinations = rows_.grouped_.combinations.data() + group;
  for (const std::uint32_t row : node.rows) {
    margins_[row] += weights[1 - goes_left_[combinations[row * groups]]];
  }
  leaves_[leaf_place({.number = 2 * node.number, .level = node.level + 1})] = weights[0];
  leaves_[leaf_place({.number = 2 * node.number + 1, .level = node.level + 1})] = weights[1];
}

// What is sent to the left, from this node on, ends here.
std::size_t FoldBooster::leaf_place(const Node& node) const {
  return (node.number << (parameters_.depth - node.level)) - leaves_.size();
}

void FoldBooster::judge_held_out() {
  const std::size_t columns = rows_.bins_.size();
  const std::uint8_t* codes = rows_.held_out_.data();
  for (float& margin : held_out_margins_) {
    std::size_t node = 1;
    for (unsigned level = 0; level < parameters_.depth; ++level) {
      node = 2 * node + (codes[node_columns_[node]] > node_codes_[node] ? 1U : 0U);
    }
    margin += leaves_[node - leaves_.size()];
    codes += columns;
  }
}

}  // namespace outlast::trainers
