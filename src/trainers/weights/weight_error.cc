#include "trainers/weights/weight_error.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace outlast::trainers {

Error bad_weights(std::string sentence, std::source_location where) {
  return {ErrorCode::kCorrupt, std::move(sentence), where};
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kShownMax = 80;
  return canonical_json(Json(std::string(name.substr(0, kShownMax))));
}

std::string shown_shape(const std::vector<std::uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

}  // namespace outlast::trainers
