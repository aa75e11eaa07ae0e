#include "checkpoint/compare_tensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "checkpoint/compare.h"
#include "checkpoint/item_reader.h"
#include "checkpoint/little_endian.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"
#include "checkpoint/safetensors.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

// A part of a chunk.
struct ChunkPiece {
  const StoredChunk* chunk = nullptr;
  std::uint64_t offset = 0;  // in the chunk
  std::uint64_t length = 0;  // from there to its end
  bool is_whole(std::uint64_t bytes) const { return offset == 0 && bytes == chunk->raw_bytes; }
};

ChunkPiece piece_at(const ItemReader& reader, std::uint64_t at) {
  const std::size_t index = reader.chunk_at(at);
  const StoredChunk& chunk = reader.placed().chunk(index).chunk;
  const std::uint64_t offset = at - reader.begin_of(index);
  return {.chunk = &chunk, .offset = offset, .length = chunk.raw_bytes - offset};
}

// Whether two ranges of one length have the same bytes. What the chunks' names tell comes first:
// bytes are read only if nothing else decides.
Result<bool> are_equal(ItemReader& before, const Tensor& old_tensor, ItemReader& after,
                       const Tensor& new_tensor, const sys::CallContext& ctx) {
  struct Open {
    std::uint64_t at = 0;  // from the tensor's beginning
    std::uint64_t length = 0;
  };
  std::vector<Open> open;
  const std::uint64_t length = old_tensor.end - old_tensor.begin;
  for (std::uint64_t at = 0; at < length;) {
    const ChunkPiece old_piece = piece_at(before, old_tensor.begin + at);
    const ChunkPiece new_piece = piece_at(after, new_tensor.begin + at);
    const std::uint64_t bytes = std::min({old_piece.length, new_piece.length, length - at});
    const bool same_name = old_piece.chunk->name == new_piece.chunk->name;
    if (!same_name && old_piece.is_whole(bytes) && new_piece.is_whole(bytes)) return false;
    if (!same_name || old_piece.offset != new_piece.offset) {
      open.push_back({.at = at, .length = bytes});
    }
    at += bytes;
  }
  for (const Open& one : open) {
    OUTLAST_TRY_ASSIGN(const Bytes old_bytes,
                       before.read(old_tensor.begin + one.at, one.length, ctx));
    OUTLAST_TRY_ASSIGN(const Bytes new_bytes,
                       after.read(new_tensor.begin + one.at, one.length, ctx));
    if (old_bytes != new_bytes) return false;
  }
  return true;
}

struct Pair {
  const Tensor* before = nullptr;
  const Tensor* after = nullptr;
};

}  // namespace

Result<std::optional<Safetensors>> read_tensors(ItemReader& reader, const sys::CallContext& ctx) {
  const std::uint64_t size = reader.placed().item->size;
  std::optional<Safetensors> none;
  if (size < kSafetensorsGlance) return none;
  OUTLAST_TRY_ASSIGN(const Bytes glance, reader.read(0, kSafetensorsGlance, ctx));
  if (!may_be_safetensors(glance, size)) return none;
  const std::uint64_t length = LittleEndianReader(glance).u64().value_or(0);
  OUTLAST_TRY_ASSIGN(const Bytes header, reader.read(0, sizeof length + length, ctx));
  Result<Safetensors> file = parse_safetensors(header, size);
  if (!file) return none;
  return std::optional(*std::move(file));
}

Result<std::optional<std::vector<TensorChange>>> compare_tensors(const ReaderParts& parts,
                                                                 const ItemChange& change,
                                                                 const sys::CallContext& ctx) {
  std::optional<std::vector<TensorChange>> changes;
  if (change.is_added() || change.is_removed()) return changes;
  ItemReader before(parts, change.before);
  ItemReader after(parts, change.after);
  OUTLAST_TRY_ASSIGN(const std::optional<Safetensors> old_file, read_tensors(before, ctx));
  if (!old_file) return changes;
  OUTLAST_TRY_ASSIGN(const std::optional<Safetensors> new_file, read_tensors(after, ctx));
  if (!new_file) return changes;
  std::map<std::string, Pair> pairs;
  for (const Tensor& tensor : old_file->tensors) pairs[tensor.name].before = &tensor;
  for (const Tensor& tensor : new_file->tensors) pairs[tensor.name].after = &tensor;
  changes.emplace();
  for (const auto& [name, pair] : pairs) {
    TensorChange one;
    if (pair.before != nullptr) one.before = *pair.before;
    if (pair.after != nullptr) one.after = *pair.after;
    if (pair.before != nullptr && pair.after != nullptr) {
      one.type_differs =
          pair.before->dtype != pair.after->dtype || pair.before->shape != pair.after->shape;
      if (!one.type_differs) {
        OUTLAST_TRY_ASSIGN(const bool equal,
                           are_equal(before, *pair.before, after, *pair.after, ctx));
        if (equal) continue;
        one.values_differ = true;
      }
    }
    changes->push_back(std::move(one));
  }
  return changes;
}

}  // namespace outlast::checkpoint
