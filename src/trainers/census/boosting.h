#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// XGBoost, as far as it is used here: all of its calls are in boosting.cc. What it refuses comes
// back as kFailed with its own words.
namespace outlast::trainers {

struct BoostingParameters {
  double learning_rate = 0.1;
  unsigned depth = 3;
  unsigned min_leaf = 1;  // the least weight of a leaf: XGBoost's min_child_weight
};

// Rows of numbers; NaN is a missing one.
struct BoostingRows {
  std::span<const float> values = {};  // a row after the other
  std::size_t columns = 1;
  std::span<const float> labels = {};  // one for each row, 0 or 1; none if they are only looked at
};

// Rows in XGBoost's form. Immutable after construction, and may be used by several boosters, on
// several threads, at once. Must outlive them.
class BoostingMatrix {
 public:
  // To learn from: the values are sorted into bins, once for all who learn from them.
  static Result<BoostingMatrix> quantised(const BoostingRows& rows);
  // To predict. The values as they are.
  static Result<BoostingMatrix> plain(const BoostingRows& rows);
  ~BoostingMatrix();
  BoostingMatrix(BoostingMatrix&& other) noexcept;
  BoostingMatrix& operator=(BoostingMatrix&&) = delete;

 private:
  friend class Booster;
  explicit BoostingMatrix(void* handle) : handle_(handle) {}
  void* handle_;
};

enum class ModelFormat { kJson, kUbj };

// A model of trees, one more in each round. It computes on the calling thread alone: with one
// thread the same rows give the same bits. Confined to its owner.
class Booster {
 public:
  // To learn from these rows, from the first round on.
  static Result<Booster> make(const BoostingMatrix& rows, const BoostingParameters& parameters);
  // To go on as `state`, of serialised(), would have; the rows and parameters are those of then.
  static Result<Booster> make_from(const BoostingMatrix& rows, const BoostingParameters& parameters,
                                   std::string_view state);
  // To predict only; kCorrupt if it is no model. The format is seen from the bytes.
  static Result<Booster> load(std::string_view model);
  ~Booster();
  Booster(Booster&& other) noexcept;
  Booster& operator=(Booster&&) = delete;

  // Round `number`, counted from 0: one more tree.
  Result<void> boost(std::uint64_t number);
  // How many it has by now.
  Result<std::uint64_t> rounds() const;
  // How many columns it was learnt from.
  Result<std::size_t> columns() const;
  // For each row: above 0 if it is more likely 1. By all trees there are. If it is asked again for
  // the same rows, only what was boosted since is computed.
  Result<std::vector<float>> margins(const BoostingMatrix& rows) const;

  // Texts that the model carries with it.
  Result<void> set_attribute(const std::string& name, const std::string& text);
  Result<std::optional<std::string>> attribute(const std::string& name) const;

  // The model; equal bytes for equal models.
  Result<std::string> model(ModelFormat format) const;
  // All that is needed to go on.
  Result<std::string> serialised() const;

 private:
  explicit Booster(void* handle) : handle_(handle) {}
  static Result<Booster> make_unset(const BoostingMatrix* rows);
  Result<void> set(const BoostingParameters& parameters);
  void* handle_;
  void* learns_from_ = nullptr;
};

}  // namespace outlast::trainers
