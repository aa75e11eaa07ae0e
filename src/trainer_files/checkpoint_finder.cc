#include "trainer_files/checkpoint_finder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "sys/file_system.h"
#include "trainer_files/layout_table.h"
#include "trainer_files/layouts.h"
#include "trainer_files/left_out.h"
#include "trainer_files/tree_listing.h"

namespace outlast::trainer_files {
namespace {

// FNV-1a: to notice a change, not to withstand anybody.
class Fingerprint {
 public:
  void add(std::uint64_t number) {
    for (std::size_t i = 0; i < sizeof number; ++i) add_byte((number >> (8 * i)) & 0xFFU);
  }
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  void add(WallTime time) { add(static_cast<std::uint64_t>(time.time_since_epoch().count())); }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

void add_entry(const ListedEntry& entry, Fingerprint& print) {
  if (is_growing_log(entry.path)) return;
  print.add(entry.path);
  print.add(static_cast<std::uint64_t>(entry.type));
  if (entry.type == sys::FileType::kDirectory) return;  // as is_unchanged()
  print.add(entry.size);
  print.add(entry.modified);
  print.add(entry.changed);
  print.add(entry.inode);
  print.add(entry.links);
  print.add(entry.target);
}

std::uint64_t fingerprint_of(const FoundSet& set, const TreeListing& listing) {
  Fingerprint print;
  for (const std::string& path : set.paths) {
    if (const ListedEntry* const entry = listing.find(path)) add_entry(*entry, print);
  }
  // Temporary files are in no set, but whoever writes them is not done.
  if (set.has_temporary) {
    for (const ListedEntry& entry : listing.below(set.name)) add_entry(entry, print);
  }
  return print.value();
}

std::uint64_t inode_of(const FoundSet& set, const TreeListing& listing) {
  for (const std::string& path : set.paths) {
    const ListedEntry* const entry = listing.find(path);
    if (entry != nullptr && entry->type == sys::FileType::kFile) return entry->inode;
  }
  return 0;
}

bool is_same_tree(const TreeListing& before, const TreeListing& after) {
  return std::ranges::equal(before.entries(), after.entries(),
                            [](const ListedEntry& a, const ListedEntry& b) {
                              return a.path == b.path && is_unchanged(a, b);
                            });
}

bool is_open(const FoundSet& set, const std::set<std::string>& open_for_writing) {
  if (open_for_writing.empty()) return false;
  if (set.is_folder()) {
    const std::string prefix = set.name.empty() ? "" : set.name + "/";
    for (auto at = open_for_writing.lower_bound(prefix);
         at != open_for_writing.end() && at->starts_with(prefix); ++at) {
      if (!is_growing_log(*at)) return true;
    }
  }
  return std::ranges::any_of(set.paths, [&](const std::string& path) {
    return open_for_writing.contains(path) && !is_growing_log(path);
  });
}

template <typename T>
void raise_to(const std::optional<T>& other, std::optional<T>& highest) {
  if (other && (!highest || *other > *highest)) highest = other;
}

}  // namespace

void CheckpointFinder::observe(TreeListing listing, MonoTime now,
                               const OpenFiles& open_for_writing) {
  if (listing.disturbed && has_started_) return;
  // Most looks find nothing new; the names are read again only when something is.
  const bool is_same = has_started_ && is_same_tree(listing_, listing);
  if (!is_same) recognised_ = recognise_sets(listing, options_.recognise);
  listing_ = std::move(listing);
  looks_.start_round(now);
  known_.clear();
  left_out_.clear();
  note_removals(now);
  for (auto& [name, track] : tracks_) track.is_seen = false;
  for (const FoundSet& set : recognised_) {
    Track& track = is_same ? tracks_.at(set.name) : follow(set, now);
    track.is_seen = true;
    if (!has_started_) start_[set.name] = track.fingerprint;
    if (auto reason = reason_to_leave_out(set, track)) {
      left_out_.push_back({.name = set.name, .why = std::move(*reason)});
    } else {
      known_.push_back(stand(set, track, now, open_for_writing));
    }
  }
  std::erase_if(tracks_, [](const auto& track) { return !track.second.is_seen; });
  std::erase_if(removed_, [&](const auto& removed) {
    return listing_.find(removed.first) != nullptr || now - removed.second >= options_.quiet;
  });
  has_started_ = true;
  update_folder();
}

void CheckpointFinder::observe_end(TreeListing listing, MonoTime now) {
  has_ended_well_ = true;
  observe(std::move(listing), now, std::nullopt);
  removed_.clear();
}

void CheckpointFinder::note_removals(MonoTime now) {
  for (auto& [name, track] : tracks_) {
    const auto is_gone = [&](const std::string& path) { return listing_.find(path) == nullptr; };
    // Checkpoints with numbers go one after the other, and none comes back.
    const bool is_rotated = track.is_numbered && std::ranges::all_of(track.complete_paths, is_gone);
    if (is_rotated) {  // a folder goes file by file
      std::erase_if(removed_, [&](const auto& gone) { return gone.first.starts_with(name + "/"); });
    }
    std::erase_if(track.complete_paths, [&](const std::string& path) {
      if (!is_gone(path)) return false;
      if (!is_rotated) removed_[path] = now;
      return true;
    });
  }
}

CheckpointFinder::Track& CheckpointFinder::follow(const FoundSet& set, MonoTime now) {
  const std::uint64_t fingerprint = fingerprint_of(set, listing_);
  const std::uint64_t inode = inode_of(set, listing_);
  const auto [at, is_new] = tracks_.try_emplace(set.name);
  Track& track = at->second;
  track.is_numbered = set.facts.step || set.facts.epoch;
  if (is_new) {
    track.fingerprint = fingerprint;
    track.unchanged_since = now;
    track.inode = inode;
    // Removed a moment ago, and now written anew: it is what the state before had.
    track.was_complete = std::ranges::any_of(
        set.paths, [&](const std::string& path) { return removed_.contains(path); });
  } else if (track.fingerprint != fingerprint) {
    // After a while without a change a new one is a new save.
    if (track.was_complete || now - track.unchanged_since >= options_.bare_folder_quiet) {
      track.is_overwritten = true;
      track.is_in_place = !set.is_folder() && track.inode == inode;
    }
    track.is_replaced = track.inode != inode;
    track.fingerprint = fingerprint;
    track.unchanged_since = now;
    track.inode = inode;
  }
  return track;
}

bool CheckpointFinder::is_as_at_start(const FoundSet& set, const Track& track) const {
  const auto found = start_.find(set.name);
  return found != start_.end() && found->second == track.fingerprint;
}

std::optional<std::string> CheckpointFinder::reason_to_leave_out(const FoundSet& set,
                                                                 const Track& track) const {
  const bool is_restored = std::ranges::any_of(
      set.paths, [&](const std::string& path) { return options_.restored.contains(path); });
  if (is_restored || options_.recognise == Recognise::kEverything) return std::nullopt;
  if (is_as_at_start(set, track)) return "was there before the start and has not changed";
  if (!track.is_overwritten) return reason_by_place(set);
  return std::nullopt;
}

Duration CheckpointFinder::quiet_needed(const FoundSet& set, const Track& track,
                                        bool is_closed) const {
  if (set.layout->shape == Shape::kFile && track.is_replaced) return options_.replaced_quiet;
  if (set.layout->shape == Shape::kFile && is_closed) return options_.closed_quiet;
  if (!set.is_folder()) return options_.quiet;
  return set.layout->signs.empty() ? options_.bare_folder_quiet : options_.folder_quiet;
}

KnownSet CheckpointFinder::stand(FoundSet set, Track& track, MonoTime now,
                                 const OpenFiles& open_for_writing) {
  KnownSet known{.set = judge_set(std::move(set), listing_, looks_),
                 .is_overwritten = track.is_overwritten,
                 .is_in_place = track.is_in_place};
  const FoundSet& judged = known.set;
  known.fingerprint = fingerprint_of(judged, listing_);  // now with the pointer
  known.why = judged.why;
  const Duration quiet = now - track.unchanged_since;
  // Proof holds for a folder that is made once. One that changes afterwards is being overwritten,
  // or removed, file by file.
  const bool is_changed_folder = judged.layout->shape != Shape::kFile && track.was_complete &&
                                 track.complete_fingerprint != track.fingerprint;
  const bool awaits_seal = is_changed_folder && judged.layout->proof == Proof::kSealed &&
                           judged.state == SetState::kUnsure;
  const Duration needed =
      awaits_seal ? options_.abandoned : quiet_needed(judged, track, open_for_writing.has_value());
  const bool is_proved = judged.state == SetState::kComplete && !is_changed_folder;
  if (open_for_writing && is_open(judged, *open_for_writing)) {
    known.why = "is open for writing";
  } else if (judged.state == SetState::kIncomplete) {
    if (quiet >= options_.abandoned) known.standing = Standing::kAbandoned;
  } else if (is_proved || is_as_at_start(judged, track) || quiet >= needed || has_ended_well_) {
    known.standing = Standing::kComplete;
  } else {
    known.why = fmt::format("{}, and is complete when it has not changed for {}", judged.why,
                            format_duration(needed));
  }
  if (known.standing == Standing::kComplete) {
    track.was_complete = true;
    track.complete_fingerprint = track.fingerprint;
    track.complete_paths = judged.paths;
  }
  return known;
}

void CheckpointFinder::update_folder() {
  for (const KnownSet& known : known_) {
    const std::string_view folder = folder_of(known.set.name);
    folder_ = std::string(folder_ ? common_folder(*folder_, folder) : folder);
  }
}

const KnownSet* CheckpointFinder::new_set() const {
  for (const KnownSet& known : known_) {
    if (known.standing != Standing::kComplete) continue;
    if (!is_as_at_start(known.set, tracks_.at(known.set.name))) return &known;
  }
  return nullptr;
}

CommitState CheckpointFinder::state() const {
  CommitState state;
  // Beside checkpoints that are known as such, a file of another kind that is never at rest (a
  // table that grows with each step) is left out rather than waited for.
  const bool has_known_layout = std::ranges::any_of(known_, [](const KnownSet& known) {
    return known.set.layout != &any_file() && known.standing == Standing::kComplete;
  });
  Fingerprint print;
  for (const KnownSet& known : known_) {
    if (known.standing == Standing::kComplete) {
      state.paths.insert(state.paths.end(), known.set.paths.begin(), known.set.paths.end());
      raise_to(known.set.facts.step, state.step);
      raise_to(known.set.facts.epoch, state.epoch);
      print.add(known.set.name);
      print.add(known.fingerprint);
    } else if (known.set.layout == &any_file() && has_known_layout) {
      continue;
    } else if (state.why_not.empty() && tracks_.at(known.set.name).was_complete &&
               (known.standing == Standing::kBeingWritten || !known.set.is_folder())) {
      // Without it the state would lack what the one before had. A file that stays torn has no
      // older self beside it, as folders have.
      state.why_not = fmt::format("'{}' is being written again: it {}",
                                  known.set.name.empty() ? "." : known.set.name, known.why);
    }
  }
  std::ranges::sort(state.paths);
  for (const std::string& path : state.paths) {
    if (const ListedEntry* const entry = listing_.find(path)) state.entries.push_back(*entry);
  }
  state.fingerprint = print.value();
  if (state.paths.empty()) state.why_not = "no checkpoint is complete";
  if (state.why_not.empty() && !removed_.empty()) {
    state.why_not = fmt::format("'{}' was removed just now", removed_.begin()->first);
  }
  if (listing_.cut_off) state.why_not = "there are more files than can be looked at";
  state.is_ready = state.why_not.empty();
  return state;
}

}  // namespace outlast::trainer_files
