#include "trainers/torch/mobilenet_v3.h"

#include <torch/nn/init.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace outlast::trainers {

namespace {

using torch::Tensor;

enum class Activation { kNone, kRelu, kHardswish };

struct BlockForm {
  std::int64_t in = 0;
  std::int64_t kernel = 3;
  std::int64_t expanded = 0;
  std::int64_t out = 0;
  bool has_squeeze = false;
  Activation activation = Activation::kRelu;
  std::int64_t stride = 1;
};

// The table of the paper's small model.
constexpr std::array<BlockForm, 11> kBlocks = {{
    {16, 3, 16, 16, true, Activation::kRelu, 2},
    {16, 3, 72, 24, false, Activation::kRelu, 2},
    {24, 3, 88, 24, false, Activation::kRelu, 1},
    {24, 5, 96, 40, true, Activation::kHardswish, 2},
    {40, 5, 240, 40, true, Activation::kHardswish, 1},
    {40, 5, 240, 40, true, Activation::kHardswish, 1},
    {40, 5, 120, 48, true, Activation::kHardswish, 1},
    {48, 5, 144, 48, true, Activation::kHardswish, 1},
    {48, 5, 288, 96, true, Activation::kHardswish, 2},
    {96, 5, 576, 96, true, Activation::kHardswish, 1},
    {96, 5, 576, 96, true, Activation::kHardswish, 1},
}};
constexpr std::int64_t kLastChannels = 576;
constexpr std::int64_t kHidden = 1024;

// A multiple of 8 near to this, and not much below it.
std::int64_t near_multiple_of_8(std::int64_t wanted) {
  const std::int64_t near = std::max<std::int64_t>(8, (wanted + 4) / 8 * 8);
  return 10 * near < 9 * wanted ? near + 8 : near;
}

class ConvNorm : public torch::nn::Module {
 public:
  ConvNorm(const ConvShape& shape, Activation activation)
      : conv_(register_module("0", make_conv(shape))),
        norm_(register_module(
            "1", torch::nn::BatchNorm2d(torch::nn::BatchNorm2dOptions(shape.out).eps(0.001)))),
        activation_(activation) {}

  Tensor forward(const Tensor& x) {
    Tensor y = norm_->forward(conv_->forward(x));
    switch (activation_) {
      case Activation::kNone:
        break;
      case Activation::kRelu:
        y.relu_();
        break;
      case Activation::kHardswish:
        y = torch::hardswish(y);
        break;
    }
    return y;
  }

 private:
  Convolution conv_;
  torch::nn::BatchNorm2d norm_;
  Activation activation_;
};

// Weighs the channels by what is in all of the picture.
class Squeeze : public torch::nn::Module {
 public:
  explicit Squeeze(std::int64_t channels)
      : fc1_(register_module("fc1", make_conv({.in = channels,
                                               .out = near_multiple_of_8(channels / 4),
                                               .has_bias = true}))),
        fc2_(register_module("fc2", make_conv({.in = near_multiple_of_8(channels / 4),
                                               .out = channels,
                                               .has_bias = true}))) {}

  Tensor forward(const Tensor& x) {
    const Tensor hidden = fc1_->forward(torch::adaptive_avg_pool2d(x, {1, 1})).relu_();
    return x * torch::hardsigmoid(fc2_->forward(hidden));
  }

 private:
  Convolution fc1_;
  Convolution fc2_;
};

class InvertedResidual : public torch::nn::Module {
 public:
  explicit InvertedResidual(const BlockForm& form)
      : has_shortcut_(form.stride == 1 && form.in == form.out) {
    auto block = register_module("block", std::make_shared<Children>());
    if (form.expanded != form.in) {
      expand_ = std::make_shared<ConvNorm>(ConvShape{.in = form.in, .out = form.expanded},
                                           form.activation);
      block->push(expand_);
    }
    depthwise_ = std::make_shared<ConvNorm>(ConvShape{.in = form.expanded,
                                                      .out = form.expanded,
                                                      .kernel = form.kernel,
                                                      .stride = form.stride,
                                                      .groups = form.expanded},
                                            form.activation);
    block->push(depthwise_);
    if (form.has_squeeze) {
      squeeze_ = std::make_shared<Squeeze>(form.expanded);
      block->push(squeeze_);
    }
    project_ = std::make_shared<ConvNorm>(ConvShape{.in = form.expanded, .out = form.out},
                                          Activation::kNone);
    block->push(project_);
  }

