#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/event.h"
#include "agent/stream_writer.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/inbox.h"
#include "sys/threads.h"

namespace outlast::agent {

// Brings what people want to know of an attempt into the root, on a thread of its own, and never
// makes anybody wait for that: the trainer's output and the events as they come, the record and the
// beat as they are. While the root is away it keeps them (StreamWriter's bounds). All functions but
// finish() may be called from any thread.
class Reporter {
 public:
  struct Parts {
    store::ObjectStore& root;
    store::ObjectStore& job;  // the job's folder of it
    sys::Threads& threads;
    sys::Clock& clock;
  };
  Reporter(const Parts& parts, const std::string& job, job::Epoch epoch);

  void printed(std::string_view piece);
  void happened(const Event& event);
  // None: no more beats.
  void set_beat(std::optional<Beat> beat);
  void set_record(AttemptRecord record);
  // What is there goes to the root now, rather than soon.
  void hurry();

  // Since when nothing could be written; none while all is well.
  std::optional<MonoTime> away_since() const;

  // Ends the thread and writes the last of everything, as far as `ctx` lets it. Confined to the
  // owner; nothing else may be called after it.
  Result<void> finish(const sys::CallContext& ctx);

 private:
  enum class Order { kHurry };
  void run(const std::stop_token& stop);
  Result<void> write(const sys::CallContext& ctx);
  Duration gap() const;

  const Parts parts_;
  const std::string beat_key_;
  const std::string record_key_;
  const MonoTime began_;
  StreamWriter printed_;
  StreamWriter events_;
  sys::Inbox<Order> inbox_;
  mutable Mutex mutex_;
  std::optional<Beat> beat_ OUTLAST_GUARDED_BY(mutex_);
  std::optional<AttemptRecord> record_ OUTLAST_GUARDED_BY(mutex_);  // that was not written yet
  std::optional<MonoTime> away_since_ OUTLAST_GUARDED_BY(mutex_);
  std::unique_ptr<sys::Thread> thread_;  // ends before what it uses
};

}  // namespace outlast::agent
