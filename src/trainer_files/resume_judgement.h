#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trainer_files/layout_table.h"

// Whether a trainer that was given its checkpoint back went on from it. Pure.
namespace outlast::trainer_files {

// How far a checkpoint is, as far as it says.
struct SetProgress {
  std::optional<std::uint64_t> step = {};
  std::optional<std::uint64_t> epoch = {};
};

enum class ResumeVerdict { kResumed, kStartedOver, kCannotTell };

struct ResumeJudgement {
  ResumeVerdict verdict = ResumeVerdict::kCannotTell;
  std::string sentence = {};  // for a person, with what to do
};

// `restored` is the newest of what was put back, `first_new` the first checkpoint after that. Steps
// count if both have one, else epochs. One that is no further is from the beginning. `layout` is
// that of the new one, for the advice; nullptr if it is not known.
ResumeJudgement judge_resume(const SetProgress& restored, const SetProgress& first_new,
                             const Layout* layout);

}  // namespace outlast::trainer_files
