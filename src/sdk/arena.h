#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

// The arena: memory that the agent owns and a trainer copies its state into, so that the state
// outlives the trainer. docs/trainer_contract.md describes it byte by byte; this is the same as
// code, for the agent and for the C++ SDK.
//
// A page of words, then slots of equal size. Each word has one writer. One side never waits for the
// other: a reader says which slot it reads, a writer takes another one; and if that goes wrong all
// the same, the slot's numbers tell the reader that what it has read is nothing.
namespace outlast::sdk {

inline constexpr std::uint64_t kArenaMagic = 0x315453414c54554f;  // "OUTLAST1" in memory
inline constexpr std::uint64_t kArenaVersion = 1;
inline constexpr std::size_t kArenaPage = 4096;  // of words, before the first slot
inline constexpr std::uint64_t kSlotsMax = 2;

// Where a word is, counted in words of 8 bytes, little-endian.
enum Word : std::size_t {
  // Written once, before anybody else sees the arena.
  kMagic = 0,
  kVersion = 1,
  kSlotCount = 2,
  kSlotBytes = 3,  // of each; a multiple of kArenaPage
  // Written by the agent.
  kReading = 8,   // the slot that is being read, counted from 1; 0: none
  kAsk = 9,       // 2 x a number that grows with each wish for a snapshot, + 1 if the trainer is to
                  // leave after it
  kAskStep = 10,  // the wish holds from this step on; written before kAsk
  kDeadline =
      11,  // when the machine ends, in milliseconds since 1970; 0: nobody has said that it does
  // Written by the trainer.
  kStep = 16,  // the last step that it has done, + 1
  // The slots' own, of slot n at kSlotWords + n * kSlotStride; written by the trainer, and by the
  // agent before the
  // trainer sees the arena.
  kSlotWords = 32,
  kSlotStride = 8,
};

// Of a slot.
enum SlotWord : std::size_t {
  kBegun = 0,    // the number of the snapshot that is being written, or was last
  kDone = 1,     // the same once it is whole: equal to kBegun, and not 0
  kOfStep = 2,   // the step that it was taken after
  kLength = 3,   // in bytes, from the slot's beginning
  kAnswers = 4,  // the value of kAsk that it answers; 0: none, it came by itself
};

constexpr std::size_t slot_word(std::uint64_t slot, SlotWord word) {
  return kSlotWords + static_cast<std::size_t>(slot) * kSlotStride + word;
}

constexpr std::uint64_t arena_bytes(std::uint64_t slots, std::uint64_t slot_bytes) {
  return kArenaPage + slots * slot_bytes;
}
constexpr std::uint64_t slot_begin(std::uint64_t slot, std::uint64_t slot_bytes) {
  return kArenaPage + slot * slot_bytes;
}

// The words of an arena in memory, which must be aligned to 8 bytes and outlive this. Tests have
// others, which let the writer and the reader meet in every order.
class ArenaWords {
 public:
  explicit ArenaWords(std::byte* arena) : words_(reinterpret_cast<std::uint64_t*>(arena)) {}
  std::uint64_t load(std::size_t word) const {
    return std::atomic_ref(words_[word]).load(std::memory_order_acquire);
  }
  void store(std::size_t word, std::uint64_t value) {
    std::atomic_ref(words_[word]).store(value, std::memory_order_release);
  }
  // What was stored before is seen by everybody before anything after it is loaded or stored.
  // g++ warns that its ThreadSanitizer does not see fences. It has to see none: those who touch the
  // same bytes have met at a word before, by an acquire and a release.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
  void fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

 private:
  std::uint64_t* words_;
};

// A whole snapshot in a slot.
struct SlotSnapshot {
  std::uint64_t slot = 0;
  std::uint64_t number = 0;  // grows with every snapshot of the arena
  std::uint64_t step = 0;
  std::uint64_t length = 0;
  std::uint64_t answers = 0;

