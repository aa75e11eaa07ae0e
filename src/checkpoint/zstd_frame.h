#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/encoding.h"
#include "base/result.h"

namespace outlast::checkpoint {

// Single zstd frames, as the format has them: with the size of the content in front, and neither
// dictionary nor checksum. Keeps zstd's state and its memory. Confined to its owner.
class ZstdFrames {
 public:
  enum class Effort {
    kMatches,  // looks for repetitions, as for text
    kEntropy,  // almost only counts how often each byte occurs: as small for exponents, twice as
               // fast
  };

  ZstdFrames();
  ~ZstdFrames();
  ZstdFrames(ZstdFrames&&) noexcept;
  ZstdFrames& operator=(ZstdFrames&&) noexcept;

  // The frame of `content`, which must not be empty. Valid until the next call.
  BytesView pack(BytesView content, Effort effort);
  // Fills all of `content`, which must not be empty. kCorrupt unless `frame` is exactly one frame
  // of exactly so many bytes.
  Result<void> unpack(BytesView frame, std::span<std::byte> content);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace outlast::checkpoint
