#include "trainer_files/resume_judgement.h"

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "trainer_files/layout_table.h"

namespace outlast::trainer_files {
namespace {

struct Distance {
  std::string_view unit;
  std::uint64_t restored = 0;
  std::uint64_t first_new = 0;
};

ResumeJudgement judge_distance(const Distance& distance, const Layout* layout) {
  const auto& [unit, restored, first_new] = distance;
  if (first_new > restored) {
    return {ResumeVerdict::kResumed,
            fmt::format("resumed: restored {} {}, and the next checkpoint is {} {}", unit, restored,
                        unit, first_new)};
  }
  std::string sentence = fmt::format(
      "restored, but your script started over: restored {} {}, and the next checkpoint "
      "is {} {}",
      unit, restored, unit, first_new);
  if (layout != nullptr && !layout->resume.empty()) {
    sentence += fmt::format("; to resume ({}), try {}", layout->name, layout->resume);
  }
  return {ResumeVerdict::kStartedOver, std::move(sentence)};
}

}  // namespace

ResumeJudgement judge_resume(const SetProgress& restored, const SetProgress& first_new,
                             const Layout* layout) {
  if (restored.step && first_new.step) {
    return judge_distance({"step", *restored.step, *first_new.step}, layout);
  }
  if (restored.epoch && first_new.epoch) {
    return judge_distance({"epoch", *restored.epoch, *first_new.epoch}, layout);
  }
  std::string sentence =
      "cannot tell whether your script resumed: its checkpoints do not say how far they are";
  if (layout != nullptr && !layout->resume.empty()) {
    sentence += fmt::format("; look into its log, and if it started over, try {}", layout->resume);
  }
  return {ResumeVerdict::kCannotTell, std::move(sentence)};
}

}  // namespace outlast::trainer_files
