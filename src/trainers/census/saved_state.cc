#include "trainers/census/saved_state.h"

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "trainers/checked_snapshots.h"

namespace outlast::trainers {

SavedState::SavedState(Parts parts)
    : parts_(std::move(parts)), checked_(parts_.snapshots, parts_.hyper_parameters) {
  checked_.snapshots().add_blob("trainer.state", parts_.bytes_max, parts_.get,
                                [this](std::string_view text) { saved_text_ = text; });
}

Result<std::optional<std::uint64_t>> SavedState::resume() {
  OUTLAST_TRY_ASSIGN(const std::optional<std::uint64_t> step,
                     checked_.resume(OtherValues::kRefuse));
  if (!step) return step;
  OUTLAST_TRY(parts_.set(saved_text_).while_doing(fmt::format("resume from step {}", *step)));
  saved_text_ = {};
  return step;
}

}  // namespace outlast::trainers
