#include "trainers/images/memory_pictures.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "base/result.h"
#include "trainers/data/image_set.h"
#include "trainers/data/order.h"
#include "trainers/images/picture_source.h"
#include "trainers/images/transforms.h"

namespace outlast::trainers {
namespace {

class MemoryPictures : public PictureSource {
 public:
  MemoryPictures(ImageSet images, const MemoryPictureOptions& options)
      : images_(std::move(images)), options_(options) {
    OUTLAST_CHECK(images_.channels == 3 && images_.width == images_.height,
                  "pictures of {} x {} pixels and {} channels", images_.width, images_.height,
                  images_.channels);
  }

  std::uint32_t count() const override { return static_cast<std::uint32_t>(images_.count()); }
  std::size_t side() const override { return images_.width; }
  const Normalisation& normalisation() const override { return options_.normalisation; }
  const std::vector<std::string>& class_names() const override { return images_.class_names; }
  std::string name(std::uint32_t number) const override { return fmt::format("{}", number); }
  std::int64_t label(std::uint32_t number) const override { return images_.labels[number]; }

  Result<std::uint32_t> read(const PictureRequest& request, std::span<std::uint8_t> rgb) override {
    Change change;
    if (request.seed) change = draw(mix_seed({.a = *request.seed, .b = request.number}));
    put(images_.image(request.number), change, rgb);
    return request.number;
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
           std::span<std::uint8_t> rgb) const {
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
          rgb[next++] = is_inside ? image[at] : std::uint8_t{0};
        }
      }
    }
  }

  const ImageSet images_;
  const MemoryPictureOptions options_;
};

}  // namespace

std::unique_ptr<PictureSource> pictures_in_memory(ImageSet images,
                                                  const MemoryPictureOptions& options) {
  return std::make_unique<MemoryPictures>(std::move(images), options);
}

}  // namespace outlast::trainers
