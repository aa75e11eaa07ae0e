#include "checkpoint/codec.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "checkpoint/little_endian.h"
#include "checkpoint/planes.h"
#include "checkpoint/zstd_frame.h"

namespace outlast::checkpoint {
namespace {

constexpr std::array<std::string_view, 6> kCodecNames = {"none",    "zero",    "zstd",
                                                         "planes2", "planes4", "planes8"};

// What is looked at to choose: pieces spread over the whole, long enough to have repetitions.
constexpr std::size_t kPieces = 4;
constexpr std::size_t kPieceBytes = 4096;
// What is looked at of a plane, to see whether it shrinks at all.
constexpr std::size_t kPlanePieces = 8;
constexpr std::size_t kPlanePieceBytes = 1024;

unsigned plane_width(CodecKind kind) {
  switch (kind) {
    case CodecKind::kPlanes2:
      return 2;
    case CodecKind::kPlanes4:
      return 4;
    case CodecKind::kPlanes8:
      return 8;
    default:
      return 0;
  }
}

CodecKind planes_of(unsigned width) {
  if (width == 2) return CodecKind::kPlanes2;
  return width == 8 ? CodecKind::kPlanes8 : CodecKind::kPlanes4;
}

bool is_worth_it(std::size_t stored, std::size_t raw) {
  return stored < raw - raw / 20;
}

// std::ranges::copy() becomes a loop over bytes.
void copy_bytes(BytesView from, std::span<std::byte> to) {
  OUTLAST_CHECK(from.size() == to.size(), "{} into {}", from.size(), to.size());
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

// `count` pieces of `piece_bytes`, at multiples of 8, the first at the beginning and the last at
// the end; all of it if it is not much more.
void sample(BytesView all, std::size_t count, std::size_t piece_bytes, Bytes& out) {
  out.clear();
  if (all.size() < 2 * count * piece_bytes) {
    append_bytes(all, out);
    return;
  }
  const std::size_t stride = (all.size() - piece_bytes) / (count - 1) / 8 * 8;
  for (std::size_t i = 0; i < count; ++i) append_bytes(all.subspan(i * stride, piece_bytes), out);
}

Error bad_chunk(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("a stored chunk is damaged: {}", what)};
}

}  // namespace

std::string_view to_string(CodecKind kind) {
  return kCodecNames.at(static_cast<std::size_t>(kind));
}

Result<CodecKind> parse_codec(std::string_view name) {
  const auto* const found = std::ranges::find(kCodecNames, name);
  if (found == kCodecNames.end()) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("there is no codec '{}'", name));
  }
  return static_cast<CodecKind>(found - kCodecNames.begin());
}

