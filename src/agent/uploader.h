#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "agent/arena.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "job/log_entry.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/inbox.h"
#include "sys/threads.h"
#include "trainer_files/checkpoint_finder.h"

namespace outlast::agent {

// A complete state of the trainer, to be made a checkpoint: its files, or what it has in memory, or
// both.
struct SaveOrder {
  std::uint64_t fingerprint = 0;  // for the report
  trainer_files::CommitState state = {};
  std::optional<JobSnapshot> snapshot = {};
  std::string why = {};
  std::optional<std::uint64_t> step = {};
  std::map<std::string, double> metrics = {};
  bool stands_back = false;  // leaves the processors to the trainer, until hurry() is called
};

struct SaveReport {
  std::uint64_t fingerprint = 0;  // of the state
  // The trainer has touched its files, or its snapshot, meanwhile: nothing was committed, a newer
  // state will come.
  bool moved_on = false;
  std::optional<Error> failure = {};
  checkpoint::Saved saved = {};  // unless one of these
  std::optional<std::uint64_t> step = {};
  Duration upload_time = {};  // until all of it was in the store
  Duration commit_time = {};  // of the entry
};

// That it is no longer our turn.
struct TurnNews {
  enum class Kind {
    kTakenOver,  // by another attempt
    kEnded,      // somebody ended the job: `entry` says how
  };
  Kind kind = Kind::kTakenOver;
  job::LogEntry entry = {};  // by which we know
};

struct EndReport {
  Result<job::Seq> seq;
};

// Owns the job's checkpoints during an attempt, on a thread of its own: saves what it is told, one
// after the other, removes what is no longer kept, and looks now and then whether it still is our
// turn. Confined to its owner; the listener is called on its thread.
class Uploader {
 public:
  struct Parts {
    sys::FileSystem& files;
    sys::Threads& threads;
    sys::Clock& clock;
  };
  struct Options {
    std::string folder = {};               // that the paths of a state are below
    std::vector<std::string> beside = {};  // saved with each state if it is there: our own log
    std::uint64_t keep = 3;
    Duration look_every = {};  // at the log
  };
  struct Listener {
    std::function<void(SaveReport)> saved = {};
    std::function<void(TurnNews)> turn = {};
    std::function<void(EndReport)> ended = {};
    std::function<void(const Error&)> prune_failed = {};
  };

  // `checkpoints` has taken the job over.
  Uploader(const Parts& parts, const Options& options,
           std::unique_ptr<checkpoint::Checkpoints> checkpoints, Listener listener);

  // One at a time: not again before the listener has heard of it.
  void save(SaveOrder order);
  // The save that is under way, if there is one, need not be considerate any more.
  void hurry();
  // Something else that needs the checkpoints: on the uploader's thread, in its turn.
  using Task = std::function<void(checkpoint::Checkpoints&, const sys::CallContext&)>;
  void run_task(Task task);
  // The last entry of the attempt: kDone or kFailed, once `before` has worked. One at a time, too.
  struct EndOrder {
    job::EntryKind kind = job::EntryKind::kDone;
    std::string why = {};
    std::function<Result<void>(const sys::CallContext&)> before = {};
  };
  void end(EndOrder order);

 private:
  struct HurriedSave {
    SaveOrder order = {};
    std::stop_token hurry = {};
  };
  using Order = std::variant<HurriedSave, EndOrder, Task>;

  void run(const std::stop_token& stop);
  Result<job::Seq> end_now(const EndOrder& order, const sys::CallContext& ctx);
  SaveReport save_now(const HurriedSave& save, const sys::CallContext& ctx);
  Result<void> try_save(const HurriedSave& save, SaveReport& report, const sys::CallContext& ctx);
  Result<checkpoint::State> scan(const SaveOrder& order, const sys::CallContext& ctx);
  // The files first, with rank 0.
  static std::vector<checkpoint::State> with_snapshot(checkpoint::State files,
                                                      const SaveOrder& order);
  void prune(const sys::CallContext& ctx);
  void end_upkeep();
  void look_at_log(const sys::CallContext& ctx);

  const Parts parts_;
  const Options options_;
  const Listener listener_;
  const std::unique_ptr<checkpoint::Checkpoints> checkpoints_;
  sys::Inbox<Order> inbox_;
  std::stop_source hurry_;  // of the last save that was ordered
  mutable Mutex upkeep_mutex_;
  std::stop_source upkeep_ OUTLAST_GUARDED_BY(upkeep_mutex_);  // of the prune that runs, if any
  int orders_waiting_ OUTLAST_GUARDED_BY(upkeep_mutex_) = 0;
  std::uint64_t saved_since_prune_ = 0;
  bool has_lost_turn_ = false;
  bool has_ended_ = false;               // by ourselves
  std::unique_ptr<sys::Thread> thread_;  // ends before what it uses
};

}  // namespace outlast::agent
