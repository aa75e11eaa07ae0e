#include "trainers/fused/kernels.h"
#include "trainers/fused/kernels_body.h"

namespace outlast::trainers::fused {

constinit const Kernels kAvx2Kernels = {"avx2", learn, infer, add_floats, sgd, adam};

}  // namespace outlast::trainers::fused
