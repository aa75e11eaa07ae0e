#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "notice/notice_board.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::notice {

// How we leave.
struct Departure {
  // What the trainer had done is committed. Otherwise an older checkpoint has to do.
  bool is_all_safe = true;
};

// Somewhere bad news comes from.
class NoticeSource {
 public:
  virtual ~NoticeSource() = default;
  // As it signs its notices.
  virtual std::string name() const = 0;
  // Tells the board what it hears, until `ctx` is stopped. It never gives up before: who stops
  // listening because of an error misses the news that counts.
  virtual void watch(NoticeBoard& board, const sys::CallContext& ctx) = 0;
  // We are about to go, and everything that we could save is: Slurm queues the job again, and if
  // all is safe Azure need not wait any longer. Called once, by another thread than watch(), and
  // only by an attempt that leaves because the machine ends. What was done, for people; "" if there
  // was nothing to.
  virtual Result<std::string> release(const Departure& /*departure*/,
                                      const sys::CallContext& /*ctx*/) {
    return std::string();
  }
};

// Listens to sources, each on a thread of its own, as long as it lives. Confined to its owner; the
// board must outlive it.
class NoticeWatch {
 public:
  NoticeWatch(sys::Threads& threads, NoticeBoard& board,
              std::vector<std::unique_ptr<NoticeSource>> sources);

  // Of every source, one after the other: what each did, or why it could not.
  std::vector<Result<std::string>> release(const Departure& departure, const sys::CallContext& ctx);

 private:
  std::vector<std::unique_ptr<NoticeSource>> sources_;
  std::vector<std::unique_ptr<sys::Thread>> threads_;  // end before what they use
};

}  // namespace outlast::notice
