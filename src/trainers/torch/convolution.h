#pragma once

#include "trainers/torch/torch_headers.h"

namespace outlast::trainers {

// PyTorch's convolution, under the same names. One of a single pixel, stride 1 and one group, of
// pictures in channels_last, is a product of two matrices as they lie in memory, and done as one:
// libtorch 1.13 gives it to a BLAS if the batch is small and there is one thread, and the BLAS that
// Debian installs by itself is many times slower.
class ConvolutionImpl : public torch::nn::Conv2dImpl {
 public:
  using Conv2dImpl::Conv2dImpl;
  torch::Tensor forward(const torch::Tensor& x);

 private:
  bool is_pointwise() const;
};
TORCH_MODULE(Convolution);

}  // namespace outlast::trainers
