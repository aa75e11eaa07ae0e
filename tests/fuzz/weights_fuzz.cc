#include <cstddef>
#include <cstdint>
#include <span>

#include "trainers/weights/testing/fuzz_weights.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outlast::trainers::testing::fuzz_weights(std::as_bytes(std::span(data, size)));
  return 0;
}
