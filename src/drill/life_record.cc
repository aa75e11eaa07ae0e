#include "drill/life_record.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "drill/agent_lines.h"
#include "drill/printed_steps.h"
#include "drill/report.h"

namespace outlast::drill {
namespace {

constexpr double kMoment = 0.5;
constexpr std::array<std::string_view, 6> kOutcomes = {"done",   "left",      "failed",
                                                       "broken", "cancelled", "taken-over"};

std::optional<std::uint64_t> number_in(const AgentEvent& event, const std::string& name) {
  const auto found = event.numbers.find(name);
  if (found == event.numbers.end() || found->second < 0) return std::nullopt;
  return static_cast<std::uint64_t>(found->second);
}

std::string text_in(const AgentEvent& event, const std::string& name) {
  const auto found = event.texts.find(name);
  return found == event.texts.end() ? "" : found->second;
}

void take_beginning(const AgentEvent& event, double now, LifeRecord& record) {
  if (!record.life.training) record.life.training = now;
  const std::optional<std::uint64_t> checkpoint = number_in(event, "checkpoint");
  if (!checkpoint || record.life.restored) return;
  record.life.restored =
      Life::Restored{.checkpoint = *checkpoint,
                     .step = number_in(event, "step"),
                     .bytes = number_in(event, "bytes").value_or(0),
                     .fetched_bytes = number_in(event, "fetched_bytes").value_or(0)};
}

void take_save(const AgentEvent& event, double now, LifeRecord& record) {
  const auto seconds = event.numbers.find("seconds");
  Save save = {.at = now,
               .checkpoint = number_in(event, "checkpoint").value_or(0),
               .step = number_in(event, "step"),
               .bytes = number_in(event, "bytes").value_or(0),
               .stored_bytes = number_in(event, "stored_bytes").value_or(0),
               .seconds = seconds == event.numbers.end() ? 0 : seconds->second,
               .why = text_in(event, "why")};
  // The file's time is on the wall clock, and so is the event's.
  if (const Result<WallTime> written = parse_rfc3339(text_in(event, "written"))) {
    save.written = now - std::chrono::duration<double>(event.time - *written).count();
  }
  if (!record.life.injections.empty()) record.life.injections.back().committed = now;
  record.life.saves.push_back(std::move(save));
}

void take_asking(const AgentEvent& event, double now, LifeRecord& record) {
  if (text_in(event, "for") == "leave") record.asked_to_leave = now;
  if (record.life.injections.empty()) return;
  Injection& injection = record.life.injections.back();
  if (injection.heard && !injection.asked) injection.asked = now;
}

}  // namespace

void take_event(const AgentEvent& event, double now, LifeRecord& record) {
  const std::string& kind = event.kind;
  if (kind == "began" || kind == "resumed") {
    take_beginning(event, now, record);
  } else if (kind == "notice") {
    if (record.life.injections.empty()) return;
    Injection& injection = record.life.injections.back();
    if (!injection.heard) injection.heard = now;
  } else if (kind == "asked") {
    take_asking(event, now, record);
  } else if (kind == "saved") {
    take_save(event, now, record);
  } else if (kind == "stopped") {
    record.was_stopped = true;
    record.trainer_ended = now;
  } else if (kind == "trainer-ended") {
    if (!record.trainer_ended) record.trainer_ended = now;
    record.trainer_exit = text_in(event, "exit");
    const std::string meaning = text_in(event, "meaning");
    record.has_trainer_failed = meaning != "done" && meaning != "left";
  } else if (kind == "started-over") {
    record.started_over = event.sentence;
  } else if (std::ranges::find(kOutcomes, kind) != kOutcomes.end()) {
    record.life.outcome = kind;
    record.why = event.sentence;
  }
}

double written_at(const Save& save) {
  return save.written.value_or(save.at - save.seconds);
}

namespace {

double end_of_training(const LifeRecord& record) {
  return record.trainer_ended.value_or(record.life.ended);
}

// Of training, after what the next life went on from.
std::optional<double> lost_seconds(const LifeRecord& record, const Life& next) {
  if (!record.life.training) return std::nullopt;
  double kept = *record.life.training;
  if (next.restored) {
    const auto& saves = record.life.saves;
    const auto save = std::ranges::find(saves, next.restored->checkpoint, &Save::checkpoint);
    if (save != saves.end()) {
      const double written = written_at(*save);
      // Who left by itself after it had saved has done nothing since.
      const bool is_farewell = record.asked_to_leave && !record.was_stopped && !record.was_killed &&
                               save->at >= *record.asked_to_leave;
      if (is_farewell) return 0;
      kept = std::max(kept, written);
    }
  }
  return std::max(0.0, end_of_training(record) - kept);
}

// Whether the next life did something again. A moment is no work: files are looked at now and then.
bool has_lost(const Life& life) {
  if (life.lost_steps) return *life.lost_steps > 0;
  return life.lost_seconds.value_or(0) > kMoment;
}

void measure_injections(Life& life) {
  for (Injection& injection : life.injections) {
    if (injection.committed && *injection.committed >= injection.at) {
      injection.notice_to_committed = *injection.committed - injection.at;
    } else if ((life.outcome == "left" || life.outcome == "done") && !has_lost(life)) {
      injection.notice_to_committed = 0;
    }
  }
}

}  // namespace

Run measure(const std::vector<LifeRecord>& records, const StepScale& scale) {
  Run run;
  std::vector<std::vector<NumberedSample>> steps;
  for (const LifeRecord& record : records) {
    steps.push_back(on_scale(record.samples, scale));
    Life life = record.life;
    const std::vector<NumberedSample>& own = steps.back();
    if (!own.empty()) {
      life.first_step = own.front().step;
      life.last_step = std::ranges::max_element(own, {}, &NumberedSample::step)->step;
      life.progress = own.front().sample->at;
    } else if (!life.saves.empty()) {
      life.progress = life.saves.front().at;
    }
    if (life.training) run.training_seconds += end_of_training(record) - *life.training;
    for (const Save& save : life.saves) run.stored_bytes += save.stored_bytes;
    run.lives.push_back(std::move(life));
  }
  for (std::size_t i = 0; i + 1 < run.lives.size(); ++i) {
    Life& life = run.lives[i];
    const Life& next = run.lives[i + 1];
    life.lost_seconds = lost_seconds(records[i], next);
    // A life that printed nothing has shown nothing of what it went on from.
    const auto later =
        std::find_if(run.lives.begin() + static_cast<std::ptrdiff_t>(i) + 1, run.lives.end(),
                     [](const Life& one) { return one.first_step; });
    if (life.last_step && later != run.lives.end()) {
      const std::uint64_t last = *life.last_step;
      const std::uint64_t first = later->first_step.value_or(last);
      life.lost_steps = first > last ? 0 : last - first + scale.distance;
    }
    // Who was killed trained until then.
    const bool has_left = life.outcome == "left" && !life.saves.empty();
    if (next.progress)
      life.recovery = *next.progress - (has_left ? life.saves.back().at : life.ended);
  }
  for (Life& life : run.lives) measure_injections(life);
  if (!run.lives.empty()) {
    run.seconds = run.lives.back().ended;
    run.outcome = run.lives.back().outcome;
  }
  return run;
}

}  // namespace outlast::drill
