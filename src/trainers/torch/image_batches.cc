#include "trainers/torch/image_batches.h"

#include <fmt/core.h>

#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "trainers/data/order.h"

namespace outlast::trainers {

namespace {

class MemoryBatches : public ImageBatches {
 public:
  MemoryBatches(ImageSet images, const MemoryBatchOptions& options)
      : images_(std::move(images)), options_(options), table_(options.norm) {
    OUTLAST_CHECK(images_.channels == 3 && images_.width == images_.height,
                  "pictures of {} x {} pixels and {} channels", images_.width, images_.height,
                  images_.channels);
  }

  std::uint32_t count() const override { return static_cast<std::uint32_t>(images_.count()); }
  std::size_t side() const override { return images_.width; }
  const std::vector<std::string>& class_names() const override { return images_.class_names; }
  std::string name(std::uint32_t number) const override { return fmt::format("{}", number); }

  Result<void> read(std::span<const std::uint32_t> numbers, std::optional<std::uint64_t> seed,
                    const BatchPlace& place) override {
    const std::size_t size = images_.image_bytes();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      place.labels[i] = images_.labels[numbers[i]];
      Change change;
      if (seed) change = draw(mix_seed({.a = *seed, .b = numbers[i]}));
      put(images_.image(numbers[i]), change, place.pixels.subspan(i * size, size));
    }
    return {};
  }

 private:
  struct Change {
    std::int64_t down = 0;
    std::int64_t right = 0;
    bool is_mirrored = false;
  };

  Change draw(std::uint64_t seed) const {
    Random random(seed);
    const auto most = static_cast<std::int64_t>(options_.shift_max);
    Change change;
    change.down = random.between(-most, most);
    change.right = random.between(-most, most);
    change.is_mirrored = random.chance(0.5);
    return change;
  }

  void put(std::span<const std::uint8_t> image, const Change& change,
           std::span<float> pixels) const {
    const auto side = static_cast<std::int64_t>(images_.width);
    std::size_t next = 0;
    for (std::int64_t row = 0; row < side; ++row) {
      const std::int64_t from_row = row - change.down;
      for (std::int64_t column = 0; column < side; ++column) {
        const std::int64_t seen = change.is_mirrored ? side - 1 - column : column;
        const std::int64_t from_column = seen - change.right;
        const bool is_inside =
            from_row >= 0 && from_row < side && from_column >= 0 && from_column < side;
        for (std::int64_t channel = 0; channel < 3; ++channel) {
          const auto at =
              static_cast<std::size_t>((channel * side + from_row) * side + from_column);
          pixels[next++] =
              table_(static_cast<std::size_t>(channel), is_inside ? image[at] : std::uint8_t{0});
        }
      }
    }
  }

  ImageSet images_;
  MemoryBatchOptions options_;
  NormTable table_;
};

}  // namespace

NormTable::NormTable(const ChannelNorm& norm) {
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t value = 0; value < 256; ++value) {
      values_[channel * 256 + value] =
          (static_cast<float>(value) / 255.0F - norm.mean[channel]) / norm.deviation[channel];
    }
  }
}

std::unique_ptr<ImageBatches> batches_in_memory(ImageSet images,
                                                const MemoryBatchOptions& options) {
  return std::make_unique<MemoryBatches>(std::move(images), options);
}

}  // namespace outlast::trainers
