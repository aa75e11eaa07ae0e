#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/pack.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {

// What a pack turned out to be.
struct PackState {
  std::uint64_t size = 0;                            // as listed
  std::map<std::uint64_t, StoredChunk> chunks = {};  // by offset; once every byte was looked at
  std::string damage = {};                           // what is wrong with it; "" if nothing is
  bool is_gone = false;                              // since it was listed
};

// Reads the packs whole, several at once, and compares every chunk in them with its name. `done` is
// called for each by the thread that read it, `watch` now and then by the caller's. An error only
// if looking itself failed.
Result<void> read_packs(const ReaderParts& parts, std::map<Sha256Digest, PackState>& packs,
                        const std::function<void(std::uint64_t bytes)>& done,
                        const std::function<void()>& watch, const sys::CallContext& ctx);

}  // namespace outlast::checkpoint
