#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainers/census/bins.h"
#include "trainers/census/boosting.h"
#include "trainers/census/gradient_sums.h"

// Boosting for the search alone, which needs no model but only how well it would do: XGBoost's
// algorithm for the logistic loss (histograms, level by level, lambda 1), on one thread, in whole
// numbers, and some times faster. It differs in where the bins of a column of many values end, and
// in how sums are rounded.
namespace outlast::trainers {

// Rows to learn from and others to be judged. Immutable after construction: any number of threads
// may use it at once.
class FoldRows {
 public:
  struct Parts {
    ValueRows learn_from = {};
    std::span<const float> labels = {};  // one for each row of these, 0 or 1
    ValueRows held_out = {};             // of the same columns, at most kGroupsMax
  };
  explicit FoldRows(const Parts& parts);

  std::size_t rows() const { return labels_.size(); }
  std::size_t held_out() const { return held_out_.size() / bins_.size(); }

 private:
  friend class FoldBooster;
  // Its bins are counted through all columns.
  struct Column {
    std::size_t first = 0;
    std::size_t count = 0;
    std::size_t group = 0;
  };

  std::vector<ColumnBins> bins_;
  GroupedRows grouped_;
  std::vector<Column> columns_;
  std::vector<std::uint8_t> column_of_;  // for each bin
  std::vector<std::uint16_t> bin_of_;    // for each combination of each group, by its columns
  std::vector<float> labels_;
  std::vector<std::uint8_t> held_out_;  // codes, a row after the other
};

// Confined to its owner; the rows outlive it.
class FoldBooster {
 public:
  FoldBooster(const FoldRows& rows, const BoostingParameters& parameters);

  // One more tree.
  void boost();
  // For each row that was held out: above 0 if it is more likely 1. By the trees there are.
  const std::vector<float>& margins() const { return held_out_margins_; }

 private:
  // Where a node is parted: rows go to the left whose code of the column is up to this one.
  struct Parting {
    std::size_t column = 0;
    std::uint8_t code = 255;
    PackedGradient left = 0;  // the sum there
    bool is_there = false;
  };
  // A node: `number` counts level by level from 1, so that 2n and 2n+1 are below n.
  struct Node {
    std::size_t number = 1;
    unsigned level = 0;
    std::span<std::uint32_t> rows = {};
    PackedGradient sum = 0;
  };

  void build_histogram(std::span<const std::uint32_t> rows,
                       std::vector<PackedGradient>& histogram) const;
  bool may_be_parted(const Node& node) const;
  void grow(const Node& node, std::vector<PackedGradient>& histogram);
  Parting best_parting(const Node& node, const std::vector<PackedGradient>& histogram);
  void set_sides(const Parting& parting, const ColumnGroup& group);
  std::size_t part(std::span<std::uint32_t> rows, std::size_t group);
  float leaf_weight(const Node& node) const;
  void end_in_leaf(const Node& node);
  void end_in_two_leaves(const Node& node, std::size_t group, const std::array<float, 2>& weights);
  std::size_t leaf_place(const Node& node) const;
  void judge_held_out();

  const FoldRows& rows_;
  const BoostingParameters parameters_;
  const GradientScale scale_;
  std::vector<float> margins_;
  std::vector<float> held_out_margins_;
  std::vector<PackedGradient> gradients_;
  std::vector<std::uint32_t> order_;  // the rows, those of a node side by side
  std::vector<std::uint32_t> aside_;  // those that go to the right, while they are parted
  std::vector<std::vector<PackedGradient>> histograms_;  // one for each level
  std::vector<PackedGradient> bin_sums_;
  std::vector<std::int32_t> scores_;
  std::vector<std::uint8_t> goes_left_;  // for each combination
  // The tree that grows, complete: a node that is not parted sends all to the left.
  std::vector<std::uint8_t> node_columns_;
  std::vector<std::uint8_t> node_codes_;
  std::vector<float> leaves_;
};

}  // namespace outlast::trainers
