#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "tests/slots/programs.h"

// One writer and one reader of an arena in every order that their accesses to memory can have.
namespace outlast::sdk::slots {

enum class Memory {
  kInOrder,   // a store is in memory at once
  kBuffered,  // as on x86: each side's stores get there in their order, at any later time; a fence
              // waits for them
};

struct World {
  std::uint64_t slots = 2;
  Memory memory = Memory::kInOrder;
  Value attempts = 3;  // saves, completed or not
  Value crashes = 0;   // of the writer, at most; the next one begins with the next attempt
  bool reads = true;   // again and again, without an end
  Faults writer;
  Faults reader;
};

struct Explored {
  // Empty: in no order anything was broken that is promised always. Else what was, and the shortest
  // way there. Promised are:
  //  - a read that is accepted is of the snapshot it names;
  //  - a slot whose words say that it is whole, is;
  //  - numbers grow, over crashes too;
  //  - with several slots, from the first snapshot on there is a whole one at every moment; and the
  //    newest, if nobody reads;
  //  - wherever the reader stands still, for ever too, the writer finds a slot; with one slot, if
  //    that one is not both whole and read.
  std::string broken;
  // Whether something was read that is not the snapshot, between begin_reading() and
  // is_still_whole(): the writer has written into the slot of a reader.
  bool was_overwritten = false;
  std::size_t states = 0;
  std::map<Ended, std::size_t> ended;  // how often calls ended so
};
Explored explore(const World& world);

}  // namespace outlast::sdk::slots
