#include "agent/tree_watcher.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_watch.h"
#include "sys/threads.h"
#include "trainer_files/checkpoint_finder.h"
#include "trainer_files/tree_listing.h"

namespace outlast::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kOrdersMax = 16;

// How often to look, and by how much a look that takes long puts off the next one.
struct Rhythm {
  Duration gap = {};
  int cost_shares = 0;  // at most one part in so many of the time is spent on looking
};
constexpr Rhythm kAfterChange = {.gap = milliseconds(200), .cost_shares = 10};
constexpr Rhythm kWhileWritten = {.gap = milliseconds(500), .cost_shares = 20};
constexpr Rhythm kUnwatched = {.gap = seconds(2), .cost_shares = 50};
// Even a watched tree can change unnoticed: by another machine, through a file that stays open.
constexpr Rhythm kAtRest = {.gap = seconds(30), .cost_shares = 2000};

constexpr int kListingTriesMax = 10;

Duration gap_of(const Rhythm& rhythm, Duration cost) {
  return std::max(rhythm.gap, cost * rhythm.cost_shares);
}

bool is_news(const TreeSeen& seen, const std::optional<TreeSeen>& before) {
  return !before || before->state.fingerprint != seen.state.fingerprint ||
         before->state.is_ready != seen.state.is_ready ||
         before->state.why_not != seen.state.why_not || before->report != seen.report ||
         before->is_settling != seen.is_settling ||
         before->new_set.has_value() != seen.new_set.has_value();
}

}  // namespace

TreeWatcher::TreeWatcher(const Parts& parts, Options options, Listener listener)
    : parts_(parts),
      options_(std::move(options)),
      listener_(std::move(listener)),
      inbox_(parts.threads, kOrdersMax),
      finder_(parts.files, options_.finder) {}

Result<std::unique_ptr<TreeWatcher>> TreeWatcher::start(const Parts& parts, const Options& options,
                                                        Listener listener) {
  std::unique_ptr<TreeWatcher> watcher(new TreeWatcher(parts, options, std::move(listener)));
  const auto leave_out = [root = options.listing.outlast_root](const std::string& path) {
    return path == root || trainer_files::is_never_listed(sys::base_name(path));
  };
  // Watched first, then looked at: nothing falls between.
  Result<std::unique_ptr<sys::FileWatch>> watch = parts.watches.watch(options.folder, leave_out);
  if (watch) {
    watcher->watch_ = *std::move(watch);
  } else {
    watcher->complain(watch.error());
  }
  watcher->is_watching_ = watcher->watch_ != nullptr;
  const MonoTime began = parts.clock.mono_now();
  OUTLAST_TRY_ASSIGN(trainer_files::TreeListing listing,
                     trainer_files::list_tree(parts.files, options.folder, options.listing, {}));
  watcher->finder_.observe(std::move(listing), parts.clock.mono_now(), std::nullopt);
  watcher->last_look_took_ = watcher->look_cost_ = parts.clock.mono_now() - began;
  watcher->state_at_start_ = watcher->finder_.state();
  return watcher;
}

void TreeWatcher::watch(std::function<OpenFiles()> open_for_writing) {
  open_for_writing_ = std::move(open_for_writing);
  threads_.push_back(
      parts_.threads.spawn("finder", [this](const std::stop_token& stop) { run(stop); }));
  if (watch_ == nullptr) return;
  threads_.push_back(parts_.threads.spawn(
      "file-watch", [this](const std::stop_token& stop) { wait_for_changes(stop); }));
}

void TreeWatcher::look_now() {
  (void)inbox_.try_post(Order::kLookNow);
}

void TreeWatcher::look_last(bool ended_well) {
  // Waits for room: this one must arrive.
  (void)inbox_.post(ended_well ? Order::kLastWell : Order::kLastBadly, {});
}

bool TreeWatcher::is_last_look(Order order) {
  return order == Order::kLastWell || order == Order::kLastBadly;
}

void TreeWatcher::wait_for_changes(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Result<sys::FileChanges> changes = watch_->wait({.stop = stop});
    if (!changes) {
      if (changes.error().code() == ErrorCode::kCancelled) return;
      listener_.trouble(changes.error());
      (void)inbox_.post(Order::kWatchEnded, {.stop = stop});
      return;
    }
    (void)inbox_.try_post(Order::kChanged);
    // What follows within a moment is told together.
    if (!parts_.clock.sleep_for(milliseconds(50), {.stop = stop})) return;
  }
}

