#include "trainers/torch/convolution.h"

#include <cstdint>

#include "trainers/torch/product.h"

namespace outlast::trainers {

namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// (N, channels, height, width) in channels_last is a matrix: a row for each pixel.
std::int64_t pixels_of(const Tensor& images) {
  return images.size(0) * images.size(2) * images.size(3);
}

Tensor pixels_in_rows(const Tensor& images) {
  return images.contiguous(torch::MemoryFormat::ChannelsLast);
}

// A weight of a single pixel is the same matrix in both formats: a row for each output.
Factor rows_of(const Tensor& matrix, bool transposed) {
  return {.data = matrix.data_ptr<float>(), .stride = matrix.size(1), .transposed = transposed};
}

class PointwiseProduct : public torch::autograd::Function<PointwiseProduct> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& images, const Tensor& weight) {
    context->save_for_backward({images, weight});
    Tensor made = torch::empty({images.size(0), weight.size(0), images.size(2), images.size(3)},
                               images.options().memory_format(torch::MemoryFormat::ChannelsLast));
    multiply(rows_of(images, false), rows_of(weight, true),
             {.rows = pixels_of(images), .columns = weight.size(0), .inner = weight.size(1)},
             {.data = made.data_ptr<float>(), .stride = weight.size(0)});
    return made;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const tensor_list saved = context->get_saved_variables();
    const Tensor& images = saved[0];
    const Tensor& weight = saved[1];
    const Tensor gradient = pixels_in_rows(gradients[0]);
    Tensor of_images;
    Tensor of_weight;
    if (context->needs_input_grad(0)) {
      of_images = torch::empty_like(images, torch::MemoryFormat::ChannelsLast);
      multiply(rows_of(gradient, false), rows_of(weight, false),
               {.rows = pixels_of(images), .columns = weight.size(1), .inner = weight.size(0)},
               {.data = of_images.data_ptr<float>(), .stride = weight.size(1)});
    }
    if (context->needs_input_grad(1)) {
      of_weight = torch::empty_like(weight);
      multiply(rows_of(gradient, true), rows_of(images, false),
               {.rows = weight.size(0), .columns = weight.size(1), .inner = pixels_of(images)},
               {.data = of_weight.data_ptr<float>(), .stride = weight.size(1)});
    }
    return {of_images, of_weight};
  }
};

}  // namespace

bool ConvolutionImpl::is_pointwise() const {
  return weight.size(2) == 1 && weight.size(3) == 1 && options.groups() == 1 &&
         options.stride()->at(0) == 1 && options.stride()->at(1) == 1;
}

Tensor ConvolutionImpl::forward(const Tensor& x) {
  if (!is_pointwise() || !x.is_contiguous(torch::MemoryFormat::ChannelsLast)) {
    return Conv2dImpl::forward(x);
  }
  const Tensor made = PointwiseProduct::apply(x, weight);
  return bias.defined() ? made + bias.view({1, -1, 1, 1}) : made;
}

}  // namespace outlast::trainers
