#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/time.h"
#include "job/notice_plan.h"
#include "job/place_facts.h"

// Bad news as one idea: this machine ends then, as far as is known.
namespace outlast::notice {

struct Notice {
  std::string source = {};  // who says so: "signal", "file", "lifetime", …
  MonoTime ends = {};       // the machine, by its own clock
  // A possible end is a hint: worth a save, no reason to leave.
  job::NoticeConfidence confidence = job::NoticeConfidence::kCertain;
  // Somebody sits there and waits for us to end (Ctrl-C): leave as soon as what there is is safe.
  bool at_once = false;
  // Whoever says so may have told the trainer as well (Slurm signals every process of a step): if
  // it ends now, that is why.
  bool reached_trainer = false;
  std::string why = {};  // what was heard, for the record: "SIGTERM, which leaves 30s"
  friend bool operator==(const Notice&, const Notice&) = default;
};

// What all sources say at the moment. Thread-safe.
class NoticeBoard {
 public:
  // `changed` is called whenever current(), hint() or place() has become another one, by the thread
  // that caused it; for an actor to be sent a message.
  explicit NoticeBoard(std::function<void()> changed) : changed_(std::move(changed)) {}

  // Instead of what this source said before.
  void post(const Notice& notice);
  // The source takes back what it said, if it said anything.
  void withdraw(const std::string& source);

  // Of those that are certain, the one that ends first. One that wants us gone at once comes before
  // all others, and ends no later than any of them. None: no end is in sight.
  std::optional<Notice> current() const;
  // Of those that are only possible, the one that ends first.
  std::optional<Notice> hint() const;

  // Where we are, as a source has found out.
  void set_place(const job::PlaceFacts& place);
  std::optional<job::PlaceFacts> place() const;

 private:
  using Notices = std::map<std::string, Notice>;
  void change(const std::function<void(Notices&)>& how);
  std::optional<Notice> first(job::NoticeConfidence confidence) const OUTLAST_REQUIRES(mutex_);

  const std::function<void()> changed_;
  mutable Mutex mutex_;
  Notices notices_ OUTLAST_GUARDED_BY(mutex_);  // by source
  std::optional<job::PlaceFacts> place_ OUTLAST_GUARDED_BY(mutex_);
};

}  // namespace outlast::notice
