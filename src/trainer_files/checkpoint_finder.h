#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "sys/file_system.h"
#include "trainer_files/file_looks.h"
#include "trainer_files/layouts.h"
#include "trainer_files/tree_listing.h"

// Where a trainer writes its checkpoints, and which of them may be saved now.
namespace outlast::trainer_files {

struct FinderOptions {
  // How long a set must be as it is where nothing proves that it is complete: one file; a folder
  // that has what shows its kind; a folder that has only its name.
  Duration quiet = std::chrono::seconds(2);
  // The same of one file that nobody has open any more, or that took another's name: who replaces
  // writes the new one first.
  Duration closed_quiet = std::chrono::milliseconds(500);
  Duration replaced_quiet = std::chrono::milliseconds(250);
  Duration folder_quiet = std::chrono::seconds(5);
  Duration bare_folder_quiet = std::chrono::seconds(10);
  // An incomplete set that nobody touched for so long is what a trainer left when it died.
  Duration abandoned = std::chrono::seconds(60);
  // What was put back before the start, by the paths of the listing: checkpoints, though the
  // trainer has not touched them.
  std::set<std::string> restored = {};
  // kEverything: the whole tree is the state, also what was there before the start.
  Recognise recognise = Recognise::kLayouts;
};

enum class Standing { kComplete, kBeingWritten, kAbandoned };

struct KnownSet {
  FoundSet set = {};
  Standing standing = Standing::kBeingWritten;
  std::string why = {};           // as FoundSet::why
  bool is_overwritten = false;    // it was complete before, with other content
  bool is_in_place = false;       // and then kept its inode: no rename
  std::uint64_t fingerprint = 0;  // of its files as they were listed
};

// What is recognised and is not a checkpoint of this trainer.
struct LeftOutSet {
  std::string name = {};
  std::string why = {};
};

// Everything that is to be saved as one checkpoint.
struct CommitState {
  // Whether it is worth saving: something is complete, nothing of it is being overwritten, and
  // nothing was removed just now (some trainers remove a file before they write it anew).
  bool is_ready = false;
  std::string why_not = {};
  // All files, links and folders of all complete sets. A path that was in an earlier state and is
  // not in this one was removed by the trainer.
  std::vector<std::string> paths = {};
  std::vector<ListedEntry> entries = {};   // the same, as they were when they were complete
  std::optional<std::uint64_t> step = {};  // the highest of them
  std::optional<std::uint64_t> epoch = {};
  std::uint64_t fingerprint = 0;  // the same as before: there is nothing new. Good in this process.
};

// Looks at successive listings of one tree. It starts no thread and waits for nothing: its caller
// says what time it is. Confined to its owner.
class CheckpointFinder {
 public:
  CheckpointFinder(sys::FileSystem& files, FinderOptions options)
      : options_(std::move(options)), looks_(files) {}

  // The first listing is the start, taken before the trainer runs: what is in it and never changes
  // is not of its making. `open_for_writing`: listed paths that somebody has open; none if that is
  // not known. A listing that was disturbed is not believed, except as the start.
  using OpenFiles = std::optional<std::set<std::string>>;
  void observe(TreeListing listing, MonoTime now, const OpenFiles& open_for_writing);

  // The same for the last time: the trainer and all its helpers have ended, by themselves and in
  // good order, so that what they wrote was closed and what nothing speaks against is complete.
  void observe_end(TreeListing listing, MonoTime now);

  // The deepest folder that all checkpoints are in, also the earlier ones: "" is the listed folder.
  // nullopt before the first.
  std::optional<std::string> folder() const { return folder_; }
  // The checkpoints of this trainer, in the order of their names.
  std::span<const KnownSet> sets() const { return known_; }
  std::span<const LeftOutSet> left_out() const { return left_out_; }
  CommitState state() const;
  // A complete checkpoint that is not as it was at the start; nullptr before the first.
  const KnownSet* new_set() const;

  // What was found and what was left out, and why: sentences for a person.
  std::vector<std::string> report() const;

 private:
  struct Track {
    std::uint64_t fingerprint = 0;
    MonoTime unchanged_since = {};
    std::uint64_t inode = 0;
    std::uint64_t complete_fingerprint = 0;  // when it was complete last
    std::vector<std::string> complete_paths = {};
    bool was_complete = false;
    bool is_overwritten = false;
    bool is_in_place = false;
    bool is_numbered = false;  // its name is: it is not written again, and goes some day
    bool is_replaced = false;  // by its last change: another inode has its name
    bool is_seen = false;      // in this round
  };
  Track& follow(const FoundSet& set, MonoTime now);
  std::optional<std::string> reason_to_leave_out(const FoundSet& set, const Track& track) const;
  bool is_as_at_start(const FoundSet& set, const Track& track) const;
  KnownSet stand(FoundSet set, Track& track, MonoTime now, const OpenFiles& open_for_writing);
  Duration quiet_needed(const FoundSet& set, const Track& track, bool is_closed) const;
  void note_removals(MonoTime now);
  void update_folder();

  const FinderOptions options_;
  FileLooks looks_;
  bool has_started_ = false;
  bool has_ended_well_ = false;
  TreeListing listing_;
  std::vector<FoundSet> recognised_;            // in listing_
  std::map<std::string, std::uint64_t> start_;  // fingerprints of the sets at the start, by name
  std::map<std::string, Track> tracks_;         // by name
  std::vector<KnownSet> known_;
  std::vector<LeftOutSet> left_out_;
  std::optional<std::string> folder_;
  // What was in a complete set and is gone, and since when: it may be about to be replaced.
  std::map<std::string, MonoTime> removed_;
};

}  // namespace outlast::trainer_files
