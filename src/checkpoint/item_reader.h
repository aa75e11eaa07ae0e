#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {

// An item and the manifest that says where its bytes are.
struct PlacedItem {
  const Manifest* manifest = nullptr;
  const Item* item = nullptr;

  const PlacedChunk& chunk(std::size_t index) const {
    return manifest->chunks[item->chunks[index]];
  }
};

// Reads parts of a file or region from the store, here and there: for looking into one. Keeps the
// chunk that was read last. Confined to its owner; the manifest must outlive it.
class ItemReader {
 public:
  ItemReader(const ReaderParts& parts, PlacedItem placed);

  // All of `length` bytes, every one compared with its hash. kInvalidArgument past the end; as
  // fetch_chunks() otherwise.
  Result<Bytes> read(std::uint64_t offset, std::uint64_t length, const sys::CallContext& ctx);

  // Where chunk `index` begins.
  std::uint64_t begin_of(std::size_t index) const { return begins_[index]; }
  // The chunk in which the byte at `offset` lies, which must be before the end.
  std::size_t chunk_at(std::uint64_t offset) const;
  const PlacedItem& placed() const { return placed_; }

 private:
  Result<void> fetch(std::size_t index, const sys::CallContext& ctx);

  const ReaderParts parts_;
  const PlacedItem placed_;
  std::vector<std::uint64_t> begins_;  // of each chunk
  std::optional<std::size_t> kept_;    // which chunk bytes_ is
  Bytes bytes_;
};

}  // namespace outlast::checkpoint
