#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/arena.h"
#include "agent/attempt.h"
#include "agent/event.h"
#include "agent/snapshot_host.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "job/retry_budget.h"
#include "job/trainer_end.h"
#include "sys/local_socket.h"
#include "sys/world.h"

namespace outlast::agent {
namespace {

// Without a snapshot for so long, a person is told.
constexpr Duration kNoSnapshotMax = std::chrono::seconds(60);

}  // namespace

void Attempt::open_snapshots() {
  sys::World& world = parts_.world;
  std::string path = parts_.work.socket();
  // The name of a socket has to be short, and a work folder's need not be.
  if (path.size() > sys::kLocalPathMax) {
    path = fmt::format("/tmp/outlast-{}-{}.socket", options_.agent.pid, epoch_);
  }
  Result<std::unique_ptr<SnapshotHost>> host = SnapshotHost::start(
      {.sockets = world.local_sockets,
       .memories = world.shared_memories,
       .threads = world.threads,
       .clock = world.clock},
      {.path = path,
       .leave_code = options_.spec.exit_codes.left,
       .newest = options_.newest_snapshot},
      {.news =
           [this] {
             if (!has_snapshot_news_.exchange(true)) post(SnapshotNews{});
           },
       .warn =
           [this](std::string kind, std::string sentence) {
             post(Trouble{.kind = std::move(kind),
                          .error = Error(ErrorCode::kUnavailable, std::move(sentence))});
           }});
  if (!host) {
    return tell(EventLevel::kWarning, "no-snapshots",
                fmt::format("trainers that use an SDK cannot reach us, and save to files: {}",
                            host.error().to_string()));
  }
  snapshots_ = *std::move(host);
}

void Attempt::handle(SnapshotNews /*message*/) {
  has_snapshot_news_ = false;  // decide() looks
}

void Attempt::look_at_snapshots() {
  if (!snapshots_ || phase_ == Phase::kRestoring || phase_ == Phase::kPausing) return;
  std::optional<JobSnapshot> newest = snapshots_->newest();
  // One that is gone was overwritten: the next one is near.
  if (newest && (!snapshot_ || newest->fingerprint() != snapshot_->fingerprint())) {
    snapshot_ = std::move(newest);
    snapshot_taken_ = parts_.world.clock.wall_now();
    has_new_snapshot_ = true;
    if (!unsaved_since_) unsaved_since_ = now_;
    if (asked_to_save_ && is_answer()) {
      ask_cost_ = now_ - *asked_to_save_;
      asked_to_save_.reset();
    }
  }
  if (snapshot_asked_ == 0) return;
  if (const std::optional<std::uint64_t> again = snapshots_->ask_again_if_missed()) {
    snapshot_asked_ = *again;
  }
}

bool Attempt::can_ask_for_snapshot() const {
  return snapshots_ && snapshots_->can_ask();
}

void Attempt::ask_for_snapshot(const SnapshotHost::Ask& ask) {
  snapshot_asked_ = snapshots_->ask(ask);
}

void Attempt::tell_if_without_snapshot() {
  if (!snapshots_->is_used() || has_new_snapshot_) return;
  if (now_ - life_began_ < kNoSnapshotMax || std::exchange(unfound_told_, true)) return;
  const std::string missing = snapshots_->what_is_missing();
  tell(EventLevel::kWarning, "nothing-yet",
       missing.empty()
           ? "the trainer uses an SDK and has taken no snapshot yet: until it calls save() or "
             "step_done(), nothing is safe"
           : fmt::format("{}: until it comes, nothing is safe", missing));
}

bool Attempt::is_worth_saving_first() const {
  const bool is_taken_over = turn_ && turn_->kind == TurnNews::Kind::kTakenOver;
  const bool is_given_up = leaving_ && leaving_->at_once && save_failures_ > 1;
  return leaving_ && now_ < leaving_->ends && !is_taken_over && !is_given_up && snapshot_ &&
         (saving_ || has_unsaved());
}

bool Attempt::goes_on_from_memory() const {
  if (leaving_ || turn_ || !snapshot_) return false;
  // Files of its own must be what they were at that step, which only a checkpoint knows.
  if (has_own_files_) return false;
  const job::TrainerEnd end = trainer_end();
  if (end.meaning != job::EndMeaning::kFailed) return false;
  std::vector<job::AttemptEnd> ends = record_.ends;
  ends.push_back(life_end(end.meaning));
  return job::decide_retry(ends, options_.spec.retries).again;
}

}  // namespace outlast::agent
