#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sdk/arena.h"

// The writer and the reader of an arena, as the real functions of sdk/arena.h make them, cut into
// single accesses to memory. What a program does next follows from what its loads have returned, so
// a program that has done n accesses is one that is run from its beginning with n answers and says
// which access it wants then. Nothing runs at the same time, and every order can be tried.
namespace outlast::sdk::slots {

using Value = std::uint8_t;  // of a word: small, as there are many states to remember

inline constexpr std::size_t kDataWords = 2;  // of a snapshot
// Beside the slot's own words, so that all of a slot is in one place.
constexpr std::size_t data_word(std::uint64_t slot, std::size_t index) {
  return slot_word(slot, kBegun) + 5 + index;
}

enum class Want : std::uint8_t { kOver, kLoad, kStore, kFence };
struct Access {
  Want want = Want::kOver;
  std::size_t word = 0;
  Value value = 0;  // to store
};

// What a program has of its own between two calls of sdk/arena.h.
struct Place {
  Value attempt = 1;     // the writer: which save this is, counted from 1; also what it writes
  bool started = false;  // the writer: not in the first moment of its process
  bool has = false;      // a slot to write, or one to read
  SlotSnapshot snapshot = {};

  auto key() const {
    return std::tuple(attempt, started, has, snapshot.slot, snapshot.number, snapshot.step,
                      snapshot.length, snapshot.answers);
  }
};

// How a call ended.
enum class Ended : std::uint8_t {
  kNothing,   // nothing to tell
  kBegan,     // the writer has a slot
  kGaveUp,    // the writer has none
  kSawNone,   // the reader found no snapshot
  kWasLate,   // the reader found one, and it was being overwritten already
  kAccepted,  // the reader has read one and believes it
  kRejected,  // the reader has read one and does not believe it
};
struct Event {
  Ended ended = Ended::kNothing;
  std::uint64_t number = 0;  // of the snapshot
  bool right = true;         // what was read is that snapshot
};

// What a program may do wrong: to see that it is found.
struct Faults {
  bool no_fences = false;          // as in Python
  bool no_second_look = false;     // the writer: at what is read
  bool done_before_data = false;   // the writer
  bool one_slot = false;           // the writer: knows the first one only
  bool forgets_numbers = false;    // the writer: does not see what has begun
  bool waits_for_reader = false;   // the writer: whatever is read
  bool believes_anything = false;  // the reader: does not ask is_still_whole()
};

// The words of an arena as a program sees them: the accesses that it has done are answered from a
// list; the first one that is not in the list is what it wants. Confined to its owner.
class ToldWords {
 public:
  ToldWords(const std::vector<Value>& told, const Faults& faults) : told_(told), faults_(faults) {}
  std::uint64_t load(std::size_t word);
  void store(std::size_t word, std::uint64_t value);
  void fence() {
    if (!faults_.no_fences) start_process();
  }
  // What the process before has stored is in memory when the next one begins.
  void start_process() { access({.want = Want::kFence, .word = 0, .value = 0}); }
  const Access& wanted() const { return wanted_; }

 private:
  Value access(const Access& access);

  const std::vector<Value>& told_;
  const Faults& faults_;
  std::size_t done_ = 0;
  bool has_begun_ = false;  // and not loaded anything since
  Access wanted_;
};

// One call of a program: from one place to the next.
using Program = std::function<std::pair<Place, Event>(const Place&, ToldWords&)>;
Program saves(std::uint64_t slots, Value attempts, const Faults& faults);
Program reads(std::uint64_t slots, const Faults& faults);

// All that a program can come to, each with a number. Grows while it is walked through. Confined to
// its owner.
class Steps {
 public:
  Steps(Program program, const Faults& faults) : program_(std::move(program)), faults_(faults) {}
  std::uint32_t at(const Place& place);  // the beginning of a call
  const Access& wants(std::uint32_t step) const { return steps_[step].wants; }
  const Place& place(std::uint32_t step) const { return steps_[step].place; }
  bool is_between_calls(std::uint32_t step) const { return steps_[step].told.empty(); }

  struct Next {
    std::uint32_t step = 0;
    Event event;
  };
  // After it was told that value; of a store and a fence, 0.
  const Next& next(std::uint32_t step, Value told);

 private:
  struct Step {
    Place place;
    std::vector<Value> told;
    Access wants;
    std::map<Value, Next> next;
  };
  Program program_;
  Faults faults_;
  std::vector<Step> steps_;
  std::map<decltype(Place().key()), std::uint32_t> places_;
};

}  // namespace outlast::sdk::slots
