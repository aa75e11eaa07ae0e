#include <cstddef>
#include <cstdint>
#include <string_view>

#include "store/s3/testing/fuzz_s3_answers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outlast::store::s3::testing::fuzz_s3_answers({reinterpret_cast<const char*>(data), size});
  return 0;
}
