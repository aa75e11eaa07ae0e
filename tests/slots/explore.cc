#include "tests/slots/explore.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sdk/arena.h"
#include "tests/slots/programs.h"

namespace outlast::sdk::slots {

namespace {

// Stores of one side: as a processor has a limit, and so that there is an end without fences.
constexpr std::size_t kOnTheWayMax = 6;

enum Side : std::size_t { kWriter, kReader };
enum class Do : std::uint8_t { kStep, kArrive, kCrash };
struct Move {
  Do what = Do::kStep;
  Side side = kWriter;
};

// Where a word is in the bytes of a state: what is read, then all of each slot.
std::size_t place_of(std::size_t word) {
  return word == kReading ? 0 : 1 + word - kSlotWords;
}

struct State {
  std::string memory;
  std::array<std::string, 2> on_the_way;  // stores: place and value, oldest first
  std::array<std::uint32_t, 2> steps{};
  Value last_number = 0;
  Value crashes = 0;

  Value in_memory(std::size_t word) const { return static_cast<Value>(memory[place_of(word)]); }
  Value load(Side side, std::size_t word) const {
    const std::string& mine = on_the_way[side];
    for (std::size_t at = mine.size(); at > 0; at -= 2) {
      if (static_cast<std::size_t>(mine[at - 2]) == place_of(word)) {
        return static_cast<Value>(mine[at - 1]);
      }
    }
    return in_memory(word);
  }
  void arrive(Side side) {
    std::string& mine = on_the_way[side];
    memory[static_cast<std::size_t>(mine[0])] = mine[1];
    mine.erase(0, 2);
  }

  std::string packed() const {
    std::string bytes = memory;
    for (const std::uint32_t step : steps) {
      for (int shift = 0; shift < 32; shift += 8) {
        bytes.push_back(static_cast<char>((step >> shift) & 0xffU));
      }
    }
    bytes.push_back(static_cast<char>(last_number));
    bytes.push_back(static_cast<char>(crashes));
    bytes.push_back(static_cast<char>(on_the_way[kWriter].size()));
    return bytes + on_the_way[kWriter] + on_the_way[kReader];
  }
  static State unpacked(std::string_view bytes, std::size_t memory_size) {
    State state;
    state.memory = bytes.substr(0, memory_size);
    bytes.remove_prefix(memory_size);
    for (std::uint32_t& step : state.steps) {
      for (std::size_t index = 0; index < 4; ++index) {
        step |= static_cast<std::uint32_t>(static_cast<Value>(bytes[index])) << (8 * index);
      }
      bytes.remove_prefix(4);
    }
    state.last_number = static_cast<Value>(bytes[0]);
    state.crashes = static_cast<Value>(bytes[1]);
    const auto of_writer = static_cast<std::size_t>(bytes[2]);
    state.on_the_way = {std::string(bytes.substr(3, of_writer)),
                        std::string(bytes.substr(3 + of_writer))};
    return state;
  }
};

class Explorer {
 public:
  explicit Explorer(const World& world)
      : world_(world),
        steps_{Steps(saves(world.slots, world.attempts, world.writer), world.writer),
               Steps(reads(world.slots, world.reader), world.reader)} {}

  Explored run() {
    State first;
    first.memory.assign(memory_size(), '\0');
    first.steps = {steps_[kWriter].at({}), steps_[kReader].at({})};
    meet(first, nullptr, {});
    while (!to_do_.empty() && found_.broken.empty()) {
      const Seen* from = to_do_.front();
      to_do_.pop_front();
      go_on(*from);
    }
    found_.states = seen_.size();
    return std::move(found_);
  }

 private:
  // A state, and how it was come to.
  struct Origin {
    const std::pair<const std::string, Origin>* from = nullptr;
    Move move;
  };
  using Seen = std::pair<const std::string, Origin>;

  std::size_t memory_size() const { return 1 + world_.slots * kSlotStride; }

  void meet(const State& state, const Seen* from, Move move) {
    const auto [seen, is_new] = seen_.try_emplace(state.packed(), Origin{from, move});
    if (!is_new) return;
    to_do_.push_back(&*seen);
    if (const char* broken = broken_in(state)) tell(broken, &*seen);
  }

  void go_on(const Seen& from) {
    const State state = State::unpacked(from.first, memory_size());
    for (const Side side : {kWriter, kReader}) {
      if (!state.on_the_way[side].empty()) {
        State next = state;
        next.arrive(side);
        meet(next, &from, {.what = Do::kArrive, .side = side});
      }
      if (side == kReader && !world_.reads) continue;
      State next = state;
      if (!can_step(state, side)) continue;
      const Event event = step(next, side);
      if (event.ended != Ended::kNothing) ++found_.ended[event.ended];
      meet(next, &from, {.what = Do::kStep, .side = side});
      if (const char* broken = broken_by(event, state)) tell(broken, &*seen_.find(next.packed()));
    }
    const Place& place = steps_[kWriter].place(state.steps[kWriter]);
    if (state.crashes < world_.crashes && place.attempt <= world_.attempts) {
      State next = state;
      ++next.crashes;
      next.steps[kWriter] = steps_[kWriter].at({.attempt = static_cast<Value>(place.attempt + 1)});
      meet(next, &from, {.what = Do::kCrash, .side = kWriter});
    }
  }

