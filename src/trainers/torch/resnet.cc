#include "trainers/torch/resnet.h"

#include <torch/nn/init.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace outlast::trainers {

namespace {

using torch::Tensor;
using torch::nn::BatchNorm2d;

// One block with its shortcut.
class Block : public torch::nn::Module {
 public:
  virtual Tensor forward(const Tensor& x) = 0;
};

struct BlockShape {
  std::int64_t in = 0;
  std::int64_t width = 0;
  std::int64_t stride = 1;
};

// A shortcut by a convolution; its two parts are called "0" and "1".
class Downsample : public torch::nn::Module {
 public:
  explicit Downsample(const ConvShape& shape)
      : conv_(register_module("0", make_conv(shape))),
        norm_(register_module("1", BatchNorm2d(shape.out))) {}
  Tensor forward(const Tensor& x) { return norm_->forward(conv_->forward(x)); }

 private:
  Convolution conv_;
  BatchNorm2d norm_;
};

std::shared_ptr<Downsample> make_downsample(const BlockShape& shape, std::int64_t out) {
  if (shape.stride == 1 && shape.in == out) return nullptr;
  return std::make_shared<Downsample>(
      ConvShape{.in = shape.in, .out = out, .stride = shape.stride});
}

class BasicBlock : public Block {
 public:
  enum class Shortcut { kConvolution, kPadded };

  BasicBlock(const BlockShape& shape, Shortcut shortcut)
      : shape_(shape),
        conv1_(register_module(
            "conv1",
            make_conv({.in = shape.in, .out = shape.width, .kernel = 3, .stride = shape.stride}))),
        norm1_(register_module("bn1", BatchNorm2d(shape.width))),
        conv2_(register_module("conv2",
                               make_conv({.in = shape.width, .out = shape.width, .kernel = 3}))),
        norm2_(register_module("bn2", BatchNorm2d(shape.width))) {
    if (shortcut == Shortcut::kConvolution) downsample_ = make_downsample(shape, shape.width);
    if (downsample_) register_module("downsample", downsample_);
  }

  Tensor forward(const Tensor& x) override {
    const Tensor inner = norm1_->forward(conv1_->forward(x)).relu_();
    return norm2_->forward(conv2_->forward(inner)).add_(shortcut(x)).relu_();
  }

 private:
  Tensor shortcut(const Tensor& x) {
    if (downsample_) return downsample_->forward(x);
    if (shape_.stride == 1 && shape_.in == shape_.width) return x;
    // Every second pixel, and channels of zeros on both sides.
    const Tensor thinned = x.slice(2, 0, torch::indexing::None, shape_.stride)
                               .slice(3, 0, torch::indexing::None, shape_.stride);
    const std::int64_t before = (shape_.width - shape_.in) / 2;
    return torch::constant_pad_nd(thinned, {0, 0, 0, 0, before, shape_.width - shape_.in - before});
  }

  BlockShape shape_;
  Convolution conv1_;
  BatchNorm2d norm1_;
  Convolution conv2_;
  BatchNorm2d norm2_;
  std::shared_ptr<Downsample> downsample_;  // shared with the list of children
};

class Bottleneck : public Block {
 public:
  explicit Bottleneck(const BlockShape& shape)
      : conv1_(register_module("conv1", make_conv({.in = shape.in, .out = shape.width}))),
        norm1_(register_module("bn1", BatchNorm2d(shape.width))),
        conv2_(register_module(
            "conv2",
            make_conv(
                {.in = shape.width, .out = shape.width, .kernel = 3, .stride = shape.stride}))),
        norm2_(register_module("bn2", BatchNorm2d(shape.width))),
        conv3_(register_module("conv3", make_conv({.in = shape.width, .out = 4 * shape.width}))),
        norm3_(register_module("bn3", BatchNorm2d(4 * shape.width))) {
    downsample_ = make_downsample(shape, 4 * shape.width);
    if (downsample_) register_module("downsample", downsample_);
  }

  Tensor forward(const Tensor& x) override {
    Tensor inner = norm1_->forward(conv1_->forward(x)).relu_();
    inner = norm2_->forward(conv2_->forward(inner)).relu_();
    const Tensor shortcut = downsample_ ? downsample_->forward(x) : x;
    return norm3_->forward(conv3_->forward(inner)).add_(shortcut).relu_();
  }

