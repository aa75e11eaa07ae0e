#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/pack.h"
#include "checkpoint/parallel.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {

// A chunk that somebody wants.
struct WantedChunk {
  Sha256Digest pack = {};
  StoredChunk chunk = {};  // not kZero: those are nowhere
};

// Fetches chunks by ranged reads, those that lie side by side together, decodes them and compares
// each with its name; `deliver` gets the raw bytes of wanted[index], in any order, from several
// threads at once, and each once. The first error ends it; kCorrupt, naming the pack, if one is
// damaged or missing. Memory: a range, and a chunk, for each worker.
Result<void> fetch_chunks(
    store::ObjectStore& store, const Crew& crew, const std::vector<WantedChunk>& wanted,
    const std::function<Result<void>(std::size_t index, BytesView raw)>& deliver,
    const sys::CallContext& ctx);

}  // namespace outlast::checkpoint
