#include "cli/attempt_follow.h"

#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/attempts.h"
#include "agent/job_look.h"
#include "agent/stream_reader.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/ckpt_access.h"
#include "cli/desk.h"
#include "cli/program/command_spec.h"
#include "cli/program/terminal.h"
#include "job/log_entry.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

constexpr Duration kPollEvery = std::chrono::seconds(2);
// A beat comes every 15 s; to look for it more often is of no use.
constexpr int kPollsPerLook = 8;

class AttemptFollower {
 public:
  AttemptFollower(const FollowPlan& plan, OpenJob& job, Context& context, const FollowSink& sink)
      : plan_(plan), job_(job), context_(context), sink_(sink) {}

  Result<void> run() {
    OUTLAST_TRY_ASSIGN(std::vector<job::Epoch> epochs,
                       agent::list_attempts(job_.checkpoints->store(), {}));
    OUTLAST_TRY(choose(epochs));
    for (const job::Epoch epoch : epochs) OUTLAST_TRY(begin(epoch));
    if (!plan_.follow) return {};
    bool told_of_error = false;
    while (context_.world.console.out_status()) {
      const Result<bool> over = poll();
      if (over && *over) return {};
      if (!over) {
        // The store was retried already; but who follows a job for days outlasts such a day, too.
        if (!may_pass(over.error())) return over.error();
        if (!told_of_error) {
          context_.terminal.warn(over.error().to_string() + "; going on as soon as it answers");
        }
      }
      told_of_error = !over;
      OUTLAST_TRY(context_.world.clock.sleep_for(kPollEvery, {}));
    }
    return {};
  }

 private:
  static bool may_pass(const Error& error) {
    return error.code() == ErrorCode::kUnavailable || error.code() == ErrorCode::kThrottled;
  }

  Result<void> choose(std::vector<job::Epoch>& epochs) const {
    if (epochs.empty()) {
      return Error(
          ErrorCode::kNotFound,
          fmt::format("{} was never run by 'outlast run': it has no attempt", job_.name()));
    }
    if (plan_.only) {
      if (!std::ranges::binary_search(epochs, *plan_.only)) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("{} has no attempt {}; it has {}", job_.name(), *plan_.only,
                                 format_seqs(epochs)));
      }
      epochs = {*plan_.only};
    } else if (!plan_.all) {
      epochs = {epochs.back()};
    }
    return {};
  }

  Result<void> begin(job::Epoch epoch) {
    current_ = epoch;
    reader_.emplace(job_.checkpoints->store(), plan_.prefix(epoch));
    sink_.begin(epoch);
    return drain();
  }

  Result<void> drain() {
    while (reader_) {
      OUTLAST_TRY_ASSIGN(const std::string piece, reader_->next({}));
      if (piece.empty()) return {};
      sink_.piece(current_, piece);
      if (!context_.world.console.out_status()) return {};
    }
    return {};
  }

  // True: everything was said.
  Result<bool> poll() {
    OUTLAST_TRY(drain());
    OUTLAST_TRY_ASSIGN(const std::vector<job::Epoch> epochs,
                       agent::list_attempts(job_.checkpoints->store(), {}));
    const auto next = std::ranges::upper_bound(epochs, current_);
    bool is_over = next != epochs.end();
    if (!is_over) {
      OUTLAST_TRY_ASSIGN(is_over, has_ended());
    }
    if (!is_over) return false;
    // What it put between the last look and its end.
    OUTLAST_TRY(drain());
    if (next == epochs.end() || plan_.only) return true;
    OUTLAST_TRY(begin(*next));
    return false;
  }

  Result<bool> has_ended() {
    OUTLAST_TRY(job_.checkpoints->log().refresh({}));
    const bool job_ended = job_.checkpoints->log().history().ended() != 0;
    const bool is_time_to_look = polls_++ % kPollsPerLook == 0;
    if (!job_ended && !is_time_to_look) return false;
    if (plan_.only) {
      const Result<agent::AttemptRecord> record =
          agent::read_attempt(job_.checkpoints->store(), current_, {});
      if (record && record->ended) return true;
    }
    OUTLAST_TRY_ASSIGN(
        const agent::JobLook look,
        agent::look_at_job(look_parts(*job_.root, context_.world), job_.checkpoints->job(),
                           job_.checkpoints->log().history(), {}));
    if (agent::is_alive(look)) return false;
    if (job_ended) return true;
    if (told_of_end_ != current_) {
      context_.terminal.note(fmt::format("attempt {}: {}; waiting for the next (Ctrl-C ends this)",
                                         current_, agent::to_string(agent::judge(look))));
      told_of_end_ = current_;
    }
    return false;
  }

  const FollowPlan& plan_;
  OpenJob& job_;
  Context& context_;
  const FollowSink& sink_;
  job::Epoch current_ = 0;
  std::optional<agent::StreamReader> reader_;
  int polls_ = 0;
  job::Epoch told_of_end_ = 0;
};

}  // namespace

Result<void> follow_attempts(const FollowPlan& plan, OpenJob& job, Context& context,
                             const FollowSink& sink) {
  return AttemptFollower(plan, job, context, sink).run();
}

OptionSpec attempt_option(std::string_view otherwise) {
  return {.name = "attempt",
          .value_name = "N",
          .help = fmt::format("this attempt, by its number (default: {})", otherwise),
          .number = true};
}

OptionSpec follow_option() {
  return {.name = "follow",
          .short_name = 'f',
          .help = "go on as more comes, over a change of attempts, until the job has ended"};
}

}  // namespace outlast::cli