bool TreeWatcher::is_being_written() const {
  return std::ranges::any_of(finder_.sets(), [](const trainer_files::KnownSet& known) {
    return known.standing == trainer_files::Standing::kBeingWritten;
  });
}

Duration TreeWatcher::gap() const {
  if (ended_at_) return kNever - *ended_at_;
  if (has_changed_) return gap_of(kAfterChange, look_cost_);
  const bool is_written = is_being_written();
  if (is_written || !finder_.state().is_ready) {
    if (is_written || finder_.folder()) return gap_of(kWhileWritten, look_cost_);
  }
  return gap_of(is_watching_ ? kAtRest : kUnwatched, look_cost_);
}

void TreeWatcher::run(const std::stop_token& stop) {
  MonoTime looked = parts_.clock.mono_now();
  while (!stop.stop_requested()) {
    const sys::CallContext until = {.deadline = saturating_add(looked, gap()), .stop = stop};
    const Result<Order> order = inbox_.receive(until);
    if (!order && order.error().code() == ErrorCode::kCancelled) return;
    if (ended_at_ && (!order || !is_last_look(*order))) continue;
    if (order && *order == Order::kChanged) {
      has_changed_ = true;
      continue;
    }
    if (order && *order == Order::kWatchEnded) {
      is_watching_ = false;  // from now on by looking from time to time
      continue;
    }
    look(stop, order ? std::optional(*order) : std::nullopt);
    looked = parts_.clock.mono_now();
  }
}

void TreeWatcher::look(const std::stop_token& stop, std::optional<Order> asked) {
  const MonoTime began = parts_.clock.mono_now();
  const bool is_last = asked && is_last_look(*asked);
  has_changed_ = false;
  if (is_last && !ended_at_) ended_at_ = began;
  Result<trainer_files::TreeListing> listing = list(is_last, stop);
  const bool is_whole = listing && !listing->disturbed;
  if (!listing) {
    if (listing.error().code() != ErrorCode::kCancelled) complain(listing.error());
  } else if (asked == Order::kLastWell) {
    finder_.observe_end(*std::move(listing), parts_.clock.mono_now());
  } else {
    // Asked for after the listing: what was closed by then was closed as it was listed, or was
    // changed since, which the comparison before the commit will see. Who died had open what it
    // had open when we looked before: that is torn, or was changed since. And after the end time
    // stands still: that nobody writes any more does not make anything whole.
    OpenFiles open = is_last ? std::nullopt : open_for_writing_();
    if (open) last_open_ = std::move(open);
    finder_.observe(*std::move(listing), ended_at_.value_or(parts_.clock.mono_now()), last_open_);
  }
  const Duration took = parts_.clock.mono_now() - began;
  look_cost_ = std::min(took, last_look_took_);
  last_look_took_ = took;
  tell(asked.has_value(), is_last, is_whole);
}

// The last look has to be a good one: nobody looks again.
Result<trainer_files::TreeListing> TreeWatcher::list(bool is_last, const std::stop_token& stop) {
  const sys::CallContext ctx = {.stop = stop};
  for (int tries = 1;; ++tries) {
    Result<trainer_files::TreeListing> listing =
        trainer_files::list_tree(parts_.files, options_.folder, options_.listing, ctx);
    const bool is_good = listing && !listing->disturbed;
    if (is_good || !is_last || tries == kListingTriesMax) return listing;
    OUTLAST_TRY(parts_.clock.sleep_for(kAfterChange.gap, ctx));
  }
}

void TreeWatcher::tell(bool is_asked, bool is_last, bool is_whole) {
  TreeSeen seen{.state = finder_.state(),
                .report = finder_.report(),
                .is_settling = is_being_written(),
                .is_last = is_last,
                .is_whole = is_whole};
  if (const trainer_files::KnownSet* const first = finder_.new_set()) {
    seen.new_set = {.progress = {.step = first->set.facts.step, .epoch = first->set.facts.epoch},
                    .layout = first->set.layout};
  }
  if (!is_asked && !is_news(seen, told_)) return;
  told_ = seen;
  listener_.seen(std::move(seen));
}

void TreeWatcher::complain(const Error& error) {
  if (complaints_.insert(error.sentence()).second) listener_.trouble(error);
}

}  // namespace outlast::agent
