#include "sdk/arena_saver.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "sdk/arena.h"
#include "sdk/copy_crew.h"
#include "sdk/snapshot_layout.h"
#include "sdk/stream_copy.h"
#include "sdk/trainer_messages.h"

namespace outlast::sdk {
namespace {

std::byte* put(std::byte* to, std::string_view bytes) {
  stream_copy(to, reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  return to + bytes.size();
}

}  // namespace

ArenaSaver::ArenaSaver(const Parts& parts)
    : parts_(parts), words_(parts.arena.words()), has_head_(parts.arena.slots(), false) {}

void ArenaSaver::save(const Snapshot& snapshot) {
  start(snapshot, false);
}

void ArenaSaver::begin(const Snapshot& snapshot) {
  start(snapshot, true);
}

// False if the only slot is read, and the one who reads it is gone.
bool ArenaSaver::take_slot(SlotWriting& writing) {
  constexpr std::chrono::milliseconds kPause(1);
  while (true) {
    if (const auto taken = begin_writing(words_, parts_.arena.slots())) {
      writing = *taken;
      return true;
    }
    if (!parts_.link.look()) return false;
    std::this_thread::sleep_for(kPause);
  }
}

void ArenaSaver::start(const Snapshot& snapshot, bool returns_at_once) {
  parts_.crew.wait();
  SlotWriting writing;
  if (!take_slot(writing)) return;
  const auto begun = std::chrono::steady_clock::now();
  const SnapshotLayout& layout = parts_.layout;
  std::byte* const slot = parts_.arena.slot(writing.slot);
  if (!has_head_[writing.slot]) put(slot, layout.head());
  has_head_[writing.slot] = true;
  put(slot + layout.head().size(), layout.tail(snapshot.step, snapshot.blobs));
  std::byte* end = slot + layout.blobs_begin();
  for (const std::string& blob : snapshot.blobs) end = put(end, blob);
  finish_stream_copies();

  const auto length = static_cast<std::uint64_t>(end - slot);
  const CopyJob job{.plan = &layout.plan(), .snapshot = slot, .to = CopyTo::kSnapshot};
  const auto when_done = [this, writing, begun, length, step = snapshot.step,
                          answers = snapshot.answers, returns_at_once] {
    end_writing(words_, writing, step, length, answers);
    copy_time_ = std::chrono::steady_clock::now() - begun;
    using Seconds = std::chrono::duration<double>;
    parts_.link.send(saved_message(returns_at_once ? 0 : Seconds(copy_time_).count()));
  };
  if (returns_at_once) {
    parts_.crew.begin(job, when_done);
  } else {
    parts_.crew.copy(job, when_done);
  }
}

}  // namespace outlast::sdk