  bool can_step(const State& state, Side side) const {
    const Want want = steps_[side].wants(state.steps[side]).want;
    if (want == Want::kStore) return state.on_the_way[side].size() < 2 * kOnTheWayMax;
    return want != Want::kOver && (want != Want::kFence || state.on_the_way[side].empty());
  }

  Event step(State& state, Side side) {
    const Access access = steps_[side].wants(state.steps[side]);
    Value told = 0;
    if (access.want == Want::kLoad) told = state.load(side, access.word);
    if (access.want == Want::kStore) {
      state.on_the_way[side].push_back(static_cast<char>(place_of(access.word)));
      state.on_the_way[side].push_back(static_cast<char>(access.value));
      if (world_.memory == Memory::kInOrder) state.arrive(side);
    }
    const Steps::Next next = steps_[side].next(state.steps[side], told);
    state.steps[side] = next.step;
    if (next.event.ended == Ended::kBegan) {
      state.last_number = static_cast<Value>(next.event.number);
    }
    return next.event;
  }

  const char* broken_by(const Event& event, const State& before) {
    if (event.ended == Ended::kBegan && event.number <= before.last_number) {
      return "a number that does not grow";
    }
    if (!event.right) found_.was_overwritten = true;
    if (event.ended == Ended::kAccepted && !event.right) return "a wrong read was accepted";
    return nullptr;
  }

  const char* broken_in(const State& state) {
    Value newest = 0;
    Value newest_whole = 0;
    for (std::uint64_t slot = 0; slot < world_.slots; ++slot) {
      const Value done = state.in_memory(slot_word(slot, kDone));
      newest = std::max(newest, done);
      if (done == 0 || state.in_memory(slot_word(slot, kBegun)) != done) continue;
      newest_whole = std::max(newest_whole, done);
      const Value attempt = state.in_memory(slot_word(slot, kOfStep));
      bool is_whole = state.in_memory(slot_word(slot, kLength)) == attempt &&
                      state.in_memory(slot_word(slot, kAnswers)) == attempt;
      for (std::size_t index = 0; index < kDataWords; ++index) {
        if (state.in_memory(data_word(slot, index)) != attempt) is_whole = false;
      }
      if (!is_whole) return "a slot says that it is whole and is not";
    }
    if (world_.slots > 1 && newest != 0 && newest_whole == 0) return "no slot is whole";
    if (world_.slots > 1 && !world_.reads && newest != newest_whole) return "the newest is lost";
    if (is_stuck(state)) return "the writer finds no slot though the reader stands still";
    return nullptr;
  }

  // Other states lead to one between two calls without a step of the reader.
  bool is_stuck(State state) {
    const Place& place = steps_[kWriter].place(state.steps[kWriter]);
    if (!steps_[kWriter].is_between_calls(state.steps[kWriter]) || !place.started || place.has ||
        place.attempt > world_.attempts) {
      return false;
    }
    Event event;
    while (event.ended == Ended::kNothing) {
      while (!state.on_the_way[kWriter].empty()) state.arrive(kWriter);
      event = step(state, kWriter);
    }
    const bool is_read_and_whole =
        state.in_memory(kReading) == 1 && state.in_memory(slot_word(0, kDone)) != 0 &&
        state.in_memory(slot_word(0, kDone)) == state.in_memory(slot_word(0, kBegun));
    return event.ended == Ended::kGaveUp && !(world_.slots == 1 && is_read_and_whole);
  }

  void tell(const char* broken, const Seen* at) {
    if (!found_.broken.empty()) return;
    std::vector<std::string> way;
    for (; at->second.from != nullptr; at = at->second.from) {
      const State before = State::unpacked(at->second.from->first, memory_size());
      way.push_back(text(before, at->second.move));
    }
    found_.broken = broken;
    for (auto line = way.rbegin(); line != way.rend(); ++line) found_.broken += "\n" + *line;
  }

  std::string text(const State& before, Move move) const {
    std::string line = move.side == kWriter ? "  writer " : "                  reader ";
    if (move.what == Do::kCrash) return line + "crashes";
    const auto at = [](std::size_t place) {
      if (place == 0) return std::string("reading");
      static constexpr std::array kNames = {"begun",   "done",   "step",   "length",
                                            "answers", "data 0", "data 1", "data 2"};
      return std::string(kNames[(place - 1) % kSlotStride]) + " of " +
             std::to_string((place - 1) / kSlotStride);
    };
    if (move.what == Do::kArrive) {
      const std::string& mine = before.on_the_way[move.side];
      return line + "... " + at(static_cast<std::size_t>(mine[0])) + " = " +
             std::to_string(mine[1]) + " is in memory";
    }
    const Access access = steps_[move.side].wants(before.steps[move.side]);
    if (access.want == Want::kFence) return line + "fence";
    const std::string word = at(place_of(access.word));
    if (access.want == Want::kStore) return line + word + " = " + std::to_string(access.value);
    return line + word + " is " + std::to_string(before.load(move.side, access.word));
  }

  World world_;
  std::array<Steps, 2> steps_;
  std::unordered_map<std::string, Origin> seen_;
  std::deque<const Seen*> to_do_;
  Explored found_;
};

}  // namespace

Explored explore(const World& world) {
  return Explorer(world).run();
}

}  // namespace outlast::sdk::slots
