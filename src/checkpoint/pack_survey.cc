#include "checkpoint/pack_survey.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/codec.h"
#include "checkpoint/layout.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/pack.h"
#include "checkpoint/parallel.h"
#include "checkpoint/read_object.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

constexpr std::size_t kSurveyors = 4;  // each has a pack in memory

// What one worker keeps between its packs.
struct Surveyor {
  Codec codec = {};
  Bytes raw = {};

  Result<void> check_every_chunk(const Sha256Digest& name, BytesView bytes, PackState& state) {
    OUTLAST_TRY_ASSIGN(const std::vector<StoredChunk> chunks, check_pack(name, bytes));
    for (const StoredChunk& chunk : chunks) {
      raw.resize(chunk.raw_bytes);
      OUTLAST_TRY(codec.decode(chunk.codec, bytes.subspan(chunk.offset, chunk.stored_bytes), raw));
      if (sha256(raw) != chunk.name) {
        return Error(ErrorCode::kCorrupt,
                     fmt::format("the chunk at {} is not what its name says", chunk.offset));
      }
      state.chunks.emplace(chunk.offset, chunk);
    }
    return {};
  }
};

}  // namespace

Result<void> read_packs(const ReaderParts& parts, std::map<Sha256Digest, PackState>& packs,
                        const std::function<void(std::uint64_t bytes)>& done,
                        const std::function<void()>& watch, const sys::CallContext& ctx) {
  std::vector<std::pair<const Sha256Digest, PackState>*> all;
  all.reserve(packs.size());
  for (auto& pack : packs) all.push_back(&pack);
  std::vector<Surveyor> surveyors(kSurveyors);
  const Piece look = [&](std::size_t index, std::size_t worker,
                         const sys::CallContext& inner) -> Result<void> {
    auto& [name, state] = *all[index];
    const Result<std::string> bytes =
        read_object(parts.store, pack_key(name), kPackBytesMax, inner);
    if (bytes) {
      const Result<void> right = surveyors[worker].check_every_chunk(name, as_bytes(*bytes), state);
      if (!right) state.damage = right.error().to_string();
      done(bytes->size());
    } else if (bytes.error().code() == ErrorCode::kNotFound) {
      state.damage = "is missing";
      state.is_gone = true;
    } else if (is_damage(bytes.error())) {
      state.damage = bytes.error().to_string();
    } else {
      return bytes.error();
    }
    return {};
  };
  const Crew crew = {
      .threads = parts.threads, .clock = parts.clock, .workers = kSurveyors, .watch = watch};
  return do_in_parallel(crew, "verify", all.size(), look, ctx);
}

}  // namespace outlast::checkpoint