  friend bool operator==(const SlotSnapshot&, const SlotSnapshot&) = default;
};

// What a slot holds, if that is whole at this moment.
template <class Words>
std::optional<SlotSnapshot> look_at_slot(Words& words, std::uint64_t slot) {
  const std::uint64_t done = words.load(slot_word(slot, kDone));
  if (done == 0 || words.load(slot_word(slot, kBegun)) != done) return std::nullopt;
  SlotSnapshot found{.slot = slot,
                     .number = done,
                     .step = words.load(slot_word(slot, kOfStep)),
                     .length = words.load(slot_word(slot, kLength)),
                     .answers = words.load(slot_word(slot, kAnswers))};
  words.fence();
  if (words.load(slot_word(slot, kBegun)) != done) return std::nullopt;
  return found;
}

// The newest whole snapshot. While a writer is at work it may be one that is not the newest any
// more, or nothing though there is always one: a slot may become whole just after it was looked at.
template <class Words>
std::optional<SlotSnapshot> newest_snapshot(Words& words, std::uint64_t slots) {
  std::optional<SlotSnapshot> newest;
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    const std::optional<SlotSnapshot> found = look_at_slot(words, slot);
    if (found && (!newest || found->number > newest->number)) newest = found;
  }
  return newest;
}

// --- The reader: one at a time ---

// From here on the writer leaves this slot alone. False if it has begun to write there already:
// nothing is read then.
template <class Words>
bool begin_reading(Words& words, const SlotSnapshot& snapshot) {
  words.store(kReading, snapshot.slot + 1);
  words.fence();
  if (words.load(slot_word(snapshot.slot, kBegun)) == snapshot.number &&
      words.load(slot_word(snapshot.slot, kDone)) == snapshot.number) {
    return true;
  }
  words.store(kReading, 0);
  return false;
}

// Whether all that was read since begin_reading() is of that snapshot. Must be asked before any of
// it is believed: a writer that does not keep the rules may have written meanwhile, or one that
// came after a crash in the middle of begin_writing().
template <class Words>
bool is_still_whole(Words& words, const SlotSnapshot& snapshot) {
  words.fence();
  return words.load(slot_word(snapshot.slot, kBegun)) == snapshot.number;
}

template <class Words>
void end_reading(Words& words) {
  words.store(kReading, 0);
}

// --- The writer: one at a time ---

struct SlotWriting {
  std::uint64_t slot = 0;
  std::uint64_t number = 0;
};

// Takes a slot to write into: one that is not the newest, and not read either if it is whole; else
// the newest, as there is an older one then that is whole and stays so, being read. Nothing if the
// only one that there is is read, or if the reader went from one to the other in this moment: try
// again.
template <class Words>
std::optional<SlotWriting> begin_writing(Words& words, std::uint64_t slots) {
  std::uint64_t number = 0;
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    const std::uint64_t begun = words.load(slot_word(slot, kBegun));
    if (begun > number) number = begun;
  }
  ++number;
  const std::optional<SlotSnapshot> newest = newest_snapshot(words, slots);
  for (const bool may_be_newest : {false, true}) {
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
      const bool is_newest = newest && newest->slot == slot;
      if (is_newest != may_be_newest) continue;
      // A writer that crashed has left a slot that is not whole: no reader believes what is there,
      // and to spare it would cost the newest, which may be the only whole one.
      const bool may_be_read = look_at_slot(words, slot).has_value();
      if (may_be_read && words.load(kReading) == slot + 1) continue;
      const std::uint64_t before = words.load(slot_word(slot, kBegun));
      words.store(slot_word(slot, kBegun), number);
      words.fence();
      if (!may_be_read || words.load(kReading) != slot + 1) {
        return SlotWriting{.slot = slot, .number = number};
      }
      // The reader came in the same moment, and nothing was touched.
      words.store(slot_word(slot, kBegun), before);
    }
  }
  return std::nullopt;
}

// All bytes have been written, and can be seen.
template <class Words>
void end_writing(Words& words, const SlotWriting& writing, std::uint64_t step, std::uint64_t length,
                 std::uint64_t answers) {
  words.store(slot_word(writing.slot, kOfStep), step);
  words.store(slot_word(writing.slot, kLength), length);
  words.store(slot_word(writing.slot, kAnswers), answers);
  words.store(slot_word(writing.slot, kDone), writing.number);
}

}  // namespace outlast::sdk
