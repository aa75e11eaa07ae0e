#include "checkpoint/chunk_fetch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/codec.h"
#include "checkpoint/layout.h"
#include "checkpoint/pack.h"
#include "checkpoint/parallel.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

// Reading so much for nothing is cheaper than another request.
constexpr std::uint64_t kGapMax = 256U << 10U;
constexpr std::uint64_t kRangeBytes = 8U << 20U;

// Some chunks of one pack that are read in one go.
struct Range {
  std::vector<std::size_t> wanted = {};  // in the order of their offsets
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

std::vector<Range> make_ranges(const std::vector<WantedChunk>& wanted) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    if (wanted[a].pack != wanted[b].pack) return wanted[a].pack < wanted[b].pack;
    return wanted[a].chunk.offset < wanted[b].chunk.offset;
  });
  std::vector<Range> ranges;
  const Sha256Digest* pack = nullptr;
  for (const std::size_t index : order) {
    const StoredChunk& chunk = wanted[index].chunk;
    const std::uint64_t end = chunk.offset + chunk.stored_bytes;
    const bool joins = pack != nullptr && *pack == wanted[index].pack &&
                       chunk.offset <= ranges.back().offset + ranges.back().bytes + kGapMax &&
                       end - ranges.back().offset <= kRangeBytes;
    if (!joins) ranges.push_back({.wanted = {}, .offset = chunk.offset, .bytes = 0});
    Range& range = ranges.back();
    range.wanted.push_back(index);
    range.bytes = std::max(range.bytes, end - range.offset);
    pack = &wanted[index].pack;
  }
  return ranges;
}

// What one worker keeps between its ranges.
struct Scratch {
  Codec codec = {};
  Sha256 hash = {};
  Bytes stored = {};
  Bytes raw = {};
};

class Fetch {
 public:
  Fetch(store::ObjectStore& store, const std::vector<WantedChunk>& wanted, std::size_t workers,
        const std::function<Result<void>(std::size_t, BytesView)>& deliver)
      : store_(store),
        wanted_(wanted),
        deliver_(deliver),
        ranges_(make_ranges(wanted)),
        scratch_(workers) {}

  std::size_t ranges() const { return ranges_.size(); }

  Result<void> fetch(std::size_t number, std::size_t worker, const sys::CallContext& ctx) {
    const Range& range = ranges_[number];
    Scratch& scratch = scratch_[worker];
    OUTLAST_TRY(read(range, scratch.stored, ctx));
    for (const std::size_t index : range.wanted) {
      OUTLAST_TRY_ASSIGN(const BytesView raw, decode(index, range, scratch));
      OUTLAST_TRY(deliver_(index, raw));
    }
    return {};
  }

 private:
  Result<void> read(const Range& range, Bytes& stored, const sys::CallContext& ctx) {
    const Sha256Digest& pack = wanted_[range.wanted.front()].pack;
    stored.clear();
    stored.reserve(range.bytes);
    const store::ByteSink sink = [&](const store::ObjectInfo&, BytesView piece) -> Result<void> {
      if (piece.size() > range.bytes - stored.size()) return damaged(pack, "is too long");
      stored.insert(stored.end(), piece.begin(), piece.end());
      return {};
    };
    const Result<store::ObjectInfo> got = store_.get(
        pack_key(pack), {.range = store::ByteRange{.offset = range.offset, .length = range.bytes}},
        sink, ctx);
    if (!got) {
      // A range past its end: it was cut short.
      if (got.error().code() == ErrorCode::kInvalidArgument) return damaged(pack, "is cut short");
      if (got.error().code() == ErrorCode::kNotFound) return damaged(pack, "is missing");
      return got.error();
    }
    if (stored.size() != range.bytes) return damaged(pack, "is cut short");
    return {};
  }

  Result<BytesView> decode(std::size_t index, const Range& range, Scratch& scratch) {
    const Sha256Digest& pack = wanted_[index].pack;
    const StoredChunk& chunk = wanted_[index].chunk;
    BytesView bytes =
        BytesView(scratch.stored).subspan(chunk.offset - range.offset, chunk.stored_bytes);
    if (chunk.codec != CodecKind::kNone) {
      scratch.raw.resize(chunk.raw_bytes);
      const Result<void> decoded = scratch.codec.decode(chunk.codec, bytes, scratch.raw);
      if (!decoded) return damaged(pack, decoded.error().to_string());
      bytes = scratch.raw;
    }
    scratch.hash.update(bytes);
    if (scratch.hash.finish() != chunk.name || bytes.size() != chunk.raw_bytes) {
      return damaged(pack, fmt::format("has other bytes at {} than were saved", chunk.offset));
    }
    return bytes;
  }

  Error damaged(const Sha256Digest& pack, const std::string& how) const {
    return {ErrorCode::kCorrupt, fmt::format("the pack {} {}", store_.url_of(pack_key(pack)), how)};
  }

  store::ObjectStore& store_;
  const std::vector<WantedChunk>& wanted_;
  const std::function<Result<void>(std::size_t, BytesView)>& deliver_;
  const std::vector<Range> ranges_;
  std::vector<Scratch> scratch_;  // by worker
};

}  // namespace

Result<void> fetch_chunks(
    store::ObjectStore& store, const Crew& crew, const std::vector<WantedChunk>& wanted,
    const std::function<Result<void>(std::size_t index, BytesView raw)>& deliver,
    const sys::CallContext& ctx) {
  Fetch fetch(store, wanted, crew.workers, deliver);
  const Piece piece = [&](std::size_t range, std::size_t worker, const sys::CallContext& inner) {
    return fetch.fetch(range, worker, inner);
  };
  return do_in_parallel(crew, "fetch", fetch.ranges(), piece, ctx);
}

}  // namespace outlast::checkpoint
