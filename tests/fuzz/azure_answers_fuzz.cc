#include <cstddef>
#include <cstdint>
#include <string_view>

#include "store/azure/testing/fuzz_azure_answers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outlast::store::testing::fuzz_azure_answers({reinterpret_cast<const char*>(data), size});
  return 0;
}
