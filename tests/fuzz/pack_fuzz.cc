#include <cstddef>
#include <cstdint>
#include <span>

#include "checkpoint/testing/fuzz_pack.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outlast::checkpoint::testing::fuzz_pack(std::as_bytes(std::span(data, size)));
  return 0;
}