  Tensor forward(const Tensor& x) {
    Tensor y = expand_ ? expand_->forward(x) : x;
    y = depthwise_->forward(y);
    if (squeeze_) y = squeeze_->forward(y);
    y = project_->forward(y);
    return has_shortcut_ ? y.add_(x) : y;
  }

 private:
  // Gives its children their numbers as names.
  class Children : public torch::nn::Module {
   public:
    void push(const std::shared_ptr<torch::nn::Module>& child) {
      register_module(std::to_string(children().size()), child);
    }
  };

  bool has_shortcut_;
  // Shared with the list of children.
  std::shared_ptr<ConvNorm> expand_;
  std::shared_ptr<ConvNorm> depthwise_;
  std::shared_ptr<Squeeze> squeeze_;
  std::shared_ptr<ConvNorm> project_;
};

class Features : public torch::nn::Module {
 public:
  Features() {
    first_ = register_module(
        "0", std::make_shared<ConvNorm>(
                 ConvShape{.in = 3, .out = kBlocks.front().in, .kernel = 3, .stride = 2},
                 Activation::kHardswish));
    for (const BlockForm& form : kBlocks) {
      blocks_.push_back(register_module(std::to_string(blocks_.size() + 1),
                                        std::make_shared<InvertedResidual>(form)));
    }
    last_ = register_module(
        std::to_string(blocks_.size() + 1),
        std::make_shared<ConvNorm>(ConvShape{.in = kBlocks.back().out, .out = kLastChannels},
                                   Activation::kHardswish));
  }

  Tensor forward(const Tensor& images) {
    Tensor x = first_->forward(images);
    for (const auto& block : blocks_) x = block->forward(x);
    return last_->forward(x);
  }

 private:
  // Shared with the list of children.
  std::shared_ptr<ConvNorm> first_;
  std::vector<std::shared_ptr<InvertedResidual>> blocks_;
  std::shared_ptr<ConvNorm> last_;
};

class Classifier : public torch::nn::Module {
 public:
  explicit Classifier(const MobilenetOptions& options)
      : hidden_(register_module("0", torch::nn::Linear(kLastChannels, kHidden))),
        dropout_(register_module("2", torch::nn::Dropout(options.dropout))),
        last_(register_module("3", torch::nn::Linear(kHidden, options.classes))) {
    for (const auto& linear : {hidden_, last_}) {
      torch::nn::init::normal_(linear->weight, 0, 0.01);
      torch::nn::init::zeros_(linear->bias);
    }
  }
  Tensor forward(const Tensor& x) {
    return last_->forward(dropout_->forward(torch::hardswish(hidden_->forward(x))));
  }

 private:
  torch::nn::Linear hidden_;
  torch::nn::Dropout dropout_;
  torch::nn::Linear last_;
};

class MobilenetV3 : public ImageModel {
 public:
  explicit MobilenetV3(const MobilenetOptions& options)
      : features_(register_module("features", std::make_shared<Features>())),
        classifier_(register_module("classifier", std::make_shared<Classifier>(options))) {
    fill_by_outputs(*this);
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* norm = module->as<torch::nn::BatchNorm2d>()) {
        norm->options.momentum(options.norm_momentum);
      }
    }
  }

  Tensor forward(Tensor images) override {
    return classifier_->forward(features_->forward(images).mean({2, 3}));
  }
  std::string head_prefix() const override { return "classifier.3."; }

 private:
  // Shared with the list of children.
  std::shared_ptr<Features> features_;
  std::shared_ptr<Classifier> classifier_;
};

}  // namespace

std::shared_ptr<ImageModel> make_mobilenet_v3_small(const MobilenetOptions& options) {
  return std::make_shared<MobilenetV3>(options);
}

}  // namespace outlast::trainers
