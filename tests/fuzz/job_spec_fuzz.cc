#include <cstddef>
#include <cstdint>
#include <string_view>

#include "job/testing/fuzz_job_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outlast::job::testing::fuzz_job_spec({reinterpret_cast<const char*>(data), size});
  return 0;
}
