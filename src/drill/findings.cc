#include "drill/findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "drill/life_record.h"
#include "drill/printed_steps.h"
#include "drill/report.h"

namespace outlast::drill {
namespace {

constexpr std::size_t kEvidenceMax = 8;
// Of all training, this much was to be done again before somebody is told to save more often.
constexpr double kMuchKept = 0.2;
constexpr double kMuchLost = 0.5;

std::string spent(double seconds) {
  return format_duration_short(
      std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
}

const Injection* last_injection(const LifeRecord& record) {
  return record.life.injections.empty() ? nullptr : &record.life.injections.back();
}

bool had_notice(const LifeRecord& record) {
  const Injection* const last = last_injection(record);
  return last != nullptr && last->trouble == Trouble::kNotice;
}

// Everything that findings are made from.
class Evidence {
 public:
  Evidence(const Report& report, const std::vector<LifeRecord>& records, const StepScale& scale)
      : report_(report), records_(records), scale_(scale) {}

  std::vector<Finding> all() {
    resume();
    bad_ends();
    torn();
    sigterm();
    notices();
    differences();
    rarely();
    return std::move(findings_);
  }

 private:
  void add(Finding finding) {
    if (finding.evidence.empty()) return;
    if (finding.evidence.size() > kEvidenceMax) finding.evidence.resize(kEvidenceMax);
    findings_.push_back(std::move(finding));
  }
  bool has(std::string_view id) const {
    return std::ranges::find(findings_, id, &Finding::id) != findings_.end();
  }

  // The last step that was printed before the trainer had written this checkpoint: what is in it.
  std::optional<std::uint64_t> step_in(std::uint64_t checkpoint) const {
    for (const LifeRecord& record : records_) {
      const auto& saves = record.life.saves;
      const auto save = std::ranges::find(saves, checkpoint, &Save::checkpoint);
      if (save == saves.end()) continue;
      std::optional<std::uint64_t> last;
      for (const NumberedSample& step : on_scale(record.samples, scale_)) {
        if (step.sample->at < written_at(*save)) last = std::max(last.value_or(0), step.step);
      }
      return last;
    }
    return std::nullopt;
  }

  // Seconds that a machine trained.
  double training_of(std::size_t i) const {
    const Life& life = report_.disturbed.lives[i];
    return life.training ? records_[i].trainer_ended.value_or(life.ended) - *life.training : 0;
  }

  // Of a trainer that prints no steps: whether the last machine took as long as all of the job,
  // though a good part of it had been kept.
  bool trained_in_vain(std::size_t i) const {
    const Life& life = report_.disturbed.lives[i];
    const bool is_last = i + 1 == records_.size() && life.outcome == "done";
    if (!is_last || !life.restored || !report_.undisturbed) return false;
    double kept = 0;
    for (std::size_t j = 0; j < i; ++j) {
      kept += std::max(0.0, training_of(j) - report_.disturbed.lives[j].lost_seconds.value_or(0));
    }
    const double whole = report_.undisturbed->training_seconds;
    return kept >= whole * kMuchKept && training_of(i) >= whole - kept / 2;
  }

  void resume() {
    Finding finding = {
        .id = "does-not-resume",
        .sentence = "The trainer begins anew although its checkpoint was put back.",
        .advice =
            "At the start, look for the newest checkpoint in the folder that the trainer saves "
            "to (OUTLAST_RESUME names it), and load from it all that a step depends on: the "
            "weights, the optimizer, the number of the step, the random generators."};
    const std::span<const Life> lives = report_.disturbed.lives;
    for (std::size_t i = 1; i < lives.size(); ++i) {
      const Life& life = lives[i];
      if (const auto& sentence = records_[i].started_over) {
        finding.evidence.push_back(fmt::format("machine {}: {}", life.number, *sentence));
        continue;
      }
      if (life.restored && !life.first_step && trained_in_vain(i)) {
        finding.evidence.push_back(
            fmt::format("machine {} was given checkpoint {}, and trained as long as the whole "
                        "undisturbed run ({})",
                        life.number, life.restored->checkpoint, spent(training_of(i))));
        continue;
      }
      const std::optional<std::uint64_t> very_first = lives[0].first_step;
      if (!life.restored || !life.first_step || !very_first) continue;
      const std::optional<std::uint64_t> had = step_in(life.restored->checkpoint);
      if (!had || *life.first_step > *very_first || *had <= *life.first_step) continue;
      finding.evidence.push_back(
          fmt::format("machine {} was given checkpoint {}, written after step {}, and began with "
                      "step {}",
                      life.number, life.restored->checkpoint, *had, *life.first_step));
    }
    add(std::move(finding));
  }

  void bad_ends() {
    for (const LifeRecord& record : records_) {
      const bool has_failed = record.life.outcome == "failed" || record.life.outcome == "broken";
      if (!has_failed && !record.was_hung) continue;
      const bool is_resumed = record.life.restored.has_value();
      Finding finding;
      if (record.was_hung) {
        finding = {.id = "hangs-on-resume",
                   .sentence = fmt::format("Nothing was heard of the trainer on machine {} for so "
                                           "long that it was given up.",
                                           record.life.number),
                   .advice =
                       "Start it by hand in the folder of that machine (--keep shows it), and "
                       "see what it waits for."};
        if (record.last_words.empty()) finding.evidence.emplace_back("it had printed nothing");
      } else if (is_resumed && record.has_trainer_failed) {
        finding = {.id = "crashes-on-resume",
                   .sentence = fmt::format("The trainer failed on machine {}, after its checkpoint "
                                           "was put back: {}.",
                                           record.life.number, record.trainer_exit),
                   .advice =
                       "Its last words are above. Load a checkpoint by hand in an empty folder: "
                       "all that it needs must be in the checkpoint, and nothing may depend on "
                       "files that only the first machine had."};
      } else {
        finding = {.id = "fails",
                   .sentence = fmt::format("Machine {} failed although nothing was done to it: {}.",
                                           record.life.number, record.why),
                   .advice =
                       "Its last words are above; the drill tells nothing about what would have "
                       "come after it."};
        if (record.last_words.empty()) finding.evidence.push_back(record.why);
      }
      for (const std::string& line : record.last_words) finding.evidence.push_back(line);
      // The last lines are those that matter.
      if (finding.evidence.size() > kEvidenceMax) {
        finding.evidence.erase(finding.evidence.begin(), finding.evidence.end() - kEvidenceMax);
      }
      add(std::move(finding));
    }
  }

  void torn() {
    Finding finding = {
        .id = "torn-files",
        .sentence =
            "The trainer writes checkpoints under their final names: who is killed meanwhile "
            "leaves half a file that looks like a whole one.",
        .advice =
            "Write to a temporary name in the same folder, flush and os.fsync() the file, then "
            "os.replace() it to its final name. outlast never restores a torn file, but the "
            "save that was under way is lost, and the trainer alone would load it."};
    for (const LifeRecord& record : records_) {
      for (const std::string& torn : record.torn) {
        finding.evidence.push_back(fmt::format("machine {} left {}", record.life.number, torn));
      }
      if (!record.torn.empty()) continue;
      for (const std::string& path : record.written_in_place) {
        finding.evidence.push_back(
            fmt::format("machine {} was writing {} when it was killed", record.life.number, path));
      }
    }
    add(std::move(finding));
  }

  static bool was_writing(const LifeRecord& record) {
    return !record.torn.empty() || !record.written_in_place.empty();
  }

  void sigterm() {
    Finding finding = {
        .id = "ignores-sigterm",
        .sentence = "The trainer does not leave when it is asked to by SIGTERM.",
        .advice =
            "Let the handler of SIGTERM set a flag, look at the flag after each step, and if it "
            "is set save and exit with code 75. A trainer that handles SIGTERM not at all is "
            "saved by its files, too; one that ignores it gains nothing."};
    for (const LifeRecord& record : records_) {
      // Who takes snapshots is asked without a signal.
      if (record.ignores_sigterm && !record.asked_to_leave) {
        finding.evidence.push_back(fmt::format(
            "machine {}: SIGTERM is set to be ignored (SIG_IGN), so that nobody can ask "
            "it for a fresh state",
            record.life.number));
      } else if (had_notice(record) && record.asked_to_leave && !was_writing(record) &&
                 (record.was_stopped || (record.was_killed && !record.trainer_ended))) {
        const double end = record.trainer_ended.value_or(record.life.ended);
        finding.evidence.push_back(fmt::format(
            "machine {}: SIGTERM at {:.1f}s, and it still ran {} later, at the last "
            "moment",
            record.life.number, *record.asked_to_leave, spent(end - *record.asked_to_leave)));
      }
    }
    add(std::move(finding));
  }

  void notices() {
    Finding slow = {
        .id = "too-slow-for-notice",
        .sentence = fmt::format("A notice of {} was too short for what had to be saved.",
                                spent(report_.notice_time)),
        .advice =
            "Save often, so that little is left to do when the notice comes; save less (only "
            "what a resume needs); or use a place that gives more time."};
    Finding deaf = {.id = "notice-not-heard",
                    .sentence = "The machine was gone before its notice was heard.",
                    .advice =
                        "A notice that is shorter than the time between two looks at its source "
                        "is no notice: --notice-time was too small for this source."};
    for (const LifeRecord& record : records_) {
      const Injection* const last = last_injection(record);
      if (!had_notice(record)) continue;
      if (!last->heard) {
        if (record.was_killed) {
          deaf.evidence.push_back(fmt::format("machine {}: said at {:.1f}s, gone at {:.1f}s",
                                              record.life.number, last->at, record.life.ended));
        }
        continue;
      }
      const bool was_late = record.life.outcome == "broken" ||
                            (record.was_killed && record.trainer_ended) ||
                            (was_writing(record) && record.asked_to_leave &&
                             (record.was_stopped || record.was_killed));
      if (!was_late) continue;
      slow.evidence.push_back(fmt::format("machine {}: notice at {:.1f}s, the end at {:.1f}s, {}",
                                          record.life.number, last->at, record.life.ended,
                                          was_writing(record)
                                              ? "and a checkpoint was still being written"
                                              : "and what was written was not committed"));
    }
    add(std::move(slow));
    add(std::move(deaf));
  }

  void differences() {
    if (!report_.comparison || report_.comparison->is_identical) return;
    const Comparison& comparison = *report_.comparison;
    Finding finding;
    if (comparison.is_repeatable == false) {
      finding = {.id = "not-repeatable",
                 .sentence =
                     "Two undisturbed runs end with different results: that they differ after "
                     "preemptions says nothing.",
                 .advice =
                     "Seed every random generator (Python's, NumPy's, the framework's, the data "
                     "loader's workers), ask the framework for deterministic algorithms, and "
                     "keep times and paths out of the checkpoint; or expect only that it "
                     "resumes: --expect resumed."};
    } else if (comparison.is_repeatable == true && !has("does-not-resume")) {
      finding = {.id = "order-shifts",
                 .sentence =
                     "The trainer goes on from its checkpoint, but not as it would have "
                     "without the preemption.",
                 .advice =
                     "Something that a step depends on is not in the checkpoint: the states of "
                     "the random generators, the position in the data and its order, the "
                     "learning-rate schedule, the optimizer. Save and load these, too, or "
                     "derive them from the number of the step."};
      if (comparison.first_other_step) {
        finding.evidence.push_back(
            fmt::format("the printed values differ from step {} on", *comparison.first_other_step));
      }
      for (const Life& life : report_.disturbed.lives) {
        if (life.number > 1 && life.first_step) {
          finding.evidence.push_back(
              fmt::format("machine {} went on with step {}", life.number, *life.first_step));
        }
      }
    } else {
      return;
    }
    for (const std::string& line : comparison.differences) finding.evidence.push_back(line);
    add(std::move(finding));
  }

  void rarely() {
    double trained = 0;
    double unwritten = 0;
    Finding finding = {
        .id = "saves-too-rarely",
        .advice =
            "Save more often: what a machine does between two files is lost with it. Or handle "
            "SIGTERM, and save when there is a notice."};
    for (std::size_t i = 0; i + 1 < records_.size(); ++i) {
      const LifeRecord& record = records_[i];
      const Life& life = report_.disturbed.lives[i];
      // Of who was writing it is not known what the file had held before.
      if (!life.training || record.asked_to_leave || was_writing(record)) continue;
      const double end = record.trainer_ended.value_or(life.ended);
      const double written = std::max(*life.training, record.newest_written.value_or(0));
      trained += end - *life.training;
      unwritten += std::max(0.0, end - written);
      finding.evidence.push_back(
          record.newest_written && *record.newest_written > *life.training
              ? fmt::format("machine {}: the last {} of {} of training were in no file",
                            life.number, spent(end - written), spent(end - *life.training))
              : fmt::format("machine {}: no checkpoint in {} of training", life.number,
                            spent(end - *life.training)));
    }
    // One machine alone may have been unlucky.
    if (finding.evidence.size() < 2 || unwritten < trained * kMuchLost) return;
    finding.sentence =
        fmt::format("Of {} of training on machines that were lost, {} were in no file.",
                    spent(trained), spent(unwritten));
    add(std::move(finding));
  }

  const Report& report_;
  const std::vector<LifeRecord>& records_;
  const StepScale& scale_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> find_out(const Report& report, const std::vector<LifeRecord>& records,
                              const StepScale& scale) {
  return Evidence(report, records, scale).all();
}

}  // namespace outlast::drill
