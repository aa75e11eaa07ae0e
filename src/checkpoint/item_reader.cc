#include "checkpoint/item_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "checkpoint/chunk_fetch.h"
#include "checkpoint/codec.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {

ItemReader::ItemReader(const ReaderParts& parts, PlacedItem placed)
    : parts_(parts), placed_(placed) {
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < placed_.item->chunks.size(); ++i) {
    begins_.push_back(begin);
    begin += placed_.chunk(i).chunk.raw_bytes;
  }
}

std::size_t ItemReader::chunk_at(std::uint64_t offset) const {
  const auto after = std::ranges::upper_bound(begins_, offset);
  return static_cast<std::size_t>(after - begins_.begin()) - 1;
}

Result<Bytes> ItemReader::read(std::uint64_t offset, std::uint64_t length,
                               const sys::CallContext& ctx) {
  const std::uint64_t size = placed_.item->size;
  if (offset > size || length > size - offset) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' has {} bytes; {} from {} on are asked for", placed_.item->path,
                             size, length, offset));
  }
  Bytes bytes;
  bytes.reserve(length);
  while (bytes.size() < length) {
    const std::uint64_t at = offset + bytes.size();
    const std::size_t index = chunk_at(at);
    OUTLAST_TRY(fetch(index, ctx));
    const BytesView rest = BytesView(bytes_).subspan(at - begins_[index]);
    const BytesView part = rest.first(std::min<std::uint64_t>(rest.size(), length - bytes.size()));
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

Result<void> ItemReader::fetch(std::size_t index, const sys::CallContext& ctx) {
  if (kept_ == index) return {};
  kept_.reset();
  const PlacedChunk& placed = placed_.chunk(index);
  if (placed.chunk.codec == CodecKind::kZero) {
    bytes_.assign(placed.chunk.raw_bytes, std::byte{0});
  } else {
    const std::vector<WantedChunk> wanted = {
        {.pack = placed_.manifest->packs[placed.pack], .chunk = placed.chunk}};
    OUTLAST_TRY(fetch_chunks(
        parts_.store, {.threads = parts_.threads, .clock = parts_.clock}, wanted,
        [this](std::size_t, BytesView raw) -> Result<void> {
          bytes_.assign(raw.begin(), raw.end());
          return {};
        },
        ctx));
  }
  kept_ = index;
  return {};
}

}  // namespace outlast::checkpoint
