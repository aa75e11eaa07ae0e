#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/result.h"
#include "sdk/arena.h"
#include "sys/local_socket.h"
#include "sys/shared_memory.h"
#include "sys/world.h"

namespace outlast::sim {

// A trainer's side of docs/trainer_contract.md, for trainers that run in the simulator: what an SDK
// is to a real one. It copies in pieces, so that crashes and the agent's reads fall between them.
// Confined to its owner.
class SnapshotClient {
 public:
  struct Hello {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 1;
    std::uint64_t bytes = 0;
    std::uint64_t protocol = 1;
  };
  struct Manners {
    // False: does not look at what the agent reads. The agent must find that out by itself.
    bool minds_reading = true;
    // False: a mistake. Writes first, and says only then that it does.
    bool says_begun = true;
    // Called between two pieces of a copy; false: the trainer dies here.
    std::function<bool()> between = {};
    // Told in the very moment: a slot is being written (no step), or holds a whole snapshot.
    std::function<void(std::uint64_t slot, std::optional<std::uint64_t> step)> wrote = {};
  };
  struct Snapshot {
    std::uint64_t step = 0;
    std::uint64_t slot = 0;
    BytesView bytes = {};
  };

  // kUnavailable if nobody listens there, kInvalidArgument with the agent's sentence if it refuses.
  static Result<std::unique_ptr<SnapshotClient>> connect(sys::World& world,
                                                         const std::string& socket,
                                                         const Hello& hello, Manners manners);

  // What the welcome said.
  int leave_code() const { return leave_code_; }
  std::uint64_t slots() const { return slots_; }
  const std::string& note() const { return note_; }
  sdk::ArenaWords words() const { return sdk::ArenaWords(memory_->bytes().data()); }

  // What to go on from; nothing if this is the beginning.
  std::optional<Snapshot> resume() const;

  // After each step. Saves if the agent has asked for it, or `is_due`. kCancelled: the trainer has
  // died in the middle of it.
  Result<void> step_done(std::uint64_t step, BytesView state, bool is_due);
  // The wish that holds at this step and is not answered; 0 if there is none.
  std::uint64_t open_ask(std::uint64_t step) const;
  // Whether it was asked to leave, and has saved for that.
  bool leaves() const { return leaves_; }
  // The job is.
  void done();
  void progress(std::uint64_t step, std::uint64_t total);
  void send(const std::string& text);

 private:
  SnapshotClient(sys::World& world, std::unique_ptr<sys::LocalSocket> socket, Manners manners)
      : world_(world), socket_(std::move(socket)), manners_(std::move(manners)) {}
  Result<void> greet(const Hello& hello);
  Result<sdk::SlotWriting> take_slot();
  Result<void> save(std::uint64_t step, BytesView state, std::uint64_t answers);
  std::span<std::byte> slot(std::uint64_t slot) const;

  sys::World& world_;
  const std::unique_ptr<sys::LocalSocket> socket_;
  const Manners manners_;
  std::shared_ptr<sys::SharedMemory> memory_;  // the agent's, too
  std::uint64_t slots_ = 0;
  std::uint64_t slot_bytes_ = 0;
  int leave_code_ = 0;
  std::string note_;
  std::uint64_t answered_ = 0;
  bool leaves_ = false;
};

}  // namespace outlast::sim
