#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/codec.h"

// A pack: the stored bytes of many chunks in one object, side by side, then a table of them, then
// how long the table is. Its name is the SHA-256 of the table, which has a CRC-32C for the bytes of
// each chunk: so every byte of a pack is vouched for by its name. docs/checkpoint_format.md has the
// bytes.
namespace outlast::checkpoint {

// A chunk as it lies in a pack. It is never empty, and never stored in more bytes than it has.
struct StoredChunk {
  Sha256Digest name = {};    // of the raw bytes
  std::uint64_t offset = 0;  // in the pack
  std::uint32_t stored_bytes = 0;
  std::uint32_t raw_bytes = 0;
  CodecKind codec = CodecKind::kNone;
  std::uint32_t crc32c = 0;  // of the stored bytes

  friend bool operator==(const StoredChunk&, const StoredChunk&) = default;
};

// Whether the numbers of a chunk can be true: neither empty nor too large, and stored in as many
// bytes as its codec can give.
bool is_plausible(const StoredChunk& chunk);

inline constexpr std::size_t kChunkBytesMax = 8U << 20U;
inline constexpr std::size_t kPackBytesMax = 256U << 20U;  // a reader refuses larger ones

// 16 random bytes that make the packs of one save unlike all others: what a prune has condemned can
// so never be the name of something new.
using PackSalt = std::array<std::byte, 16>;

// Fills a pack. Confined to its owner.
class PackBuilder {
 public:
  // With room for so many bytes, if that is known: growing would need more memory than the pack.
  explicit PackBuilder(const PackSalt& salt, std::size_t room = 0) : salt_(salt) {
    bytes_.reserve(room);
  }

  // Encodes a chunk behind those before it; as kNone if `kind` does not make it smaller. Not kZero:
  // zeros are in no pack. The chunk must not be empty or larger than kChunkBytesMax, nor the pack
  // become larger than kPackBytesMax.
  StoredChunk add(const Sha256Digest& name, BytesView raw, CodecKind kind, Codec& codec);
  bool empty() const { return chunks_.empty(); }
  std::size_t bytes() const { return bytes_.size(); }

  struct Pack {
    Sha256Digest name = {};
    Bytes bytes = {};
    std::vector<StoredChunk> chunks = {};
  };
  // Appends the table. The builder is empty then, and can be used again.
  Pack finish();
  // Gives the memory of a pack back, for the next one.
  void reuse(Pack pack);

 private:
  PackSalt salt_;
  Bytes bytes_;
  std::vector<StoredChunk> chunks_;
};

// The table of a whole pack; kCorrupt if it is not the one that finish() made under this name.
// Looks at every byte but decodes nothing. kInvalidArgument, naming both versions, if it is of a
// newer format.
Result<std::vector<StoredChunk>> check_pack(const Sha256Digest& name, BytesView pack);

}  // namespace outlast::checkpoint
