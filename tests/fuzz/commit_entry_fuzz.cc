#include <cstddef>
#include <cstdint>

#include "job/testing/fuzz_commit_entry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outlast::job::testing::fuzz_commit_entry({reinterpret_cast<const char*>(data), size});
  return 0;
}
