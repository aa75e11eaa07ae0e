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

// The numbers are in the format.
enum class CodecKind : std::uint8_t {
  kNone = 0,     // as it is
  kZero = 1,     // nothing is stored: all its bytes are zero
  kZstd = 2,     // one zstd frame
  kPlanes2 = 3,  // all first bytes of every 2, then all second ones, …; then one zstd frame for all
  kPlanes4 = 4,
  kPlanes8 = 5,
};
// "none", "zero", "zstd", "planes2+zstd", …
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

  // Which kind makes `chunk` smaller by enough to be worth it, from a few samples of it. `width` is
  // that of the numbers in it (2, 4 or 8 bytes), 1 if there are none, 0 if that is not known.
  CodecKind choose(BytesView chunk, unsigned width);
  // The stored bytes, appended to `out`; how many. A tail that is not a whole number goes after the
  // planes as it is.
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
