#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/encoding.h"
#include "base/result.h"

// How a chunk is stored.
namespace outlast::checkpoint {

// The numbers are in the format, and so is what they mean: docs/checkpoint_format.md.
enum class CodecKind : std::uint8_t {
  kNone = 0,  // as it is
  kZero = 1,  // nothing is stored: all its bytes are zero
  kZstd = 2,  // one zstd frame
  // For numbers of 2, 4 or 8 bytes: all their first bytes (a plane), all second ones, … Each plane
  // is stored as one zstd frame if that is shorter, and as it is if not: the mantissas of trained
  // weights are noise, and so neither packing nor unpacking them is worth anybody's time.
  kPlanes2 = 3,
  kPlanes4 = 4,
  kPlanes8 = 5,
};
// "none", "zero", "zstd", "planes2", …
std::string_view to_string(CodecKind kind);
Result<CodecKind> parse_codec(std::string_view name);

// Encodes and decodes chunks; keeps the memory and zstd's state between them. Confined to its
// owner: one for each thread.
class Codec {
 public:
  Codec();
  ~Codec();
  Codec(Codec&&) noexcept;
  Codec& operator=(Codec&&) noexcept;

  // Which kind makes `chunk` smaller by enough to be worth it (a twentieth), from a few samples of
  // it. `width` is that of the numbers in it (2, 4 or 8 bytes), 1 if there are none, 0 if that is
  // not known. kZero only if all of it is.
  CodecKind choose(BytesView chunk, unsigned width);
  // The stored bytes, appended to `out`; how many. They can be more than the chunk has. For kZero
  // the chunk must be zero.
  std::size_t encode(CodecKind kind, BytesView chunk, Bytes& out);
  // Fills all of `chunk`. kCorrupt if the stored bytes are not exactly an encoding of so many.
  Result<void> decode(CodecKind kind, BytesView stored, std::span<std::byte> chunk);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether all bytes are zero; as fast as memory.
bool is_zero(BytesView bytes);

}  // namespace outlast::checkpoint
