#include <cstddef>
#include <cstdint>
#include <span>

#include "checkpoint/testing/fuzz_safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outlast::checkpoint::testing::fuzz_safetensors(std::as_bytes(std::span(data, size)));
  return 0;
}
