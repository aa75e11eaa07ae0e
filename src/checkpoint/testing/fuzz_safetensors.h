#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "checkpoint/chunking.h"
#include "checkpoint/safetensors.h"

// What must hold for all bytes, however broken: the fuzzer looks for some that break it.
namespace outlast::checkpoint::testing {

// Aborts if a promise of the reader is broken.
inline void fuzz_safetensors(BytesView input) {
  const auto file = parse_safetensors(input);
  const BytesView beginning = input.first(std::min<std::size_t>(input.size(), 9));
  if (!file) {
    OUTLAST_CHECK(file.error().code() == ErrorCode::kCorrupt, "{}", file.error().to_string());
    return;
  }
  OUTLAST_CHECK(may_be_safetensors(beginning, input.size()), "one that cannot be");
  std::uint64_t end = file->data_begin;
  for (const Tensor& tensor : file->tensors) {
    OUTLAST_CHECK(tensor.begin == end && tensor.end >= end, "{} after {}", tensor.begin, end);
    end = tensor.end;
  }
  OUTLAST_CHECK(end == input.size() && end == file->size, "{} of {}", end, input.size());
  end = 0;
  for (const ChunkPlan& chunk : plan_chunks(*file)) {
    OUTLAST_CHECK(chunk.offset == end && chunk.bytes > 0, "a chunk at {}", chunk.offset);
    end += chunk.bytes;
  }
  OUTLAST_CHECK(end == input.size(), "chunks of {} of {} bytes", end, input.size());
}

}  // namespace outlast::checkpoint::testing
