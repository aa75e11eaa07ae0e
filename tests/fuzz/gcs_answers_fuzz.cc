#include <cstddef>
#include <cstdint>

#include "store/gcs/testing/fuzz_gcs_answers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outlast::store::gcs::testing::fuzz_gcs_answers({reinterpret_cast<const char*>(data), size});
  return 0;
}
