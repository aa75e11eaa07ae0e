#include "agent/snapshot_host.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <numeric>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "agent/arena.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "checkpoint/loaded_checkpoint.h"
#include "sdk/arena.h"
#include "sys/call_context.h"
#include "sys/local_socket.h"
#include "sys/threads.h"

namespace outlast::agent {
namespace {

// What is left to others of the memory that seems free: one part in so many, and this at most.
constexpr std::uint64_t kMemoryShares = 10;
constexpr std::uint64_t kMemoryReserveMax = 1ULL << 30U;
// A restored snapshot is put where a longer one fits, too: bytes that are no tensor may have been
// shorter than they can be. What is not used is not taken from the machine.
constexpr std::uint64_t kRoomShares = 8;
constexpr std::uint64_t kRoomMin = 64ULL << 20U;
// For all ranks to see what is asked before they come to that step.
constexpr double kAskAheadSeconds = 0.5;

}  // namespace

Result<std::unique_ptr<SnapshotHost>> SnapshotHost::start(const Parts& parts,
                                                          const Options& options,
                                                          Listener listener) {
  OUTLAST_TRY_ASSIGN(std::unique_ptr<sys::LocalListener> socket,
                     parts.sockets.listen(options.path));
  std::unique_ptr<SnapshotHost> host(new SnapshotHost(parts, options, std::move(listener)));
  host->thread_ = parts.threads.spawn(
      "snapshots", [host = host.get(), socket = std::shared_ptr(std::move(socket))](
                       const std::stop_token& stop) { host->listen(*socket, stop); });
  return host;
}

SnapshotHost::SnapshotHost(const Parts& parts, Options options, Listener listener)
    : parts_(parts), options_(std::move(options)), listener_(std::move(listener)) {}

SnapshotHost::~SnapshotHost() = default;

TrainerWords SnapshotHost::words() const {
  const MutexLock lock(mutex_);
  TrainerWords words = words_;
  // Sooner than what is sent: only now and then.
  if (!is_used_ || arenas_.empty() || !arenas_.front()) return words;
  const std::uint64_t step = arenas_.front()->words().load(sdk::kStep);
  if (step > 0) words.step = step - 1;
  return words;
}

bool SnapshotHost::is_used() const {
  const MutexLock lock(mutex_);
  return is_used_;
}

bool SnapshotHost::has_guests() const {
  const MutexLock lock(mutex_);
  return !guests_.empty();
}

bool SnapshotHost::can_ask() const {
  const MutexLock lock(mutex_);
  return is_used_ && guests_.size() == arenas_.size();
}

std::optional<JobSnapshot> SnapshotHost::newest() const {
  const MutexLock lock(mutex_);
  return options_.newest(arenas_);
}

std::string SnapshotHost::what_is_missing() const {
  const MutexLock lock(mutex_);
  if (!is_used_ || guests_.size() == arenas_.size()) return "";
  for (std::uint32_t rank = 0; rank < arenas_.size(); ++rank) {
    if (!guests_.contains(rank)) {
      return fmt::format("rank {} of {} is not there", rank, arenas_.size());
    }
  }
  return "";
}

// --- What is asked of them ---

void SnapshotHost::publish(Arena& arena) {
  sdk::ArenaWords words = arena.words();
  words.store(sdk::kDeadline, deadline_);
  words.store(sdk::kAskStep, ask_step_);
  words.store(sdk::kAsk, asked_);
}

void SnapshotHost::ask_now(const Ask& ask) {
  ask_ = ask;
  ask_step_ = ask.from_step;
  if (arenas_.size() > 1) {
    std::uint64_t reached = 0;
    for (const std::shared_ptr<Arena>& arena : arenas_) {
      if (arena) reached = std::max(reached, arena->words().load(sdk::kStep));
    }
    const auto ahead =
        static_cast<std::uint64_t>(std::min(steps_a_second_ * kAskAheadSeconds, 1e6));
    ask_step_ = std::max(ask_step_, reached + std::max(margin_, ahead));
  }
  asked_ = 2 * ++asks_ + (ask.leave ? 1 : 0);
  for (const std::shared_ptr<Arena>& arena : arenas_) {
    if (arena) publish(*arena);
  }
}

std::uint64_t SnapshotHost::ask(const Ask& ask) {
  const MutexLock lock(mutex_);
  ask_now(ask);
  return asked_;
}

std::optional<std::uint64_t> SnapshotHost::ask_again_if_missed() {
  const MutexLock lock(mutex_);
  if (asked_ == 0 || arenas_.size() < 2) return std::nullopt;
  std::optional<std::uint64_t> step;
  bool differs = false;
  for (const std::shared_ptr<Arena>& arena : arenas_) {
    if (!arena) return std::nullopt;
    const std::vector<sdk::SlotSnapshot> whole = arena->whole();
    const auto answer = std::ranges::find(whole, asked_, &sdk::SlotSnapshot::answers);
    if (answer == whole.end()) return std::nullopt;
    differs = differs || (step && *step != answer->step);
    step = answer->step;
  }
  if (!differs) return std::nullopt;
  margin_ *= 2;
  ask_now(ask_);
  return asked_;
}

void SnapshotHost::set_deadline(std::optional<WallTime> ends) {
  const MutexLock lock(mutex_);
  deadline_ =
      ends ? static_cast<std::uint64_t>(std::max<std::int64_t>(
                 0, std::chrono::duration_cast<std::chrono::milliseconds>(ends->time_since_epoch())
                        .count()))
           : 0;
  for (const std::shared_ptr<Arena>& arena : arenas_) {
    if (arena) publish(*arena);
  }
}

// --- Between lives ---

// Pages are taken from the machine when they are written to, which for most of them is later: what
// was promised is counted here.
std::uint64_t SnapshotHost::promise(std::uint64_t bytes, std::uint64_t slots, std::uint64_t ranks) {
  const std::optional<std::uint64_t> available = parts_.memories.available();
  if (!available || bytes == 0) return slots;
  const MutexLock lock(mutex_);
  if (!unpromised_) {
    unpromised_ = *available - std::min(*available / kMemoryShares, kMemoryReserveMax);
  }
  const std::uint64_t promised = std::min(slots, *unpromised_ / ranks / bytes);
  *unpromised_ -= promised * bytes;
  return promised;
}

std::optional<JobSnapshot> SnapshotHost::begin_life() {
  const MutexLock lock(mutex_);
  guests_.clear();
  words_ = {};
  done_.clear();
  unpromised_.reset();
  is_used_ = false;
  asked_ = 0;
  ask_step_ = 0;
  rated_.reset();
  std::optional<JobSnapshot> newest = options_.newest(arenas_);
  for (std::size_t rank = 0; rank < arenas_.size(); ++rank) {
    if (!arenas_[rank]) continue;
    // A rank that went on from a step that another one does not have would spoil the job.
    arenas_[rank]->drop_newer_than(newest ? newest->parts[rank].snapshot.number : 0);
    arenas_[rank]->words().store(sdk::kStep, 0);
    publish(*arenas_[rank]);
  }
  return newest;
}

Result<std::uint64_t> SnapshotHost::restore(const checkpoint::ReaderParts& parts,
                                            const checkpoint::LoadedCheckpoint& checkpoint,
                                            const sys::CallContext& ctx) {
  std::vector<std::uint64_t> sizes;  // by rank
  for (const auto& [id, size] : checkpoint::regions_of(checkpoint)) {
    if (id.name != kSnapshotRegion) continue;
    if (id.rank != sizes.size()) {
      return Error(ErrorCode::kCorrupt, fmt::format("checkpoint {} has no snapshot of rank {}",
                                                    checkpoint.entry.seq, sizes.size()));
    }
    sizes.push_back(size);
  }
  if (sizes.empty()) return 0;
  const std::uint64_t step = checkpoint.entry.checkpoint.step.value_or(0);
  {
    // What a trainer left is newer; what another checkpoint brought is not to be mixed with this.
    const MutexLock lock(mutex_);
    const std::optional<JobSnapshot> held = options_.newest(arenas_);
    if (held && held->step >= step && !is_from_store_) return 0;
    arenas_.clear();
    unpromised_.reset();
  }
  std::vector<std::shared_ptr<Arena>> arenas;
  std::map<checkpoint::RegionId, std::span<std::byte>> into;
  for (std::uint32_t rank = 0; rank < sizes.size(); ++rank) {
    const std::uint64_t slots = promise(sizes[rank], sdk::kSlotsMax, sizes.size() - rank);
    if (slots == 0) {
      return Error(
          ErrorCode::kUnavailable,
          fmt::format(
              "the state to go on from has {} in each of {} ranks, and this machine has not that "
              "much memory free: take a larger one",
              format_bytes_short(sizes[rank]), sizes.size()));
    }
    const std::uint64_t room = std::max(sizes[rank] / kRoomShares, kRoomMin);
    OUTLAST_TRY_ASSIGN(std::shared_ptr<Arena> arena,
                       Arena::make(parts_.memories, slots, sizes[rank] + room));
    into.emplace(checkpoint::RegionId{.rank = rank, .name = std::string(kSnapshotRegion)},
                 arena->slot(0).first(sizes[rank]));
    arenas.push_back(std::move(arena));
  }
  OUTLAST_TRY(checkpoint::restore_regions(parts, checkpoint, into, ctx));
  for (std::size_t rank = 0; rank < arenas.size(); ++rank) {
    arenas[rank]->set_first_slot(1, step, sizes[rank]);
  }
  const MutexLock lock(mutex_);
  arenas_ = std::move(arenas);
  is_from_store_ = true;
  unpromised_.reset();
  for (const std::shared_ptr<Arena>& arena : arenas_) publish(*arena);
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

}  // namespace outlast::agent
