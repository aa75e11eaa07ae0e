#include "trainers/checked_snapshots.h"

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

constexpr std::size_t kHyperParametersBytesMax = 64U << 10U;

Result<HyperParameters> parse_hyper_parameters(std::string_view text) {
  OUTLAST_TRY_ASSIGN(const Json json, parse_json(text));
  HyperParameters values;
  for (const auto& [name, value] : json.items()) {
    OUTLAST_TRY_ASSIGN(values[name], json_string(json, name));
  }
  return values;
}

// What the SDK throws, as an error.
template <class Call>
auto snapshot_call(const Call& call) -> Result<decltype(call())> {
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

}  // namespace

CheckedSnapshots::CheckedSnapshots(const SnapshotOptions& options, HyperParameters hyper_parameters)
    : given_(std::move(hyper_parameters)), snapshots_(options) {
  snapshots_.add_check(
      "trainer.hyper_parameters", kHyperParametersBytesMax,
      [this] { return canonical_json(Json(given_)); },
      [this](std::string_view saved) {
        compared_ = compare(saved);
        if (!compared_) throw SnapshotError(compared_.error().to_string());
      });
}

Result<void> CheckedSnapshots::compare(std::string_view saved) {
  OUTLAST_TRY_ASSIGN(const HyperParameters values, parse_hyper_parameters(saved));
  for (const std::string& name : followed_) {
    if (const auto value = values.find(name); value != values.end()) given_[name] = value->second;
  }
  const std::string differs = difference(values, given_);
  if (differs.empty() || others_ == OtherValues::kTake) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("the checkpoint was trained with other hyper-parameters: {}. Give the "
                           "same ones, or another --job-dir{}",
                           differs,
                           others_ == OtherValues::kRefuse
                               ? ""
                               : ", or --change-hyper-parameters to go on with the new ones"));
}

Result<std::optional<std::uint64_t>> CheckedSnapshots::resume(OtherValues others) {
  others_ = others;
  Result<std::optional<std::uint64_t>> step = snapshot_call([this] { return snapshots_.resume(); });
  OUTLAST_TRY(compared_);
  if (!step) {
    return step.error().while_doing(
        "resume (was it saved by a training with other options? Give those again, or another "
        "--job-dir)");
  }
  return step;
}

Result<bool> CheckedSnapshots::step_done(std::uint64_t step, std::uint64_t total) {
  return snapshot_call([&] { return snapshots_.step_done(step, total); });
}

Result<void> CheckedSnapshots::save(std::uint64_t step) {
  return snapshot_call([&] { snapshots_.save(step); });
}

Result<void> CheckedSnapshots::done() {
  return snapshot_call([&] { snapshots_.done(); });
}

}  // namespace outlast::trainers
