#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "agent/arena.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/loaded_checkpoint.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/local_socket.h"
#include "sys/shared_memory.h"
#include "sys/threads.h"

namespace outlast::agent {

// What trainers say of themselves through an SDK.
struct TrainerWords {
  std::optional<std::uint64_t> step = {};
  std::optional<std::uint64_t> total = {};
  std::optional<double> epoch = {};
  std::map<std::string, double> metrics = {};
  bool is_done = false;                // the job
  std::optional<Duration> stall = {};  // of the trainer, by its last snapshot
};

// Where trainers that use an SDK come to: has their arenas, and hears what they say
// (docs/trainer_contract.md). The arenas outlive the trainers. Thread-safe; the listener is called
// on threads of this object.
class SnapshotHost {
 public:
  struct Parts {
    sys::LocalSockets& sockets;
    sys::SharedMemories& memories;
    sys::Threads& threads;
    sys::Clock& clock;
  };
  struct Options {
    std::string path = {};  // of the socket
    int leave_code = 75;
    // How a snapshot of the job is made of what the ranks have.
    NewestSnapshot newest = newest_of_all;
  };
  struct Listener {
    std::function<void()> news = {};  // newest(), is_used() or words() may say something else now
    std::function<void(std::string kind, std::string sentence)> warn = {};
  };
  static Result<std::unique_ptr<SnapshotHost>> start(const Parts& parts, const Options& options,
                                                     Listener listener);
  ~SnapshotHost();

  const std::string& path() const { return options_.path; }

  // --- Between lives of the trainer: nobody of it is alive.

  // Forgets who came and what was asked and said. Of what the arenas hold stays the newest snapshot
  // of the job; it is what the next life begins with.
  std::optional<JobSnapshot> begin_life();
  // What the checkpoint holds goes into the arenas, straight from the store, unless these have
  // something newer. Returns how many bytes went. Errors as restore_regions(); kUnavailable if
  // memory is short.
  Result<std::uint64_t> restore(const checkpoint::ReaderParts& parts,
                                const checkpoint::LoadedCheckpoint& checkpoint,
                                const sys::CallContext& ctx);

  // --- While the trainer runs.

  // Whether a trainer has come, in this life.
  bool is_used() const;
  // Whether all of them are there: an ask can be answered.
  bool can_ask() const;
  // Whether any of them is still there, and may have more to say.
  bool has_guests() const;
  // The newest snapshot of the job.
  std::optional<JobSnapshot> newest() const;
  TrainerWords words() const;
  // Why no snapshot can come, if one should: a rank that is missing. "" if all is well.
  std::string what_is_missing() const;

  struct Ask {
    bool leave = false;
    std::uint64_t from_step = 0;  // not before it
  };
  // Asks all ranks for a snapshot of one step. JobSnapshot::answers() of what comes is at least the
  // number that is returned.
  std::uint64_t ask(const Ask& ask);
  // Once all have answered, but with different steps, which makes no snapshot of the job: asks
  // again, for a step further off, and returns the new number.
  std::optional<std::uint64_t> ask_again_if_missed();
  // When this machine ends, for all to see.
  void set_deadline(std::optional<WallTime> ends);

 private:
  // A trainer's process that has come.
  struct Guest {
    std::uint64_t id = 0;
    int pid = 0;
  };
  struct Hello {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 1;
    std::uint64_t bytes = 0;
  };
  struct Welcome {
    std::shared_ptr<Arena> arena = {};
    std::string note = {};
  };

  SnapshotHost(const Parts& parts, Options options, Listener listener);
  void listen(sys::LocalListener& listener, const std::stop_token& stop);
  void serve(sys::LocalSocket& socket, std::uint64_t id, const sys::CallContext& ctx);
  static Result<Hello> read_hello(const std::string& text);
  Result<Welcome> take_in(const Hello& hello, const Guest& guest);
  // The arena that is there, or null; after all that speaks against this guest was looked at.
  Result<std::shared_ptr<Arena>> register_guest(const Hello& hello, const Guest& guest);
  // How many slots of this size, of so many that are wanted, the machine's memory has for one of so
  // many ranks that still want some. They count as taken from then on.
  std::uint64_t promise(std::uint64_t bytes, std::uint64_t slots, std::uint64_t ranks);
  void heard(std::uint32_t rank, std::uint64_t id, const std::string& text);
  void left(std::uint32_t rank, std::uint64_t id);
  void publish(Arena& arena) OUTLAST_REQUIRES(mutex_);
  void ask_now(const Ask& ask) OUTLAST_REQUIRES(mutex_);

  const Parts parts_;
  const Options options_;
  const Listener listener_;

  mutable Mutex mutex_;  // never held across a call to the world
  std::vector<std::shared_ptr<Arena>> arenas_ OUTLAST_GUARDED_BY(mutex_);  // by rank; may be null
  std::map<std::uint32_t, Guest> guests_ OUTLAST_GUARDED_BY(mutex_);       // by rank
  bool is_used_ OUTLAST_GUARDED_BY(mutex_) = false;
  TrainerWords words_ OUTLAST_GUARDED_BY(mutex_);
  std::set<std::uint32_t> done_ OUTLAST_GUARDED_BY(mutex_);  // ranks that said so
  // What the arenas hold came from a checkpoint, and no trainer has had it.
  bool is_from_store_ OUTLAST_GUARDED_BY(mutex_) = false;
  // Of the machine's memory, in this life; none: not asked yet.
  std::optional<std::uint64_t> unpromised_ OUTLAST_GUARDED_BY(mutex_);
  std::uint64_t asks_ OUTLAST_GUARDED_BY(mutex_) = 0;   // so many so far, in all lives
  std::uint64_t asked_ OUTLAST_GUARDED_BY(mutex_) = 0;  // the number of the last one; 0: none
  std::uint64_t ask_step_ OUTLAST_GUARDED_BY(mutex_) = 0;
  Ask ask_ OUTLAST_GUARDED_BY(mutex_);
  // Several ranks: how far ahead of them a step must be that all can still meet.
  std::uint64_t margin_ OUTLAST_GUARDED_BY(mutex_) = 2;
  double steps_a_second_ OUTLAST_GUARDED_BY(mutex_) = 0;
  std::optional<std::pair<MonoTime, std::uint64_t>> rated_ OUTLAST_GUARDED_BY(mutex_);
  std::uint64_t deadline_ OUTLAST_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<sys::Thread> thread_;  // ends before what it uses
};

}  // namespace outlast::agent
