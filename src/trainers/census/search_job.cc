#include "trainers/census/search_job.h"

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
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
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/progress_line.h"
#include "cli/program/terminal.h"
#include "sys/inbox.h"
#include "sys/threads.h"
#include "sys/world.h"
#include "trainers/census/cross_validation.h"
#include "trainers/census/saved_state.h"
#include "trainers/census/search_results.h"
#include "trainers/census/search_space.h"
#include "trainers/leave_request.h"
#include "trainers/plot.h"

namespace outlast::trainers {
namespace {

// How long a wish to leave, or for a snapshot, may go unseen.
constexpr Duration kLookEvery = std::chrono::milliseconds(100);
constexpr Duration kLineEvery = std::chrono::seconds(10);

// One fold of one chain, judged.
struct Judged {
  std::size_t chain = 0;
  std::size_t fold = 0;
  Result<std::vector<std::uint32_t>> correct;
};

// The threads that judge, one piece after the other, until none is left or they are asked to stop.
class SearchCrew {
 public:
  SearchCrew(const CrossValidation& validation, const std::vector<Chain>& chains,
             sys::Threads& threads, unsigned size)
      : validation_(validation),
        chains_(chains),
        pieces_(chains.size() * validation.folds()),
        inbox_(threads, pieces_ + 1) {
    for (unsigned i = 0; i < size && i < pieces_; ++i) {
      crew_.push_back(threads.spawn(fmt::format("search{}", i),
                                    [this](const std::stop_token& stop) { work(stop); }));
    }
  }
  // All are told before any is waited for.
  ~SearchCrew() {
    for (const std::unique_ptr<sys::Thread>& thread : crew_) thread->request_stop();
  }
  SearchCrew(const SearchCrew&) = delete;
  SearchCrew& operator=(const SearchCrew&) = delete;

  // kDeadlineExceeded if nothing came.
  Result<Judged> next(MonoTime deadline) { return inbox_.receive({.deadline = deadline}); }

 private:
  void work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const std::size_t piece = next_++;
      if (piece >= pieces_) return;
      Judged judged{.chain = piece / validation_.folds(),
                    .fold = piece % validation_.folds(),
                    .correct = std::vector<std::uint32_t>()};
      judged.correct = validation_.correct(chains_[judged.chain], judged.fold, stop);
      if (!inbox_.try_post(std::move(judged))) return;
    }
  }

  const CrossValidation& validation_;
  const std::vector<Chain>& chains_;
  const std::size_t pieces_;
  sys::Inbox<Judged> inbox_;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::unique_ptr<sys::Thread>> crew_;  // last: it uses the others
};

// What chains cost, in arbitrary units.
double cost_of(const Chain& chain) {
  return static_cast<double>(chain.members.back().trees) * (2.0 + chain.boosting.depth);
}

class Search {
 public:
  Search(SearchResults& results, const SearchJob& job, cli::Context& context)
      : results_(results),
        job_(job),
        context_(context),
        saved_({.hyper_parameters = job.hyper_parameters,
                .snapshots = {.every_steps = 1, .folder = job.folder.checkpoints_path()},
                .bytes_max = results.bytes_max(),
                .get = [this] { return results_.text(); },
                .set = [this](std::string_view text) { return results_.restore(text); }}),
        leave_(context.world.own_signals, context.world.threads),
        line_(context.terminal, context.world.clock) {}

  Result<cli::ExitCode> run() {
    OUTLAST_TRY_ASSIGN(const std::optional<std::uint64_t> resumed, saved_.resume());
    if (resumed) {
      context_.terminal.note(
          fmt::format("resuming: {} of {} configurations are judged", results_.done(), total()));
    }
    OUTLAST_TRY(write_metrics());
    const std::vector<Chain> chains = make_chains(results_.configurations(), results_.missing());
    for (const Chain& chain : chains) cost_ahead_ += cost_of(chain);
    began_ = shown_ = context_.world.clock.mono_now();
    done_before_ = results_.done();
    const Result<void> judged = judge(chains);
    line_.clear();
    OUTLAST_TRY(judged);
    OUTLAST_TRY(write_metrics());
    if (!results_.is_complete()) {
      context_.terminal.note(fmt::format("left after {} of {} configurations, which are saved",
                                         results_.done(), total()));
      return static_cast<cli::ExitCode>(saved_.leave_code());
    }
    OUTLAST_TRY(job_.finish());
    OUTLAST_TRY(saved_.done());
    return cli::ExitCode::kOk;
  }

