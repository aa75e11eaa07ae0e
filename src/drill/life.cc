#include "drill/life.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "drill/agent_lines.h"
#include "drill/bad_news.h"
#include "drill/life_record.h"
#include "drill/machine_end.h"
#include "drill/printed_steps.h"
#include "drill/report.h"
#include "drill/schedule.h"
#include "sys/call_context.h"
#include "sys/process.h"
#include "sys/world.h"

namespace outlast::drill {
namespace {

constexpr Duration kLateNotice = std::chrono::seconds(1);
// A look at everybody's open files takes a millisecond or two; a save of any size takes longer than
// this.
constexpr Duration kLookEvery = std::chrono::milliseconds(10);
constexpr int kWithdrawnAfterPart = 3;  // of the notice's time

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Variables of whoever started the drill that would tell this machine about another one.
bool is_of_another_machine(std::string_view name) {
  return name.starts_with("OUTLAST_") || name.starts_with("SLURM_") ||
         name.starts_with("GCE_METADATA_") || name.starts_with("AWS_EC2_METADATA_");
}

std::vector<std::pair<std::string, std::string>> environment_for(sys::World& world,
                                                                 const BadNews& news) {
  std::vector<std::pair<std::string, std::string>> variables = world.environment.all();
  std::erase_if(variables, [](const auto& one) { return is_of_another_machine(one.first); });
  for (const auto& [name, value] : news.environment()) {
    std::string text = value;
    const auto old = std::ranges::find(variables, name, [](const auto& one) { return one.first; });
    if (name == "PATH" && old != variables.end()) text += ":" + old->second;
    if (old != variables.end()) variables.erase(old);
    variables.emplace_back(name, std::move(text));
  }
  // What a step printed must be here when its machine is killed, not in the trainer's memory.
  if (std::ranges::find(variables, "PYTHONUNBUFFERED", [](const auto& one) { return one.first; }) ==
      variables.end()) {
    variables.emplace_back("PYTHONUNBUFFERED", "1");
  }
  return variables;
}

constexpr int kUnaskedMax = 3;

}  // namespace

LifeDriver::LifeDriver(sys::World& world, BadNews& news, MachinePlan plan,
                       std::function<void(const std::string&)> doing)
    : world_(world),
      news_(news),
      plan_(std::move(plan)),
      doing_(std::move(doing)),
      out_(plan_.progress),
      err_(plan_.progress) {
  lines_.event = [this](const AgentEvent& event) { heard(event); };
  lines_.other = [this](std::string_view text) { err_.feed(text, elapsed()); };
}

double LifeDriver::elapsed() {
  return record_.life.began + seconds(world_.clock.mono_now() - started_);
}

Result<LifeRecord> LifeDriver::run(std::uint64_t number, double began,
                                   std::deque<Planned>& schedule, const sys::CallContext& ctx) {
  record_.life.number = number;
  record_.life.began = began;
  started_ = last_sign_ = world_.clock.mono_now();
  const WallTime run_began = world_.clock.wall_now() - std::chrono::duration_cast<Duration>(
                                                           std::chrono::duration<double>(began));
  OUTLAST_TRY_ASSIGN(
      agent_,
      world_.processes.spawn({.argv = plan_.argv,
                              .environment = environment_for(world_, news_),
                              .working_dir = plan_.folder,
                              .out = {.target = sys::Output::Sink([this](std::string_view piece) {
                                        last_sign_ = world_.clock.mono_now();
                                        out_.feed(piece, elapsed());
                                        show_step(out_);
                                      })},
                              .err = {.target = sys::Output::Sink([this](std::string_view piece) {
                                        last_sign_ = world_.clock.mono_now();
                                        lines_.feed(piece);
                                        show_step(err_);
                                      })}}));
  const Result<void> driven = drive(schedule, ctx);
  if (!has_ended_) {
    const Result<void> ended = end_machine(world_, *agent_);
    if (driven) OUTLAST_TRY(ended);
  }
  lines_.finish();
  news_.finish();
  OUTLAST_TRY(driven);
  take_words();
  if (record_.life.ended == 0) record_.life.ended = elapsed();
  if (record_.life.outcome.empty()) record_.life.outcome = record_.was_killed ? "gone" : "broken";
  // What a machine leaves when it is done with everything is the result, and is compared as such.
  if (record_.life.outcome != "done") {
    std::vector<std::string> open = std::exchange(record_.written_in_place, {});
    (void)look_at_remains(world_, plan_.trainer, open, run_began, record_);
  }
  return std::move(record_);
}

Result<void> LifeDriver::drive(std::deque<Planned>& schedule, const sys::CallContext& ctx) {
  while (true) {
    OUTLAST_TRY_ASSIGN(has_ended_, wait_a_while(ctx));
    if (trouble_) return *trouble_;
    if (has_ended_) {
      // What could not be taken back any more was a notice like any other.
      if (next_ == Next::kWithdraw) record_.life.injections.back().trouble = Trouble::kNotice;
      record_.life.left = record_.life.ended = elapsed();
      return {};
    }
    if (training_ && next_ == Next::kNothing && next_at_ == kNever) plan_next(schedule, *training_);
    if (world_.clock.mono_now() >= next_time()) OUTLAST_TRY(act(schedule));
    if (has_ended_) return {};
  }
}

MonoTime LifeDriver::next_time() const {
  return std::min(next_at_, saturating_add(last_sign_, plan_.patience));
}

// Until the agent ends, which is true, something is due, or there is news.
Result<bool> LifeDriver::wait_a_while(const sys::CallContext& ctx) {
  std::stop_source news;
  const std::stop_callback stopped(ctx.stop, [&] { news.request_stop(); });
  wake_ = [&] { news.request_stop(); };
  const Result<sys::ExitStatus> status =
      agent_->wait({.deadline = next_time(), .stop = news.get_token()});
  wake_ = {};
  if (ctx.stop.stop_requested()) return Error(ErrorCode::kCancelled, "the drill was stopped");
  if (status) {
    if (record_.life.outcome.empty()) {
      record_.why = fmt::format("'outlast run' {}", sys::to_string(*status));
    }
    return true;
  }
  const ErrorCode code = status.error().code();
  if (code == ErrorCode::kCancelled || code == ErrorCode::kDeadlineExceeded) return false;
  return status.error();
}

void LifeDriver::plan_next(const std::deque<Planned>& schedule, MonoTime from) {
  next_ = schedule.empty() ? Next::kNothing : Next::kTrouble;
  next_at_ = schedule.empty() ? kNever : saturating_add(from, schedule.front().after);
}

Result<void> LifeDriver::act(std::deque<Planned>& schedule) {
  if (world_.clock.mono_now() < next_at_) {
    record_.was_hung = true;
    record_.life.outcome = "hung";
    return kill({});
  }
  switch (next_) {
    case Next::kTrouble:
      return begin_trouble(schedule);
    case Next::kOpenFile:
      return look_for_open_file(schedule);
    case Next::kWithdraw:
      doing_("the notice is taken back");
      OUTLAST_TRY(news_.withdraw());
      plan_next(schedule, world_.clock.mono_now());
      return {};
    case Next::kEnd: {
      doing_("the notice is over: the machine is gone");
      const Result<std::vector<std::string>> open =
          files_being_written(world_, *agent_, plan_.trainer);
      return kill(open.value_or(std::vector<std::string>()));
    }
    case Next::kNothing:
      break;
  }
  next_at_ = kNever;
  return {};
}

Result<void> LifeDriver::begin_trouble(std::deque<Planned>& schedule) {
  const Planned planned = schedule.front();
  record_.ignores_sigterm = ignores_sigterm(world_, *agent_);
  if (planned.trouble == Trouble::kMidSave) {
    next_ = Next::kOpenFile;
    open_file_until_ = saturating_add(next_at_, planned.after);
    doing_("waiting for a save");
    return look_for_open_file(schedule);
  }
  schedule.pop_front();
  if (planned.trouble == Trouble::kKill) {
    doing_("the machine is gone");
    const Result<std::vector<std::string>> open =
        files_being_written(world_, *agent_, plan_.trainer);
    record_.life.injections.push_back({.trouble = Trouble::kKill, .at = elapsed()});
    return kill(open.value_or(std::vector<std::string>()));
  }
  const Duration left = planned.trouble == Trouble::kTooLate ? kLateNotice : plan_.notice_time;
  record_.life.injections.push_back(
      {.trouble = planned.trouble, .at = elapsed(), .notice_time = seconds(left)});
  doing_(fmt::format("notice: {} left", format_duration_short(left)));
  OUTLAST_TRY(news_.announce(*agent_, left));
  const bool stays = planned.trouble == Trouble::kWithdrawn;
  next_ = stays ? Next::kWithdraw : Next::kEnd;
  next_at_ = saturating_add(world_.clock.mono_now(), stays ? left / kWithdrawnAfterPart : left);
  return {};
}

Result<void> LifeDriver::look_for_open_file(std::deque<Planned>& schedule) {
  OUTLAST_TRY_ASSIGN(const std::vector<std::string> open,
                     files_being_written(world_, *agent_, plan_.trainer));
  const bool is_late = world_.clock.mono_now() >= open_file_until_;
  if (open.empty() && !is_late) {
    next_at_ = saturating_add(world_.clock.mono_now(), kLookEvery);
    return {};
  }
  schedule.pop_front();
  doing_("the machine is gone");
  record_.life.injections.push_back(
      {.trouble = open.empty() ? Trouble::kKill : Trouble::kMidSave, .at = elapsed()});
  return kill(open);
}

Result<void> LifeDriver::kill(const std::vector<std::string>& open) {
  OUTLAST_TRY(end_machine(world_, *agent_));
  has_ended_ = true;
  record_.life.ended = elapsed();
  record_.was_killed = true;
  record_.written_in_place = open;
  return {};
}

// Of two streams: some trainers print their steps here, some there.
void LifeDriver::take_words() {
  record_.samples.clear();
  std::ranges::merge(out_.samples(), err_.samples(), std::back_inserter(record_.samples), {},
                     &StepSample::at, &StepSample::at);
  record_.last_words = err_.last_words();
  if (record_.last_words.empty()) record_.last_words = out_.last_words();
}

void LifeDriver::show_step(const StepReader& reader) {
  if (reader.samples().empty()) return;
  const std::optional<std::uint64_t> step = reader.samples().back().step;
  if (!step || step == shown_step_) return;
  shown_step_ = step;
  doing_(fmt::format("step {}", *step));
}

void LifeDriver::heard(const AgentEvent& event) {
  take_event(event, elapsed(), record_);
  if (record_.life.training && !training_) {
    training_ = world_.clock.mono_now();
    if (wake_) wake_();
  }
  // A root on this disk that takes nothing, and a trainer that leaves again and again though nobody
  // wants it to, would go on for ever.
  if (event.kind == "save-failed") give_up(event.sentence);
  const auto meaning = event.texts.find("meaning");
  const bool has_left = event.kind == "trainer-ended" && meaning != event.texts.end() &&
                        meaning->second == "left" && record_.life.injections.empty();
  if (has_left && ++unasked_ == kUnaskedMax) {
    give_up(fmt::format("the trainer has left {} times ({}) though nobody had asked it to",
                        kUnaskedMax, record_.trainer_exit));
  }
  doing_(event.sentence);
}

void LifeDriver::give_up(std::string why) {
  if (!trouble_) trouble_ = Error(ErrorCode::kFailed, std::move(why));
  if (wake_) wake_();
}

}  // namespace outlast::drill
