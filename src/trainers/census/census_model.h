#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/world.h"
#include "trainers/census/adult.h"
#include "trainers/census/boosting.h"
#include "trainers/census/census_encoding.h"
#include "trainers/census/search_space.h"
#include "trainers/learner.h"

namespace outlast::trainers {

// All people of a table as what a booster learns from. Immutable after construction.
struct CensusLesson {
  CensusEncoding encoding = {};
  BoostingMatrix matrix;
  std::vector<float> labels = {};

  static Result<CensusLesson> make(const CensusTable& table);
};

// All people of another table, as what a booster is asked about. Immutable after construction.
struct CensusExam {
  BoostingMatrix matrix;
  std::vector<float> labels = {};

  static Result<CensusExam> make(const CensusEncoding& encoding, const CensusTable& table);
};

// Learns from all of them, trees as many as the configuration says.
Result<Booster> fit_census(const CensusLesson& lesson, const Configuration& configuration);

// For each person how likely they earn more: above 0, more likely than not. kCorrupt if the booster
// has no encoding in it, or is of other columns: it is somebody else's model.
Result<std::vector<float>> census_margins(const Booster& booster, const CensusTable& table);
// How well the margins tell these labels.
Evaluation evaluate_margins(std::span<const float> margins, std::span<const float> labels);
Result<Evaluation> evaluate_census(const Booster& booster, const CensusTable& table);

// The booster with the encoding in it, as bytes: XGBoost's JSON, or its UBJSON if `path` ends in
// ".ubj". Other programs that use XGBoost can read it.
Result<std::string> census_model_bytes(Booster& booster, const CensusEncoding& encoding,
                                       std::string_view path);
// kNotFound, kCorrupt, with the path.
Result<Booster> read_census_model(sys::World& world, const std::string& path);

}  // namespace outlast::trainers
