#include "trainers/train_progress.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "base/units.h"
#include "cli/program/command_spec.h"
#include "cli/program/terminal.h"
#include "sys/clock.h"
#include "sys/world.h"
#include "trainers/learner.h"

namespace outlast::trainers {
namespace {

constexpr Duration kOnTerminal = std::chrono::milliseconds(250);
constexpr Duration kElsewhere = std::chrono::seconds(10);

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

TrainProgress::TrainProgress(cli::Context& context, Course course)
    : context_(context),
      course_(std::move(course)),
      line_(context.terminal, context.world.clock),
      interval_(context.terminal.shows_progress() ? kOnTerminal : kElsewhere) {}

void TrainProgress::begin() {
  since_ = context_.world.clock.mono_now();
}

std::string TrainProgress::where(std::uint64_t done) const {
  return fmt::format("step {}/{} epoch {:.2f}", done, course_.steps,
                     static_cast<double>(done) / static_cast<double>(course_.steps_per_epoch));
}

void TrainProgress::step(std::uint64_t done, const StepReport& report) {
  loss_sum_ += report.loss * static_cast<double>(report.examples);
  seen_.examples += report.examples;
  seen_.correct += report.correct;
  ++steps_seen_;
  const MonoTime now = context_.world.clock.mono_now();
  if (now - since_ >= interval_) show(done, now);
}

void TrainProgress::show(std::uint64_t done, MonoTime now) {
  const auto examples = static_cast<double>(seen_.examples);
  const double elapsed = seconds(now - since_);
  const double to_go =
      elapsed / static_cast<double>(steps_seen_) * static_cast<double>(course_.steps - done);
  const std::string text = fmt::format(
      "{}  {:.0f} {}/s  loss {:.4f}  accuracy {:.3f}  {} to go", where(done), examples / elapsed,
      course_.examples_name, loss_sum_ / examples, static_cast<double>(seen_.correct) / examples,
      format_duration_short(
          std::chrono::duration_cast<Duration>(std::chrono::duration<double>(to_go))));
  if (context_.terminal.shows_progress()) {
    line_.update(text);
  } else {
    context_.terminal.note(text);
  }
  since_ = now;
  seen_ = {};
  loss_sum_ = 0;
  steps_seen_ = 0;
}

void TrainProgress::pause(std::string_view doing) {
  line_.update(doing);
}

void TrainProgress::evaluated(std::uint64_t done, const Evaluation& evaluation) {
  line_.clear();
  if (!context_.terminal.json() && !context_.terminal.quiet()) {
    context_.terminal.print(fmt::format("{} test loss {:.4f} test accuracy {:.4f}\n", where(done),
                                        evaluation.loss, evaluation.accuracy()));
  }
  since_ = context_.world.clock.mono_now();
  seen_ = {};
  loss_sum_ = 0;
  steps_seen_ = 0;
}

void TrainProgress::end() {
  line_.clear();
}

}  // namespace outlast::trainers
