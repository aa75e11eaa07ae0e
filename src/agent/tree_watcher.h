#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/file_watch.h"
#include "sys/inbox.h"
#include "sys/threads.h"
#include "trainer_files/checkpoint_finder.h"
#include "trainer_files/layout_table.h"
#include "trainer_files/resume_judgement.h"
#include "trainer_files/tree_listing.h"

namespace outlast::agent {

// What the trainer has written so far.
struct TreeSeen {
  trainer_files::CommitState state = {};
  struct NewSet {
    trainer_files::SetProgress progress = {};
    const trainer_files::Layout* layout = nullptr;
  };
  std::optional<NewSet> new_set = {};  // the first checkpoint since the start
  std::vector<std::string> report = {};
  bool is_settling = false;  // something is being written, or is not yet at rest
  bool is_last = false;      // asked for by look_last()
  bool is_whole = true;      // false: the files could not be listed, and the state is an older one
};

// Looks after one folder during one life of the trainer: looks when something changed, again while
// something is being written, and otherwise hardly ever. It tells of each change in what it sees.
// Its looks cost a small part of the time, however large the tree. Confined to its owner; the
// listener is called on a thread of this object.
class TreeWatcher {
 public:
  struct Parts {
    sys::FileSystem& files;
    sys::FileWatches& watches;
    sys::Threads& threads;
    sys::Clock& clock;
  };
  struct Options {
    std::string folder = {};  // absolute
    trainer_files::ListingOptions listing = {};
    trainer_files::FinderOptions finder = {};
  };
  struct Listener {
    std::function<void(TreeSeen)> seen = {};
    // Looking itself failed, or is more expensive than it should be: once for each reason.
    std::function<void(const Error&)> trouble = {};
  };

  // Takes the look that everything is compared with; the trainer must not run yet.
  static Result<std::unique_ptr<TreeWatcher>> start(const Parts& parts, const Options& options,
                                                    Listener listener);

  const trainer_files::CommitState& state_at_start() const { return state_at_start_; }

  // From now on: who has what open, below the folder. Before the first look after the start.
  using OpenFiles = trainer_files::CheckpointFinder::OpenFiles;
  void watch(std::function<OpenFiles()> open_for_writing);
  // Told of in any case.
  void look_now();
  // The trainer and its helpers have ended, in good order or not. May be asked for again; other
  // looks are not taken any more.
  void look_last(bool ended_well);

 private:
  enum class Order { kChanged, kWatchEnded, kLookNow, kLastWell, kLastBadly };

  TreeWatcher(const Parts& parts, Options options, Listener listener);

  void run(const std::stop_token& stop);
  void wait_for_changes(const std::stop_token& stop);
  void look(const std::stop_token& stop, std::optional<Order> asked);
  Result<trainer_files::TreeListing> list(bool is_last, const std::stop_token& stop);
  void tell(bool is_asked, bool is_last, bool is_whole);
  static bool is_last_look(Order order);
  bool is_being_written() const;
  Duration gap() const;
  void complain(const Error& error);

  const Parts parts_;
  const Options options_;
  const Listener listener_;
  sys::Inbox<Order> inbox_;
  trainer_files::CheckpointFinder finder_;
  trainer_files::CommitState state_at_start_;
  std::function<OpenFiles()> open_for_writing_;
  std::unique_ptr<sys::FileWatch> watch_;  // none: we look from time to time
  bool is_watching_ = false;
  // The shorter of the last two: a busy machine makes one look last, and costs us nothing by that.
  Duration look_cost_ = {};
  Duration last_look_took_ = {};
  bool has_changed_ = false;          // since the last look
  OpenFiles last_open_;               // as far as it could be told
  std::optional<MonoTime> ended_at_;  // the first look after the end
  std::optional<TreeSeen> told_;
  std::set<std::string> complaints_;
  std::vector<std::unique_ptr<sys::Thread>> threads_;  // end before what they use
};

}  // namespace outlast::agent
