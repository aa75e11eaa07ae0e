#include "trainers/fused/kernels.h"
#include "trainers/fused/kernels_body.h"

namespace outlast::trainers::fused {

constinit const Kernels kPortableKernels = {"portable", learn, infer, add_floats, sgd, adam};

}  // namespace outlast::trainers::fused
