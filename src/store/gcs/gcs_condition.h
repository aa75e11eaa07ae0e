#pragma once

#include <string>

#include "cloud/url_encoding.h"
#include "store/gcs/gcs_answers.h"
#include "store/object_store.h"

namespace outlast::store::gcs {

// The value of ifGenerationMatch that holds for exactly this version. What is not a generation is
// the version of no object, as is the highest number: so the server judges, and "0", which would
// mean "must not exist", never gets there by accident.
inline std::string generation_to_match(const std::string& version) {
  return is_generation(version) ? version : "9223372036854775807";
}

inline void add_condition(cloud::Query& query, const WriteIf& condition) {
  switch (condition.kind) {
    case WriteIf::Kind::kAlways:
      return;
    case WriteIf::Kind::kAbsent:
      query.emplace_back("ifGenerationMatch", "0");
      return;
    case WriteIf::Kind::kVersion:
      query.emplace_back("ifGenerationMatch", generation_to_match(condition.version));
      return;
  }
}

}  // namespace outlast::store::gcs
