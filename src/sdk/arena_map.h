#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sdk/arena.h"
#include "sdk/own_fd.h"

namespace outlast::sdk {

// What a welcome says of the arena's memory.
struct ArenaForm {
  std::uint64_t slots = 0;
  std::uint64_t slot_bytes = 0;
};

// The agent's memory, mapped into this process, and not into its children. Confined to its owner,
// but for the slots' bytes, which the crew writes.
class ArenaMap {
 public:
  // Throws SnapshotError if the memory is not what the form says, or is an arena of another
  // version. Takes the pages of the first `needed` bytes of each slot at once, with that many
  // threads: what is in them stays, and no save waits for one.
  ArenaMap(const OwnFd& memory, const ArenaForm& form, std::uint64_t needed, unsigned threads);
  ~ArenaMap();
  ArenaMap(const ArenaMap&) = delete;
  ArenaMap& operator=(const ArenaMap&) = delete;

  ArenaWords words() const { return ArenaWords(base_); }
  std::uint64_t slots() const { return form_.slots; }
  std::uint64_t slot_bytes() const { return form_.slot_bytes; }
  std::byte* slot(std::uint64_t number) const {
    return base_ + slot_begin(number, form_.slot_bytes);
  }

 private:
  void check_words() const;

  ArenaForm form_;
  std::size_t bytes_ = 0;
  std::byte* base_ = nullptr;
};

// Makes this process have all pages of `memory`, which is shared and aligned to pages, without
// changing a byte. Throws SnapshotError if the machine does not have them.
void take_pages(std::span<std::byte> memory, unsigned threads);

}  // namespace outlast::sdk
