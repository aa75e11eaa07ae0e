#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "checkpoint/codec.h"
#include "checkpoint/little_endian.h"
#include "checkpoint/pack.h"

// What must hold for all bytes, however broken: the fuzzer looks for some that break it.
namespace outlast::checkpoint::testing {

// The input as a pack, under the name that its table has: nobody finds one by chance.
inline void fuzz_pack_table(BytesView input) {
  if (input.size() < 4) return;
  const BytesView body = input.first(input.size() - 4);
  const std::uint32_t length = LittleEndianReader(input.last(4)).u32().value_or(0);
  const Sha256Digest name = sha256(body.last(std::min<std::size_t>(length, body.size())));
  const auto chunks = check_pack(name, input);
  if (!chunks) {
    const ErrorCode code = chunks.error().code();
    OUTLAST_CHECK(code == ErrorCode::kCorrupt || code == ErrorCode::kInvalidArgument, "{}",
                  chunks.error().to_string());
    return;
  }
  Codec codec;
  std::uint64_t end = 0;
  for (const StoredChunk& chunk : *chunks) {
    OUTLAST_CHECK(chunk.offset == end && is_plausible(chunk), "at {}", chunk.offset);
    end += chunk.stored_bytes;
    OUTLAST_CHECK(end <= input.size(), "{} of {}", end, input.size());
    Bytes raw(chunk.raw_bytes);
    (void)codec.decode(chunk.codec, input.subspan(chunk.offset, chunk.stored_bytes), raw);
  }
}

// The input as a chunk: how it is stored, how long it is, and its bytes.
inline void fuzz_stored_chunk(BytesView input) {
  if (input.size() < 3) return;
  const auto kind = static_cast<CodecKind>(std::to_integer<unsigned>(input[0]) % 6);
  Bytes raw(1 + std::to_integer<std::size_t>(input[1]) +
            256 * std::to_integer<std::size_t>(input[2]));
  Codec codec;
  if (!codec.decode(kind, input.subspan(3), raw)) return;
  Bytes again;
  codec.encode(kind, raw, again);
  Bytes back(raw.size());
  OUTLAST_CHECK(codec.decode(kind, again, back) && back == raw, "decoded as something else");
}

// Aborts if a promise of the readers is broken.
inline void fuzz_pack(BytesView input) {
  fuzz_pack_table(input);
  fuzz_stored_chunk(input);
}

}  // namespace outlast::checkpoint::testing
