#include "tests/slots/programs.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "sdk/arena.h"

namespace outlast::sdk::slots {

namespace {

bool is_begun_word(std::size_t word) {
  return word >= kSlotWords && (word - kSlotWords) % kSlotStride == kBegun;
}

void write_data(ToldWords& words, const Place& place) {
  for (std::size_t index = 0; index < kDataWords; ++index) {
    words.store(data_word(place.snapshot.slot, index), place.attempt);
  }
}

}  // namespace

Value ToldWords::access(const Access& access) {
  if (done_ < told_.size()) return told_[done_++];
  // The call goes on, with zeros; nobody listens to the rest.
  if (wanted_.want == Want::kOver) wanted_ = access;
  return 0;
}

std::uint64_t ToldWords::load(std::size_t word) {
  if (has_begun_ && word == kReading && faults_.no_second_look) return 0;
  if (is_begun_word(word) && faults_.forgets_numbers) return 0;
  has_begun_ = false;
  return access({.want = Want::kLoad, .word = word, .value = 0});
}

void ToldWords::store(std::size_t word, std::uint64_t value) {
  has_begun_ = is_begun_word(word);
  access({.want = Want::kStore, .word = word, .value = static_cast<Value>(value)});
}

Program saves(std::uint64_t slots, Value attempts, const Faults& faults) {
  return [=](const Place& from, ToldWords& words) -> std::pair<Place, Event> {
    Place place = from;
    if (place.attempt > attempts) return {place, {}};
    if (!place.started) {
      words.start_process();
      place.started = true;
      return {place, {}};
    }
    if (!place.has) {
      if (faults.waits_for_reader && words.load(kReading) != 0) {
        return {place, {.ended = Ended::kGaveUp}};
      }
      const std::optional<SlotWriting> writing = begin_writing(words, faults.one_slot ? 1 : slots);
      if (!writing) return {place, {.ended = Ended::kGaveUp}};
      place.has = true;
      place.snapshot = {.slot = writing->slot, .number = writing->number};
      return {place, {.ended = Ended::kBegan, .number = writing->number}};
    }
    const SlotWriting writing{.slot = place.snapshot.slot, .number = place.snapshot.number};
    if (!faults.done_before_data) write_data(words, place);
    end_writing(words, writing, place.attempt, place.attempt, place.attempt);
    if (faults.done_before_data) write_data(words, place);
    return {Place{.attempt = static_cast<Value>(place.attempt + 1), .started = true}, {}};
  };
}

Program reads(std::uint64_t slots, const Faults& faults) {
  return [=](const Place& from, ToldWords& words) -> std::pair<Place, Event> {
    if (!from.has) {
      const std::optional<SlotSnapshot> newest = newest_snapshot(words, slots);
      if (!newest) return {Place{}, {.ended = Ended::kSawNone}};
      return {Place{.has = true, .snapshot = *newest}, {}};
    }
    const SlotSnapshot& snapshot = from.snapshot;
    if (!begin_reading(words, snapshot)) return {Place{}, {.ended = Ended::kWasLate}};
    // Each save writes its own attempt everywhere.
    bool right = snapshot.length == snapshot.step && snapshot.answers == snapshot.step;
    for (std::size_t index = 0; index < kDataWords; ++index) {
      if (words.load(data_word(snapshot.slot, index)) != snapshot.step) right = false;
    }
    const bool accepted = faults.believes_anything || is_still_whole(words, snapshot);
    end_reading(words);
    return {Place{},
            {.ended = accepted ? Ended::kAccepted : Ended::kRejected,
             .number = snapshot.number,
             .right = right}};
  };
}

std::uint32_t Steps::at(const Place& place) {
  const auto [found, is_new] =
      places_.try_emplace(place.key(), static_cast<std::uint32_t>(steps_.size()));
  if (is_new) {
    Step step{.place = place, .told = {}, .wants = {}, .next = {}};
    ToldWords words(step.told, faults_);
    program_(place, words);
    step.wants = words.wanted();
    steps_.push_back(std::move(step));
  }
  return found->second;
}

const Steps::Next& Steps::next(std::uint32_t step, Value told) {
  const auto known = steps_[step].next.find(told);
  if (known != steps_[step].next.end()) return known->second;

  Step after{.place = steps_[step].place, .told = steps_[step].told, .wants = {}, .next = {}};
  after.told.push_back(told);
  ToldWords words(after.told, faults_);
  const auto [place, event] = program_(after.place, words);
  after.wants = words.wanted();
  Next next;
  if (after.wants.want == Want::kOver) {
    next = {.step = at(place), .event = event};
  } else {
    next = {.step = static_cast<std::uint32_t>(steps_.size()), .event = {}};
    steps_.push_back(std::move(after));
  }
  return steps_[step].next.emplace(told, next).first->second;
}

}  // namespace outlast::sdk::slots
