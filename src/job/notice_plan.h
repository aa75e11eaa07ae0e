#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

// What to save when the machine is about to end. Pure. That a notice is withdrawn, or that another
// one comes, is the caller's affair: it plans again.
namespace outlast::job {

// Of what is usable, worst first.
enum class NoticeChoice {
  kKeepCommitted,  // nothing more can be saved in time
  kHeldState,      // upload the newest complete state that lies on the disk
  kFreshSave,      // ask the trainer to save, and upload what changed
};
std::string_view to_string(NoticeChoice choice);

enum class NoticeConfidence {
  kPossible,  // it may end, and the time is a guess
  kCertain,   // it ends then
};

// Kept back from the time left, so that a commit has an answer before the machine ends: what a
// commit takes, and one part in so many of the time left, because no measurement is exact. That
// part has a limit: of a day's notice two hours would be a waste.
inline constexpr int kNoticeReserveShares = 10;
inline constexpr Duration kNoticeReserveMax = std::chrono::seconds(30);

// Kept free for a fresh save where something is a guess: so many times what is guessed, and this at
// least; more while not even the size of the state is known.
inline constexpr int kNoticeGuessFactor = 4;
inline constexpr Duration kNoticeGuessMin = std::chrono::minutes(2);
inline constexpr Duration kNoticeUnknownMin = std::chrono::minutes(5);

struct NoticeFacts {
  MonoTime now = {};
  Duration time_left = {};  // until the machine ends
  NoticeConfidence confidence = NoticeConfidence::kCertain;

  // Bytes a second to the store, and the careful guess that stands for it until it was measured.
  std::optional<double> bandwidth = {};
  double bandwidth_guess = 10e6;
  // From sending a commit to its answer, and its guess.
  std::optional<Duration> commit_time = {};
  Duration commit_time_guess = std::chrono::seconds(2);

  // Whether the trainer saves when it is asked to.
  bool can_ask = false;
  // From asking it until its state is complete, and the guess.
  std::optional<Duration> save_time = {};
  Duration save_time_guess = std::chrono::seconds(10);
  // Of the last state it saved, and which share of that had to be uploaded, from 0 to 1. No size:
  // none was seen yet.
  std::optional<std::uint64_t> state_bytes = {};
  double new_share = 1;

  // What has to be uploaded of the newest complete state on the disk; none unless it is newer than
  // what is committed.
  std::optional<std::uint64_t> held_bytes = {};
};

struct NoticePlan {
  NoticeChoice choice = NoticeChoice::kKeepCommitted;
  // kFreshSave: the trainer may train on until then; it must be asked no later. Where anything that
  // counts is a guess there is no last safe second, only a time that is early enough for many times
  // what was guessed: `now`, unless the end is minutes away. Also `now` where the end is uncertain.
  std::optional<MonoTime> ask_by = {};
  // kFreshSave, kHeldState: when the commit must have been sent; always before the end.
  std::optional<MonoTime> commit_by = {};
  // For the record: what was decided and why, with the numbers.
  std::string why = {};
};

// Never plans past the end. With more time, or with a better bandwidth, the choice is never worse.
//
// A fresh save of unknown size is tried only where no state is held: a held one has a size, and a
// fresh one would hardly be smaller.
NoticePlan plan_notice(const NoticeFacts& facts);

// What would be left of the usable time after saving what is unsaved: the trainer's state if it can
// be asked for it, else what is held, else nothing. Below zero, it does not fit the notice. Nothing
// while the size of the trainer's state is not known. `time_left` is here the notice that the place
// usually gives.
std::optional<Duration> notice_margin(const NoticeFacts& facts);

}  // namespace outlast::job
