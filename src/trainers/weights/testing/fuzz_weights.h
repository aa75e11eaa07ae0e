#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "trainers/weights/weight_file.h"

// What must hold for all bytes, however broken: the fuzzer looks for some that break it.
namespace outlast::trainers::testing {

// Aborts if a promise of the reader is broken.
inline void fuzz_weights(BytesView input) {
  const auto weights = parse_weights(input);
  if (!weights) {
    OUTLAST_CHECK(weights.error().code() == ErrorCode::kCorrupt, "{}", weights.error().to_string());
    return;
  }
  std::set<std::string_view> names;
  std::uint64_t bytes = 0;
  for (const WeightTensor& tensor : weights->tensors) {
    std::uint64_t bits = checkpoint::bits_of(tensor.dtype);
    bool is_empty = false;
    for (const std::uint64_t length : tensor.shape) {
      is_empty = is_empty || length == 0;
      bits *= length;  // the product of a shape with elements was checked
    }
    OUTLAST_CHECK(tensor.data.size() == (is_empty ? 0 : bits / 8), "{} bytes", tensor.data.size());
    OUTLAST_CHECK(names.insert(tensor.name).second, "two are called {}", tensor.name);
    bytes += tensor.data.size();
  }
  OUTLAST_CHECK(bytes <= 8 * input.size() + (64U << 10U), "{} bytes of {}", bytes, input.size());
}

}  // namespace outlast::trainers::testing