bool is_zero(BytesView bytes) {
  if (bytes.empty()) return true;
  // Each byte equals the one before it, and the first is zero.
  return bytes.front() == std::byte{0} &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

struct Codec::State {
  ZstdFrames zstd = {};
  Bytes planes = {};
  Bytes sampled = {};        // of a chunk
  Bytes sampled_plane = {};  // of a plane
  Bytes trial = {};

  // Rather yes than no for a short one, where looking costs as much as doing it.
  bool plane_may_shrink(BytesView plane) {
    if (plane.size() < 2 * kPlanePieces * kPlanePieceBytes) return !plane.empty();
    sample(plane, kPlanePieces, kPlanePieceBytes, sampled_plane);
    const std::size_t raw = sampled_plane.size();
    return zstd.pack(sampled_plane, ZstdFrames::Effort::kEntropy).size() < raw - raw / 32;
  }

  // The length of each plane, the planes, and what is left over as it is.
  void encode_planes(unsigned width, BytesView chunk, Bytes& out) {
    const std::size_t count = chunk.size() / width;
    const std::span split = scratch(count * width);
    split_planes(width, chunk.first(split.size()), split);
    const std::size_t lengths = out.size();
    out.resize(lengths + width * sizeof(std::uint32_t));
    for (unsigned i = 0; i < width; ++i) {
      const BytesView plane = split.subspan(i * count, count);
      BytesView stored = plane;
      if (plane_may_shrink(plane)) {
        const BytesView frame = zstd.pack(plane, ZstdFrames::Effort::kEntropy);
        if (frame.size() < plane.size()) stored = frame;
      }
      put_u32(static_cast<std::uint32_t>(stored.size()), out, lengths + i * sizeof(std::uint32_t));
      append_bytes(stored, out);
    }
    append_bytes(chunk.subspan(split.size()), out);
  }

  Result<void> decode_planes(unsigned width, BytesView stored, std::span<std::byte> chunk) {
    const std::size_t count = chunk.size() / width;
    LittleEndianReader lengths(
        stored.first(std::min(stored.size(), width * sizeof(std::uint32_t))));
    BytesView rest = stored.subspan(lengths.left());
    const std::span joined = scratch(count * width);
    for (unsigned i = 0; i < width; ++i) {
      const auto length = lengths.u32();
      if (!length) return bad_chunk("it ends within the lengths of its planes");
      if (*length > count || *length > rest.size()) return bad_chunk("a plane is too long");
      const std::span plane = joined.subspan(i * count, count);
      const BytesView bytes = rest.first(*length);
      rest = rest.subspan(*length);
      if (bytes.size() == count) {
        copy_bytes(bytes, plane);
      } else {
        OUTLAST_TRY(zstd.unpack(bytes, plane));
      }
    }
    if (rest.size() != chunk.size() - joined.size()) return bad_chunk("it has another length");
    join_planes(width, joined, chunk.first(joined.size()));
    copy_bytes(rest, chunk.subspan(joined.size()));
    return {};
  }

  std::span<std::byte> scratch(std::size_t bytes) {
    if (planes.size() < bytes) planes.resize(bytes);
    return std::span(planes).first(bytes);
  }
};

Codec::Codec() : state_(std::make_unique<State>()) {}
Codec::~Codec() = default;
Codec::Codec(Codec&&) noexcept = default;
Codec& Codec::operator=(Codec&&) noexcept = default;

CodecKind Codec::choose(BytesView chunk, unsigned width) {
  if (is_zero(chunk)) return CodecKind::kZero;
  Bytes& sampled = state_->sampled;
  sample(chunk, kPieces, kPieceBytes, sampled);
  const auto bytes_as = [&](CodecKind kind) {
    state_->trial.clear();
    return encode(kind, sampled, state_->trial);
  };
  CodecKind best = CodecKind::kNone;
  std::size_t best_bytes = sampled.size();
  const auto consider = [&](CodecKind kind) {
    const std::size_t bytes = bytes_as(kind);
    if (!is_worth_it(bytes, sampled.size()) || bytes >= best_bytes) return;
    best = kind;
    best_bytes = bytes;
  };
  if (width != 1) consider(planes_of(width));
  // Known numbers whose planes shrink as those of floats do have nothing else to gain; only when
  // they shrink hardly at all, or by a lot, can there be repetitions of whole numbers.
  const bool is_like_floats =
      width > 1 && best != CodecKind::kNone && best_bytes > sampled.size() / 2;
  if (!is_like_floats) consider(CodecKind::kZstd);
  return best;
}

std::size_t Codec::encode(CodecKind kind, BytesView chunk, Bytes& out) {
  const std::size_t before = out.size();
  if (const unsigned width = plane_width(kind); width != 0) {
    state_->encode_planes(width, chunk, out);
  } else if (kind == CodecKind::kZstd) {
    append_bytes(state_->zstd.pack(chunk, ZstdFrames::Effort::kMatches), out);
  } else if (kind == CodecKind::kZero) {
    OUTLAST_CHECK(is_zero(chunk), "a chunk of {} bytes is not zero", chunk.size());
  } else {
    append_bytes(chunk, out);
  }
  return out.size() - before;
}

Result<void> Codec::decode(CodecKind kind, BytesView stored, std::span<std::byte> chunk) {
  if (const unsigned width = plane_width(kind); width != 0) {
    return state_->decode_planes(width, stored, chunk);
  }
  if (kind == CodecKind::kZstd) return state_->zstd.unpack(stored, chunk);
  if (stored.size() != (kind == CodecKind::kZero ? 0 : chunk.size())) {
    return bad_chunk(fmt::format("{} bytes are stored for {}", stored.size(), chunk.size()));
  }
  if (kind == CodecKind::kZero) {
    std::ranges::fill(chunk, std::byte{0});
  } else {
    copy_bytes(stored, chunk);
  }
  return {};
}

}  // namespace outlast::checkpoint
