#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainers/data/image_set.h"

namespace outlast::trainers {

// What is taken off each channel of a picture (0 to 1), and what that is divided by then.
struct ChannelNorm {
  std::array<float, 3> mean = {0, 0, 0};
  std::array<float, 3> deviation = {1, 1, 1};
};
// Of ImageNet: what models that were trained on it want.
inline constexpr ChannelNorm kImagenetNorm = {.mean = {0.485F, 0.456F, 0.406F},
                                              .deviation = {0.229F, 0.224F, 0.225F}};

// Where a batch goes: pictures of side x side pixels, row after row, with the channels of a pixel
// side by side; and the number of each one's class.
struct BatchPlace {
  std::span<float> pixels = {};
  std::span<std::int64_t> labels = {};
};

// Pictures with a class each, made ready for a network. Confined to its owner.
class ImageBatches {
 public:
  virtual ~ImageBatches() = default;

  virtual std::uint32_t count() const = 0;
  virtual std::size_t side() const = 0;
  virtual const std::vector<std::string>& class_names() const = 0;
  // What a picture is called, for people.
  virtual std::string name(std::uint32_t number) const = 0;
  // Those of these numbers. With a seed they are changed at random (cut, mirrored), each as the
  // seed and its own number say; without, they are as evaluation has them.
  virtual Result<void> read(std::span<const std::uint32_t> numbers,
                            std::optional<std::uint64_t> seed, const BatchPlace& place) = 0;
};

struct MemoryBatchOptions {
  ChannelNorm norm = kImagenetNorm;
  std::size_t shift_max = 4;  // pixels that a picture is moved by at most; what comes in is black
};
// Pictures of three channels and as high as wide that are in memory already.
std::unique_ptr<ImageBatches> batches_in_memory(ImageSet images, const MemoryBatchOptions& options);

// The 256 values of each channel after the norm, so that a pixel is a look at a table.
class NormTable {
 public:
  explicit NormTable(const ChannelNorm& norm);
  float operator()(std::size_t channel, std::uint8_t value) const {
    return values_[channel * 256 + value];
  }

 private:
  std::array<float, std::size_t{3} * 256> values_;
};

}  // namespace outlast::trainers
