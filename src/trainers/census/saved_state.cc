#include "trainers/census/saved_state.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "sdk/snapshots.h"
#include "trainers/train_options.h"

namespace outlast::trainers {
namespace {

constexpr std::size_t kHyperParameterBytesMax = 64U << 10U;

template <class Call>
auto without_throwing(const Call& call) -> Result<decltype(call())> {
  try {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (const std::exception& error) {
    return Error(ErrorCode::kFailed, error.what());
  }
}

Result<HyperParameters> read_hyper_parameters(std::string_view text) {
  OUTLAST_TRY_ASSIGN(const Json json, parse_json(text));
  HyperParameters values;
  for (const auto& [name, value] : json.items()) {
    OUTLAST_TRY_ASSIGN(values[name], json_string(json, name));
  }
  return values;
}

}  // namespace

SavedState::SavedState(Parts parts) : parts_(std::move(parts)), snapshots_(parts_.snapshots) {
  snapshots_.add_blob(
      "trainer.hyper_parameters", kHyperParameterBytesMax,
      [this] { return canonical_json(Json(parts_.hyper_parameters)); },
      [this](std::string_view text) { saved_hyper_parameters_ = text; });
  snapshots_.add_blob("trainer.state", parts_.bytes_max, parts_.get,
                      [this](std::string_view text) { saved_text_ = text; });
}

Result<std::optional<std::uint64_t>> SavedState::resume() {
  Result<std::optional<std::uint64_t>> step =
      without_throwing([this] { return snapshots_.resume(); });
  if (!step) {
    return step.error().while_doing(
        "resume (was it saved by a training with other options? Give those again, or another "
        "--job-dir)");
  }
  if (!*step) return step;
  const std::uint64_t saved_step = step->value_or(0);
  OUTLAST_TRY_ASSIGN(const HyperParameters saved, read_hyper_parameters(saved_hyper_parameters_));
  const std::string differs = difference(saved, parts_.hyper_parameters);
  if (!differs.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the checkpoint of step {} is of a training with other "
                             "hyper-parameters: {}. Give the same ones, or another --job-dir",
                             saved_step, differs));
  }
  OUTLAST_TRY(parts_.set(saved_text_).while_doing(fmt::format("resume from step {}", saved_step)));
  saved_text_ = {};
  return step;
}

Result<bool> SavedState::step_done(std::uint64_t step, std::uint64_t total) {
  return without_throwing([&] { return snapshots_.step_done(step, total); });
}

Result<void> SavedState::save(std::uint64_t step) {
  return without_throwing([&] { snapshots_.save(step); });
}

Result<void> SavedState::done() {
  return without_throwing([&] { snapshots_.done(); });
}

}  // namespace outlast::trainers
