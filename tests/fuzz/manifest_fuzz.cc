#include <cstddef>
#include <cstdint>
#include <string_view>

#include "checkpoint/testing/fuzz_manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outlast::checkpoint::testing::fuzz_manifest({reinterpret_cast<const char*>(data), size});
  return 0;
}