 private:
  Convolution conv1_;
  BatchNorm2d norm1_;
  Convolution conv2_;
  BatchNorm2d norm2_;
  Convolution conv3_;
  BatchNorm2d norm3_;
  std::shared_ptr<Downsample> downsample_;  // shared with the list of children
};

struct ResnetForm {
  std::vector<std::size_t> blocks = {};  // of each layer
  std::int64_t width = 64;  // of the first layer; each has twice that of the one before
  bool is_bottleneck = false;
  bool is_for_cifar = false;
};

ResnetForm form_of(ResnetKind kind) {
  switch (kind) {
    case ResnetKind::kResnet18:
      return {.blocks = {2, 2, 2, 2}};
    case ResnetKind::kResnet50:
      return {.blocks = {3, 4, 6, 3}, .is_bottleneck = true};
    case ResnetKind::kResnet20:
      return {.blocks = {3, 3, 3}, .width = 16, .is_for_cifar = true};
    case ResnetKind::kResnet56:
      return {.blocks = {9, 9, 9}, .width = 16, .is_for_cifar = true};
  }
  return {};
}

// Only a container: its children are called "0", "1", ...
class Layer : public torch::nn::Module {
 public:
  void push(std::shared_ptr<Block> block) {
    blocks_.push_back(register_module(std::to_string(blocks_.size()), std::move(block)));
  }
  Tensor forward(Tensor x) {
    for (const auto& block : blocks_) x = block->forward(x);
    return x;
  }

 private:
  std::vector<std::shared_ptr<Block>> blocks_;  // shared with the list of children
};

class Resnet : public ImageModel {
 public:
  Resnet(const ResnetForm& form, std::int64_t classes)
      : is_for_cifar_(form.is_for_cifar), conv1_(make_first(form)), norm1_(form.width) {
    register_module("conv1", conv1_);
    register_module("bn1", norm1_);
    std::int64_t channels = form.width;
    for (std::size_t number = 0; number < form.blocks.size(); ++number) {
      auto layer = std::make_shared<Layer>();
      const std::int64_t width = form.width << number;
      for (std::size_t block = 0; block < form.blocks[number]; ++block) {
        const BlockShape shape{
            .in = channels, .width = width, .stride = block == 0 && number > 0 ? 2 : 1};
        layer->push(make_block(form, shape));
        channels = form.is_bottleneck ? 4 * width : width;
      }
      layers_.push_back(register_module("layer" + std::to_string(number + 1), layer));
    }
    head_ =
        register_module(form.is_for_cifar ? "linear" : "fc", torch::nn::Linear(channels, classes));
    fill();
  }

  Tensor forward(Tensor images) override {
    Tensor x = norm1_->forward(conv1_->forward(images)).relu_();
    if (!is_for_cifar_) x = torch::max_pool2d(x, 3, 2, 1);
    for (const auto& layer : layers_) x = layer->forward(x);
    return head_->forward(x.mean({2, 3}));
  }

  std::string head_prefix() const override { return is_for_cifar_ ? "linear." : "fc."; }

 private:
  static Convolution make_first(const ResnetForm& form) {
    if (form.is_for_cifar) return make_conv({.in = 3, .out = form.width, .kernel = 3});
    return make_conv({.in = 3, .out = form.width, .kernel = 7, .stride = 2});
  }

  static std::shared_ptr<Block> make_block(const ResnetForm& form, const BlockShape& shape) {
    if (form.is_bottleneck) return std::make_shared<Bottleneck>(shape);
    return std::make_shared<BasicBlock>(shape, form.is_for_cifar
                                                   ? BasicBlock::Shortcut::kPadded
                                                   : BasicBlock::Shortcut::kConvolution);
  }

  void fill() {
    if (!is_for_cifar_) {
      fill_by_outputs(*this);
      return;
    }
    for (const auto& item : named_parameters()) {
      if (item.value().dim() > 1) {
        torch::nn::init::kaiming_normal_(item.value(), 0, torch::kFanIn, torch::kReLU);
      }
    }
  }

  bool is_for_cifar_;
  Convolution conv1_;
  BatchNorm2d norm1_;
  std::vector<std::shared_ptr<Layer>> layers_;  // shared with the list of children
  torch::nn::Linear head_ = nullptr;
};

}  // namespace

std::shared_ptr<ImageModel> make_resnet(ResnetKind kind, std::int64_t classes) {
  return std::make_shared<Resnet>(form_of(kind), classes);
}

}  // namespace outlast::trainers
