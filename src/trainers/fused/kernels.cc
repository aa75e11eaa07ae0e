#include "trainers/fused/kernels.h"

#include <vector>

namespace outlast::trainers::fused {

std::vector<const Kernels*> usable_kernels() {
  std::vector<const Kernels*> usable;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    usable.push_back(&kAvx2Kernels);
  }
#endif
  usable.push_back(&kPortableKernels);
  return usable;
}

const Kernels& best_kernels() {
  return *usable_kernels().front();
}

}  // namespace outlast::trainers::fused
