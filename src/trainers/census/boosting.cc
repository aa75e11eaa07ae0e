#include "trainers/census/boosting.h"

#include <fmt/core.h>
#include <xgboost/c_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace outlast::trainers {
namespace {

// What quantised rows have at most in a column, which fits into a byte; those who learn from them
// must say the same number.
constexpr unsigned kBinsMax = 256;

// XGBoost says what went wrong once for each thread, and with a stack trace from the second line
// on.
Result<void> boosting_call(int code, std::string_view doing) {
  if (code == 0) return {};
  std::string_view words = XGBGetLastError();
  words = words.substr(0, words.find("\nStack trace"));
  while (words.ends_with('\n')) words.remove_suffix(1);
  return Error(ErrorCode::kFailed, fmt::format("XGBoost could not {}: {}", doing, words));
}

// Memory, as XGBoost takes it: in the notation of NumPy's array interface.
std::string array_text(std::span<const float> values, std::string_view shape) {
  return fmt::format(R"({{"data":[{},true],"shape":[{}],"typestr":"<f4","version":3}})",
                     reinterpret_cast<std::uintptr_t>(values.data()), shape);
}

std::string values_text(const BoostingRows& rows) {
  return array_text(rows.values,
                    fmt::format("{},{}", rows.values.size() / rows.columns, rows.columns));
}

Result<void> set_labels(DMatrixHandle matrix, std::span<const float> labels) {
  return boosting_call(
      XGDMatrixSetInfoFromInterface(matrix, "label",
                                    array_text(labels, std::to_string(labels.size())).c_str()),
      "take the labels");
}

// Hands over all rows at once, as often as XGBoost wants to go through them.
struct RowsOnce {
  const BoostingRows& rows;
  DMatrixHandle proxy = nullptr;
  bool given = false;
  Result<void> outcome = {};

  static int next(DataIterHandle self) {
    auto& once = *static_cast<RowsOnce*>(self);
    if (once.given) return 0;
    once.given = true;
    once.outcome = boosting_call(
        XGProxyDMatrixSetDataDense(once.proxy, values_text(once.rows).c_str()), "take the rows");
    if (once.outcome) once.outcome = set_labels(once.proxy, once.rows.labels);
    return once.outcome ? 1 : 0;
  }
  static void reset(DataIterHandle self) { static_cast<RowsOnce*>(self)->given = false; }
};

constexpr const char* kMargins =
    R"({"type":1,"training":false,"iteration_begin":0,"iteration_end":0,"strict_shape":false})";

}  // namespace

Result<BoostingMatrix> BoostingMatrix::quantised(const BoostingRows& rows) {
  RowsOnce once{.rows = rows};
  OUTLAST_TRY(boosting_call(XGProxyDMatrixCreate(&once.proxy), "begin a matrix"));
  DMatrixHandle made = nullptr;
  const std::string config = fmt::format(R"({{"missing":NaN,"nthread":1,"max_bin":{}}})", kBinsMax);
  const Result<void> outcome = boosting_call(
      XGQuantileDMatrixCreateFromCallback(&once, once.proxy, nullptr, &RowsOnce::reset,
                                          &RowsOnce::next, config.c_str(), &made),
      "sort the rows into bins");
  XGDMatrixFree(once.proxy);
  OUTLAST_TRY(once.outcome);
  OUTLAST_TRY(outcome);
  return BoostingMatrix(made);
}

Result<BoostingMatrix> BoostingMatrix::plain(const BoostingRows& rows) {
  DMatrixHandle made = nullptr;
  OUTLAST_TRY(boosting_call(
      XGDMatrixCreateFromDense(values_text(rows).c_str(), R"({"missing":NaN,"nthread":1})", &made),
      "take the rows"));
  return BoostingMatrix(made);
}

BoostingMatrix::~BoostingMatrix() {
  if (handle_ != nullptr) XGDMatrixFree(handle_);
}

