#include "checkpoint/pack.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/codec.h"
#include "checkpoint/little_endian.h"

namespace outlast::checkpoint {
namespace {

constexpr std::string_view kPackMagic = "outlast pack\n\x1a\r\n";  // 16 bytes
constexpr std::uint32_t kPackFormat = 1;
constexpr std::size_t kRowBytes = 32 + 4 + 4 + 4 + 1;
constexpr std::size_t kHeadBytes = 16 + 4 + sizeof(PackSalt) + 4;
static_assert(kPackMagic.size() == 16);

Error bad_pack(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("not the pack that was stored: {}", what)};
}

// The rows are as many as `table` has room for.
Result<std::vector<StoredChunk>> read_rows(LittleEndianReader table, std::size_t count) {
  std::vector<StoredChunk> chunks(count);
  std::uint64_t offset = 0;
  for (StoredChunk& chunk : chunks) {
    const auto name = table.take(chunk.name.bytes.size());
    const auto stored = table.u32();
    const auto raw = table.u32();
    const auto crc = table.u32();
    const auto codec = table.u8();
    if (!name || !stored || !raw || !crc || !codec) return bad_pack("its table ends too early");
    if (*codec > static_cast<std::uint8_t>(CodecKind::kPlanes8)) {
      return bad_pack(fmt::format("there is no codec {}", *codec));
    }
    std::ranges::copy(*name, chunk.name.bytes.begin());
    chunk.offset = offset;
    chunk.stored_bytes = *stored;
    chunk.raw_bytes = *raw;
    chunk.crc32c = *crc;
    chunk.codec = static_cast<CodecKind>(*codec);
    if (!is_plausible(chunk) || chunk.codec == CodecKind::kZero) {
      return bad_pack(fmt::format("a chunk of {} bytes is stored in {}", *raw, *stored));
    }
    offset += *stored;
  }
  return chunks;
}

Result<std::vector<StoredChunk>> read_table(BytesView bytes) {
  LittleEndianReader table(bytes);
  const auto magic = table.take(kPackMagic.size());
  if (!magic || as_text(*magic) != kPackMagic) return bad_pack("its table begins otherwise");
  const auto format = table.u32();
  if (!format) return bad_pack("its table ends too early");
  if (*format > kPackFormat) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the pack has format {}, and this outlast knows formats up to {}: use a "
                    "newer outlast",
                    *format, kPackFormat));
  }
  if (*format != kPackFormat) return bad_pack(fmt::format("there is no format {}", *format));
  const auto salt = table.take(sizeof(PackSalt));
  const auto count = table.u32();
  if (!salt || !count || table.left() != *count * kRowBytes) {
    return bad_pack("its table has another length than it says");
  }
  return read_rows(table, *count);
}

}  // namespace

bool is_plausible(const StoredChunk& chunk) {
  if (chunk.raw_bytes == 0 || chunk.raw_bytes > kChunkBytesMax) return false;
  switch (chunk.codec) {
    case CodecKind::kNone:
      return chunk.stored_bytes == chunk.raw_bytes;
    case CodecKind::kZero:
      return chunk.stored_bytes == 0;
    default:
      return chunk.stored_bytes > 0 && chunk.stored_bytes < chunk.raw_bytes;
  }
}

StoredChunk PackBuilder::add(const Sha256Digest& name, BytesView raw, CodecKind kind,
                             Codec& codec) {
  OUTLAST_CHECK(!raw.empty() && raw.size() <= kChunkBytesMax, "a chunk of {} bytes", raw.size());
  OUTLAST_CHECK(kind != CodecKind::kZero, "zeros are in no pack");
  const std::size_t table_bytes = kHeadBytes + (chunks_.size() + 1) * kRowBytes + 4;
  OUTLAST_CHECK(bytes_.size() + raw.size() + table_bytes <= kPackBytesMax, "a pack of {} bytes",
                bytes_.size());
  const std::size_t offset = bytes_.size();
  std::size_t stored = codec.encode(kind, raw, bytes_);
  if (kind != CodecKind::kNone && stored >= raw.size()) {
    bytes_.resize(offset);
    kind = CodecKind::kNone;
    stored = codec.encode(kind, raw, bytes_);
  }
  chunks_.push_back({.name = name,
                     .offset = offset,
                     .stored_bytes = static_cast<std::uint32_t>(stored),
                     .raw_bytes = static_cast<std::uint32_t>(raw.size()),
                     .codec = kind,
                     .crc32c = crc32c(BytesView(bytes_).subspan(offset))});
  return chunks_.back();
}

PackBuilder::Pack PackBuilder::finish() {
  const std::size_t begin = bytes_.size();
  append_bytes(as_bytes(kPackMagic), bytes_);
  append_u32(kPackFormat, bytes_);
  append_bytes(salt_, bytes_);
  append_u32(static_cast<std::uint32_t>(chunks_.size()), bytes_);
  for (const StoredChunk& chunk : chunks_) {
    append_bytes(chunk.name.bytes, bytes_);
    append_u32(chunk.stored_bytes, bytes_);
    append_u32(chunk.raw_bytes, bytes_);
    append_u32(chunk.crc32c, bytes_);
    bytes_.push_back(static_cast<std::byte>(chunk.codec));
  }
  const BytesView table = BytesView(bytes_).subspan(begin);
  Pack pack = {.name = sha256(table)};
  append_u32(static_cast<std::uint32_t>(table.size()), bytes_);
  pack.bytes = std::exchange(bytes_, {});
  pack.chunks = std::exchange(chunks_, {});
  return pack;
}

void PackBuilder::reuse(Pack pack) {
  if (!empty()) return;
  bytes_ = std::move(pack.bytes);
  bytes_.clear();
}

Result<std::vector<StoredChunk>> check_pack(const Sha256Digest& name, BytesView pack) {
  if (pack.size() > kPackBytesMax) {
    return bad_pack(fmt::format("{} bytes are more than any has", pack.size()));
  }
  if (pack.size() < kHeadBytes + 4) return bad_pack(fmt::format("it has {} bytes", pack.size()));
  const BytesView body = pack.first(pack.size() - 4);
  const std::uint32_t length = LittleEndianReader(pack.last(4)).u32().value_or(0);
  if (length > body.size()) return bad_pack("its table would begin before it does");
  const BytesView table = body.last(length);
  if (sha256(table) != name) return bad_pack("its name is not that of its table");
  OUTLAST_TRY_ASSIGN(std::vector<StoredChunk> chunks, read_table(table));

  const BytesView data = body.first(body.size() - length);
  BytesView rest = data;
  for (const StoredChunk& chunk : chunks) {
    if (chunk.stored_bytes > rest.size()) return bad_pack("it is shorter than its table says");
    if (crc32c(rest.first(chunk.stored_bytes)) != chunk.crc32c) {
      return bad_pack(fmt::format("the {} bytes at {}, of chunk {}, are damaged",
                                  chunk.stored_bytes, chunk.offset, chunk.name.hex()));
    }
    rest = rest.subspan(chunk.stored_bytes);
  }
  if (!rest.empty()) return bad_pack("it is longer than its table says");
  return chunks;
}

}  // namespace outlast::checkpoint
