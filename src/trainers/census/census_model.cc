#include "trainers/census/census_model.h"

#include <fmt/core.h>

#include <cmath>
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
#include "sys/world.h"
#include "trainers/census/adult.h"
#include "trainers/census/boosting.h"
#include "trainers/census/census_encoding.h"
#include "trainers/census/cross_validation.h"
#include "trainers/census/search_space.h"
#include "trainers/data/place_file.h"
#include "trainers/learner.h"

namespace outlast::trainers {
namespace {

constexpr const char* kEncodingAttribute = "outlast.census.encoding";
constexpr std::uint64_t kModelBytesMax = 4ULL << 30U;

}  // namespace

Result<CensusLesson> CensusLesson::make(const CensusTable& table) {
  const std::vector<std::uint32_t> rows = census_rows(table);
  CensusEncoding encoding = learn_census_encoding(table, rows);
  const std::vector<float> values = encode_census(encoding, table, rows);
  std::vector<float> labels = census_labels(table, rows);
  OUTLAST_TRY_ASSIGN(
      BoostingMatrix matrix,
      BoostingMatrix::quantised({.values = values, .columns = kCensusColumns, .labels = labels}));
  return CensusLesson{
      .encoding = std::move(encoding), .matrix = std::move(matrix), .labels = std::move(labels)};
}

Result<CensusExam> CensusExam::make(const CensusEncoding& encoding, const CensusTable& table) {
  const std::vector<std::uint32_t> rows = census_rows(table);
  const std::vector<float> values = encode_census(encoding, table, rows);
  OUTLAST_TRY_ASSIGN(BoostingMatrix matrix,
                     BoostingMatrix::plain({.values = values, .columns = kCensusColumns}));
  return CensusExam{.matrix = std::move(matrix), .labels = census_labels(table, rows)};
}

Result<Booster> fit_census(const CensusLesson& lesson, const Configuration& configuration) {
  OUTLAST_TRY_ASSIGN(Booster booster, Booster::make(lesson.matrix, configuration.boosting()));
  for (unsigned round = 0; round < configuration.trees; ++round) OUTLAST_TRY(booster.boost(round));
  return booster;
}

Result<std::vector<float>> census_margins(const Booster& booster, const CensusTable& table) {
  OUTLAST_TRY_ASSIGN(const std::optional<std::string> text, booster.attribute(kEncodingAttribute));
  OUTLAST_TRY_ASSIGN(const std::size_t columns, booster.columns());
  if (!text || columns != kCensusColumns) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("it is no model of 'outlast-train census': it has {} columns, where "
                             "{} are expected, and {}",
                             columns, kCensusColumns,
                             text ? "an encoding" : "does not say how words are encoded"));
  }
  OUTLAST_TRY_ASSIGN(const CensusEncoding encoding, parse_census_encoding(*text));
  const std::vector<float> values = encode_census(encoding, table, census_rows(table));
  OUTLAST_TRY_ASSIGN(const BoostingMatrix matrix,
                     BoostingMatrix::plain({.values = values, .columns = kCensusColumns}));
  return booster.margins(matrix);
}

Evaluation evaluate_margins(std::span<const float> margins, std::span<const float> labels) {
  double loss = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const double margin = labels[row] > 0 ? margins[row] : -margins[row];
    loss += margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
  }
  return Evaluation{.loss = loss / static_cast<double>(labels.size()),
                    .examples = labels.size(),
                    .correct = count_correct(margins, labels)};
}

Result<Evaluation> evaluate_census(const Booster& booster, const CensusTable& table) {
  OUTLAST_TRY_ASSIGN(const std::vector<float> margins, census_margins(booster, table));
  return evaluate_margins(margins, census_labels(table, census_rows(table)));
}

Result<std::string> census_model_bytes(Booster& booster, const CensusEncoding& encoding,
                                       std::string_view path) {
  OUTLAST_TRY(booster.set_attribute(kEncodingAttribute, to_text(encoding)));
  return booster.model(path.ends_with(".ubj") ? ModelFormat::kUbj : ModelFormat::kJson);
}

Result<Booster> read_census_model(sys::World& world, const std::string& path) {
  Result<std::string> bytes = read_place(world, path, kModelBytesMax);
  if (!bytes && bytes.error().code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no model {}: train first, or name one with "
                             "--model-output-path",
                             path));
  }
  OUTLAST_TRY(bytes);
  return Booster::load(*bytes).while_doing("read " + path);
}

}  // namespace outlast::trainers
