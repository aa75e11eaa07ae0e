#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sdk/arena.h"
#include "sdk/copy_crew.h"
#include "sdk/file_snapshots.h"
#include "sdk/registered.h"
#include "sdk/snapshot_header.h"
#include "sdk/snapshots.h"
#include "sdk/snapshots_state.h"

namespace outlast {

void Snapshots::State::put_back(std::span<std::byte> snapshot, const std::string& where) {
  const auto text = [&](std::uint64_t begin, std::uint64_t bytes) {
    return std::string_view(reinterpret_cast<const char*>(snapshot.data()) + begin, bytes);
  };
  const auto header = sdk::read_snapshot_header(snapshot);
  if (!header) {
    throw SnapshotError("what is to be resumed from is no snapshot (" + where +
                        "): resume from another checkpoint, or start a new job");
  }
  for (const sdk::Blob& blob : registered.blobs()) {
    const auto found = header->tensors.find(blob.name);
    if (!blob.check || found == header->tensors.end()) continue;
    blob.check(text(found->second.begin, found->second.bytes));
  }
  const sdk::PutBack found = sdk::fit(*header, registered, where);
  session().crew.copy(
      {.plan = &found.plan, .snapshot = snapshot.data(), .to = sdk::CopyTo::kMemory});
  for (std::size_t i = 0; i < found.blobs.size(); ++i) {
    const auto [begin, bytes] = found.blobs[i];
    registered.blobs()[i].set(text(begin, bytes));
  }
}

std::optional<std::uint64_t> Snapshots::State::resume() {
  Session& now = session();
  now.crew.wait();
  if (!now.agent) {
    const auto newest = files.newest();
    if (newest) put_back(newest->file.bytes(), newest->path);
    const auto step = newest ? std::optional(newest->step) : std::nullopt;
    files.give_up_after(step);
    return step;
  }
  // Whole, and stays so: nobody but us writes here.
  sdk::ArenaWords words = now.agent->arena->words();
  const auto newest = sdk::newest_snapshot(words, now.agent->arena->slots());
  if (!newest) return std::nullopt;
  const std::string where = "the snapshot of step " + std::to_string(newest->step);
  if (newest->length > now.agent->arena->slot_bytes()) {
    throw SnapshotError(where +
                        " is longer than its slot: use the same version of outlast and of "
                        "this library");
  }
  put_back({now.agent->arena->slot(newest->slot), newest->length}, where);
  words.store(sdk::kStep, newest->step + 1);
  return newest->step;
}

}  // namespace outlast