BoostingMatrix::BoostingMatrix(BoostingMatrix&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

Result<Booster> Booster::make_unset(const BoostingMatrix* rows) {
  BoosterHandle made = nullptr;
  const std::array<DMatrixHandle, 1> matrices = {rows == nullptr ? nullptr : rows->handle_};
  OUTLAST_TRY(boosting_call(XGBoosterCreate(matrices.data(), rows == nullptr ? 0 : 1, &made),
                            "make a model"));
  return Booster(made);
}

Result<void> Booster::set(const BoostingParameters& parameters) {
  const std::array<std::pair<const char*, std::string>, 8> settings = {{
      {"objective", "binary:logistic"},
      {"tree_method", "hist"},
      {"max_bin", std::to_string(kBinsMax)},
      {"nthread", "1"},
      {"verbosity", "0"},
      {"eta", fmt::format("{}", parameters.learning_rate)},
      {"max_depth", std::to_string(parameters.depth)},
      {"min_child_weight", std::to_string(parameters.min_leaf)},
  }};
  for (const auto& [name, value] : settings) {
    OUTLAST_TRY(boosting_call(XGBoosterSetParam(handle_, name, value.c_str()), "be set up"));
  }
  return {};
}

Result<Booster> Booster::make(const BoostingMatrix& rows, const BoostingParameters& parameters) {
  OUTLAST_TRY_ASSIGN(Booster booster, make_unset(&rows));
  booster.learns_from_ = rows.handle_;
  OUTLAST_TRY(booster.set(parameters));
  return booster;
}

Result<Booster> Booster::make_from(const BoostingMatrix& rows, const BoostingParameters& parameters,
                                   std::string_view state) {
  OUTLAST_TRY_ASSIGN(Booster booster, make_unset(&rows));
  booster.learns_from_ = rows.handle_;
  OUTLAST_TRY(
      boosting_call(XGBoosterUnserializeFromBuffer(booster.handle_, state.data(), state.size()),
                    "go on from what was saved"));
  OUTLAST_TRY(booster.set(parameters));
  return booster;
}

Result<Booster> Booster::load(std::string_view model) {
  // Whatever begins with a brace is JSON or UBJSON; other bytes would be taken for an old binary
  // format, which has no checks.
  if (!model.starts_with('{')) {
    return Error(ErrorCode::kCorrupt, "these bytes are no model of XGBoost, in JSON or UBJSON");
  }
  OUTLAST_TRY_ASSIGN(Booster booster, make_unset(nullptr));
  Result<void> loaded = boosting_call(
      XGBoosterLoadModelFromBuffer(booster.handle_, model.data(), model.size()), "read the model");
  if (!loaded) return Error(ErrorCode::kCorrupt, loaded.error().sentence());
  OUTLAST_TRY(boosting_call(XGBoosterSetParam(booster.handle_, "nthread", "1"), "be set up"));
  return booster;
}

Booster::~Booster() {
  if (handle_ != nullptr) XGBoosterFree(handle_);
}

Booster::Booster(Booster&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), learns_from_(other.learns_from_) {}

Result<void> Booster::boost(std::uint64_t number) {
  return boosting_call(XGBoosterUpdateOneIter(handle_, static_cast<int>(number), learns_from_),
                       "add a tree");
}

Result<std::uint64_t> Booster::rounds() const {
  int rounds = 0;
  OUTLAST_TRY(boosting_call(XGBoosterBoostedRounds(handle_, &rounds), "count its trees"));
  return static_cast<std::uint64_t>(rounds);
}

Result<std::size_t> Booster::columns() const {
  bst_ulong columns = 0;
  OUTLAST_TRY(boosting_call(XGBoosterGetNumFeature(handle_, &columns), "count its columns"));
  return static_cast<std::size_t>(columns);
}

Result<std::vector<float>> Booster::margins(const BoostingMatrix& rows) const {
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  OUTLAST_TRY(boosting_call(
      XGBoosterPredictFromDMatrix(handle_, rows.handle_, kMargins, &shape, &dimensions, &values),
      "predict"));
  bst_ulong count = 1;
  for (const bst_ulong length : std::span(shape, dimensions)) count *= length;
  return std::vector<float>(values, values + count);
}

Result<void> Booster::set_attribute(const std::string& name, const std::string& text) {
  return boosting_call(XGBoosterSetAttr(handle_, name.c_str(), text.c_str()),
                       "keep what belongs to the model");
}

Result<std::optional<std::string>> Booster::attribute(const std::string& name) const {
  const char* text = nullptr;
  int has = 0;
  OUTLAST_TRY(boosting_call(XGBoosterGetAttr(handle_, name.c_str(), &text, &has),
                            "tell what belongs to the model"));
  if (has == 0) return std::optional<std::string>();
  return std::optional<std::string>(text);
}

Result<std::string> Booster::model(ModelFormat format) const {
  const char* bytes = nullptr;
  bst_ulong length = 0;
  OUTLAST_TRY(boosting_call(
      XGBoosterSaveModelToBuffer(
          handle_, format == ModelFormat::kJson ? R"({"format":"json"})" : R"({"format":"ubj"})",
          &length, &bytes),
      "write the model"));
  return std::string(bytes, length);
}

Result<std::string> Booster::serialised() const {
  const char* bytes = nullptr;
  bst_ulong length = 0;
  OUTLAST_TRY(
      boosting_call(XGBoosterSerializeToBuffer(handle_, &length, &bytes), "save what it is"));
  return std::string(bytes, length);
}

}  // namespace outlast::trainers
