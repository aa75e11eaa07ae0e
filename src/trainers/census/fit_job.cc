#include "trainers/census/fit_job.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/progress_line.h"
#include "cli/program/terminal.h"
#include "sys/world.h"
#include "trainers/census/boosting.h"
#include "trainers/census/census_model.h"
#include "trainers/census/saved_state.h"
#include "trainers/census/search_space.h"
#include "trainers/learner.h"
#include "trainers/leave_request.h"
#include "trainers/metrics.h"
#include "trainers/plot.h"

namespace outlast::trainers {
namespace {

// A node takes some 40 bytes in XGBoost's binary JSON, and the names around a tree's some 1,000.
constexpr std::size_t kNodeBytesMax = 64;
constexpr std::size_t kTreeBytesMax = 4096;

// Whatever the evaluations were that made it: after every tree there is one at most.
std::size_t state_bytes_max(const Configuration& configuration) {
  const std::size_t nodes = std::size_t{2} << configuration.depth;
  return (std::size_t{64} << 10U) +
         configuration.trees * (kTreeBytesMax + nodes * kNodeBytesMax + Metrics::kLineBytesMax);
}

class Fit {
 public:
  Fit(const FitJob& job, cli::Context& context)
      : job_(job),
        context_(context),
        saved_({.hyper_parameters = job.hyper_parameters,
                .snapshots = {.every_steps = job.checkpoint_steps,
                              .folder = job.folder.checkpoints_path()},
                .bytes_max = state_bytes_max(job.configuration),
                .get = [this] { return state(); },
                .set = [this](std::string_view text) { return restore(text); }}),
        leave_(context.world.own_signals, context.world.threads),
        line_(context.terminal, context.world.clock) {}

  Result<cli::ExitCode> run() {
    OUTLAST_TRY_ASSIGN(const std::optional<std::uint64_t> resumed, saved_.resume());
    const std::uint64_t rounds = job_.configuration.trees;
    if (resumed) {
      OUTLAST_TRY(write_metrics());
      context_.terminal.note(fmt::format("resuming from tree {} of {}", *resumed, rounds));
    } else {
      OUTLAST_TRY_ASSIGN(Booster made,
                         Booster::make(job_.lesson.matrix, job_.configuration.boosting()));
      booster_ = std::make_unique<Booster>(std::move(made));
    }
    for (std::uint64_t round = resumed.value_or(0); round < rounds; ++round) {
      OUTLAST_TRY(booster_->boost(round));
      line_.update(fmt::format("tree {}/{}", round + 1, rounds));
      if ((round + 1) % job_.eval_steps == 0 || round + 1 == rounds) {
        OUTLAST_TRY(evaluate_at(round + 1));
      }
      OUTLAST_TRY_ASSIGN(const bool goes_on, step_done(round + 1, rounds));
      OUTLAST_TRY(job_.folder.publish_sometimes());
      if (!goes_on) {
        line_.clear();
        context_.terminal.note(
            fmt::format("left after tree {} of {}, which is saved", round + 1, rounds));
        return static_cast<cli::ExitCode>(saved_.leave_code());
      }
    }
    line_.clear();
    OUTLAST_TRY(job_.finish(*booster_));
    OUTLAST_TRY(saved_.done());
    return cli::ExitCode::kOk;
  }

 private:
  // Every tree goes through all people once: a round is an epoch.
  Result<void> evaluate_at(std::uint64_t done) {
    OUTLAST_TRY_ASSIGN(const std::vector<float> learnt, booster_->margins(job_.lesson.matrix));
    OUTLAST_TRY_ASSIGN(const std::vector<float> tested, booster_->margins(job_.exam.matrix));
    const Evaluation train = evaluate_margins(learnt, job_.lesson.labels);
    const Evaluation test = evaluate_margins(tested, job_.exam.labels);
    metrics_.add({.step = done,
                  .epoch = static_cast<double>(done),
                  .loss = train.loss,
                  .accuracy = train.accuracy(),
                  .test_loss = test.loss,
                  .test_accuracy = test.accuracy()});
    saved_.metrics({{"loss", train.loss},
                    {"accuracy", train.accuracy()},
                    {"test_loss", test.loss},
                    {"test_accuracy", test.accuracy()}});
    return write_metrics();
  }

  Result<void> write_metrics() {
    OUTLAST_TRY(job_.folder.write(job_.folder.metrics_path(), metrics_.text()));
    const std::string title = fmt::format("census: {}", job_.data_from);
    return job_.folder.write(job_.folder.plot_path(),
                             plot_svg(metrics_, {.title = title, .axis = "trees"}));
  }

  Result<bool> step_done(std::uint64_t done, std::uint64_t rounds) {
    OUTLAST_TRY_ASSIGN(const bool goes_on, saved_.step_done(done, rounds));
    // What could not be put into words inside the save.
    OUTLAST_TRY(state_made_);
    if (!goes_on || !leave_.is_made() || done == rounds) return goes_on;
    OUTLAST_TRY(saved_.save(done));
    OUTLAST_TRY(state_made_);
    return false;
  }

  // The metrics, of which no line is empty, an empty line, and the booster.
  std::string state() {
    Result<std::string> bytes = booster_->serialised();
    if (bytes) return metrics_.text() + "\n" + *bytes;
    state_made_ = bytes.error();
    return "";
  }

  Result<void> restore(std::string_view text) {
    const std::size_t end = text.starts_with('\n') ? 0 : text.find("\n\n") + 1;
    OUTLAST_TRY_ASSIGN(metrics_, Metrics::parse(text.substr(0, end)));
    OUTLAST_TRY_ASSIGN(Booster made,
                       Booster::make_from(job_.lesson.matrix, job_.configuration.boosting(),
                                          text.substr(std::min(end + 1, text.size()))));
    booster_ = std::make_unique<Booster>(std::move(made));
    return {};
  }

  const FitJob& job_;
  cli::Context& context_;
  std::unique_ptr<Booster> booster_;  // there from the first round on, or from resume()
  Metrics metrics_;
  Result<void> state_made_;
  SavedState saved_;
  LeaveRequest leave_;
  cli::ProgressLine line_;
};

}  // namespace

Result<cli::ExitCode> fit(const FitJob& job, cli::Context& context) {
  return Fit(job, context).run();
}

}  // namespace outlast::trainers
