#include "agent/arena.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "job/log_entry.h"
#include "sdk/arena.h"
#include "sys/shared_memory.h"

namespace outlast::agent {

Result<std::shared_ptr<Arena>> Arena::make(sys::SharedMemories& memories, std::uint64_t slots,
                                           std::uint64_t slot_bytes) {
  const std::uint64_t page = sdk::kArenaPage;
  slot_bytes = (std::max(slot_bytes, page) + page - 1) / page * page;
  OUTLAST_TRY_ASSIGN(std::shared_ptr<sys::SharedMemory> memory,
                     memories.make(sdk::arena_bytes(slots, slot_bytes)));
  std::shared_ptr<Arena> arena(new Arena(std::move(memory), slots, slot_bytes));
  sdk::ArenaWords words = arena->words();
  words.store(sdk::kMagic, sdk::kArenaMagic);
  words.store(sdk::kVersion, sdk::kArenaVersion);
  words.store(sdk::kSlotCount, slots);
  words.store(sdk::kSlotBytes, slot_bytes);
  return arena;
}

Arena::Arena(std::shared_ptr<sys::SharedMemory> memory, std::uint64_t slots,
             std::uint64_t slot_bytes)
    : memory_(std::move(memory)), slots_(slots), slot_bytes_(slot_bytes) {}

std::span<std::byte> Arena::slot(std::uint64_t slot) const {
  return memory_->bytes().subspan(sdk::slot_begin(slot, slot_bytes_), slot_bytes_);
}

BytesView Arena::bytes_of(const sdk::SlotSnapshot& snapshot) const {
  return slot(snapshot.slot).first(snapshot.length);
}

std::vector<sdk::SlotSnapshot> Arena::whole() const {
  std::vector<sdk::SlotSnapshot> found;
  sdk::ArenaWords words = this->words();
  for (std::uint64_t slot = 0; slot < slots(); ++slot) {
    const std::optional<sdk::SlotSnapshot> one = sdk::look_at_slot(words, slot);
    // A step that no checkpoint could have is no step.
    if (one && one->length <= slot_bytes_ && one->step < job::kEntryNumberMax) {
      found.push_back(*one);
    }
  }
  std::ranges::sort(found, std::greater(), &sdk::SlotSnapshot::number);
  return found;
}

void Arena::drop_newer_than(std::uint64_t number) {
  for (const sdk::SlotSnapshot& snapshot : whole()) {
    // What has begun keeps its number: none comes twice.
    if (snapshot.number > number) words().store(sdk::slot_word(snapshot.slot, sdk::kDone), 0);
  }
}

void Arena::limit_to_one_slot() {
  slots_ = 1;
  words().store(sdk::kSlotCount, 1);
}

void Arena::set_first_slot(std::uint64_t number, std::uint64_t step, std::uint64_t length) {
  sdk::ArenaWords words = this->words();
  words.store(sdk::slot_word(0, sdk::kBegun), number);
  sdk::end_writing(words, {.slot = 0, .number = number}, step, length, 0);
}

std::uint64_t JobSnapshot::bytes() const {
  std::uint64_t bytes = 0;
  for (const Part& part : parts) bytes += part.snapshot.length;
  return bytes;
}

std::uint64_t JobSnapshot::answers() const {
  std::uint64_t answers = parts.empty() ? 0 : parts.front().snapshot.answers;
  for (const Part& part : parts) answers = std::min(answers, part.snapshot.answers);
  return answers;
}

std::uint64_t JobSnapshot::fingerprint() const {
  // FNV-1a over what tells one from another.
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  mix(step);
  for (const Part& part : parts) mix(part.snapshot.number);
  return hash;
}

std::uint64_t with_snapshot(std::uint64_t files, const JobSnapshot& snapshot) {
  return (files * 0x9e3779b97f4a7c15) ^ snapshot.fingerprint();
}

std::optional<JobSnapshot> newest_of_all(const std::vector<std::shared_ptr<Arena>>& arenas) {
  if (arenas.empty()) return std::nullopt;
  std::vector<std::vector<sdk::SlotSnapshot>> held;
  for (const std::shared_ptr<Arena>& arena : arenas) {
    if (!arena) return std::nullopt;
    held.push_back(arena->whole());
  }
  for (const sdk::SlotSnapshot& candidate : held.front()) {
    JobSnapshot snapshot{.step = candidate.step};
    for (std::size_t rank = 0; rank < arenas.size(); ++rank) {
      const auto same = std::ranges::find(held[rank], candidate.step, &sdk::SlotSnapshot::step);
      if (same == held[rank].end()) break;
      snapshot.parts.push_back({.arena = arenas[rank], .snapshot = *same});
    }
    if (snapshot.parts.size() == arenas.size()) return snapshot;
  }
  return std::nullopt;
}

std::unique_ptr<SnapshotReading> SnapshotReading::begin(const JobSnapshot& snapshot) {
  for (std::size_t rank = 0; rank < snapshot.parts.size(); ++rank) {
    sdk::ArenaWords words = snapshot.parts[rank].arena->words();
    if (sdk::begin_reading(words, snapshot.parts[rank].snapshot)) continue;
    for (std::size_t before = 0; before < rank; ++before) {
      sdk::ArenaWords theirs = snapshot.parts[before].arena->words();
      sdk::end_reading(theirs);
    }
    return nullptr;
  }
  return std::unique_ptr<SnapshotReading>(new SnapshotReading(snapshot));
}

SnapshotReading::~SnapshotReading() {
  for (const JobSnapshot::Part& part : snapshot_.parts) {
    sdk::ArenaWords words = part.arena->words();
    sdk::end_reading(words);
  }
}

bool SnapshotReading::is_still_whole() const {
  return std::ranges::all_of(snapshot_.parts, [](const JobSnapshot::Part& part) {
    sdk::ArenaWords words = part.arena->words();
    return sdk::is_still_whole(words, part.snapshot);
  });
}

}  // namespace outlast::agent