 private:
  std::size_t total() const { return results_.configurations().size(); }

  double best_accuracy() const {
    const std::optional<std::size_t> best = results_.best();
    return best ? results_.accuracy(*best) : 0;
  }

  // Returns when all are judged, or when somebody wants us to leave.
  Result<void> judge(const std::vector<Chain>& chains) {
    if (chains.empty()) return {};
    std::vector<std::vector<std::vector<std::uint32_t>>> counts(
        chains.size(), std::vector<std::vector<std::uint32_t>>(job_.validation.folds()));
    std::vector<std::size_t> folds_left(chains.size(), job_.validation.folds());
    SearchCrew crew(job_.validation, chains, context_.world.threads, job_.threads);
    while (!results_.is_complete()) {
      Result<Judged> judged =
          crew.next(saturating_add(context_.world.clock.mono_now(), kLookEvery));
      bool goes_on = true;
      if (judged) {
        OUTLAST_TRY(judged->correct);
        counts[judged->chain][judged->fold] = std::move(*judged->correct);
        if (--folds_left[judged->chain] == 0) {
          OUTLAST_TRY_ASSIGN(goes_on, keep(chains[judged->chain], counts[judged->chain]));
        }
      } else if (judged.error().code() != ErrorCode::kDeadlineExceeded) {
        return judged.error();
      } else if (saved_.is_wanted(results_.done())) {
        OUTLAST_TRY_ASSIGN(goes_on, saved_.step_done(results_.done(), total()));
      }
      if (!goes_on || leave_.is_made()) return {};
      show();
    }
    return {};
  }

  // A chain's members are known together, and saved together: the state is never in between.
  Result<bool> keep(const Chain& chain, const std::vector<std::vector<std::uint32_t>>& counts) {
    for (std::size_t i = 0; i < chain.members.size(); ++i) {
      std::vector<std::uint32_t> correct;
      correct.reserve(counts.size());
      for (const std::vector<std::uint32_t>& fold : counts) correct.push_back(fold[i]);
      results_.set(chain.members[i].number, std::move(correct));
    }
    cost_done_ += cost_of(chain);
    cost_ahead_ -= cost_of(chain);
    saved_.metrics({{"best_accuracy", best_accuracy()}});
    // The files are written whole: not for every line once they are long.
    if (results_.metrics_lines() > lines_written_ + lines_written_ / 50) {
      OUTLAST_TRY(write_metrics());
    }
    OUTLAST_TRY_ASSIGN(const bool goes_on, saved_.step_done(results_.done(), total()));
    OUTLAST_TRY(job_.folder.publish_sometimes());
    return goes_on;
  }

  Result<void> write_metrics() {
    lines_written_ = results_.metrics_lines();
    OUTLAST_TRY(job_.folder.write(job_.folder.metrics_path(), results_.metrics_text()));
    const std::string title = fmt::format("census: {}", job_.data_from);
    return job_.folder.write(job_.folder.plot_path(),
                             plot_svg(results_.metrics(), {.title = title,
                                                           .axis = "configurations",
                                                           .training = "best so far",
                                                           .test = "each, cross-validated",
                                                           .test_is_dots = true}));
  }

  void show() {
    const MonoTime now = context_.world.clock.mono_now();
    const bool has_line = context_.terminal.shows_progress();
    if (cost_done_ == 0 || (!has_line && now - shown_ < kLineEvery)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const auto done_here = static_cast<double>(results_.done() - done_before_);
    const std::chrono::duration<double> to_go(seconds * cost_ahead_ / cost_done_);
    const std::string text =
        fmt::format("{}/{} configurations  {:.2f}/s  best {:.4f}  {} to go", results_.done(),
                    total(), done_here / seconds, best_accuracy(),
                    format_duration_short(std::chrono::duration_cast<Duration>(to_go)));
    if (has_line) {
      line_.update(text);
    } else {
      context_.terminal.note(text);
    }
  }

  SearchResults& results_;
  const SearchJob& job_;
  cli::Context& context_;
  SavedState saved_;
  LeaveRequest leave_;
  cli::ProgressLine line_;
  MonoTime began_ = {};
  MonoTime shown_ = {};
  std::size_t done_before_ = 0;
  std::size_t lines_written_ = 0;
  double cost_done_ = 0;
  double cost_ahead_ = 0;
};

}  // namespace

Result<cli::ExitCode> search(SearchResults& results, const SearchJob& job, cli::Context& context) {
  return Search(results, job, context).run();
}

}  // namespace outlast::trainers
