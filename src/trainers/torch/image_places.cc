#include "trainers/torch/image_places.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>
#include <vector>

#include "trainers/data/cifar.h"
#include "trainers/data/synthetic.h"
#include "trainers/data_place.h"
#include "trainers/images/folder_pictures.h"
#include "trainers/images/image_folder.h"
#include "trainers/images/memory_pictures.h"
#include "trainers/images/transforms.h"

namespace outlast::trainers {

namespace {

constexpr std::string_view kCifar = "cifar10:";
constexpr std::size_t kSyntheticTrain = 600;
constexpr std::size_t kSyntheticTest = 200;
constexpr std::uint64_t kAheadMax = 100;

OpenedImages in_memory(ImageData data) {
  return {.train = pictures_in_memory(std::move(data.train), {}),
          .test = pictures_in_memory(std::move(data.test), {}),
          .from = std::move(data.from)};
}

Result<OpenedImages> in_folder(const ImagePlace& place, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(
      const std::string path,
      find_data({.place = place.place, .may_download = place.may_download}, context));
  OUTLAST_TRY_ASSIGN(ImageFolder found, read_image_folder(context.world.files, path));
  if (found.test.empty()) {
    return Error(
        ErrorCode::kNotFound,
        fmt::format("there are no pictures to evaluate with in {0}: put some into {0}/val", path));
  }
  const Size size{.width = place.side, .height = place.side};
  const Transform training{.size = size, .crop = {.area_min = place.crop_area_min}};
  const Transform evaluation{
      .random = false,
      .size = size,
      .shorter_side = static_cast<std::size_t>(static_cast<double>(place.side) * place.margin)};
  const auto part = [&](std::vector<ImageFile> files, const Transform& transform) {
    return pictures_in_folder(context.world.files, {.folder = found.folder,
                                                    .class_names = found.class_names,
                                                    .files = std::move(files),
                                                    .transform = transform,
                                                    .is_strict = place.is_strict});
  };
  return OpenedImages{.train = part(std::move(found.train), training),
                      .test = part(std::move(found.test), evaluation),
                      .from = place.place};
}

}  // namespace

Result<OpenedImages> open_images(const ImagePlace& place, cli::Context& context) {
  if (place.place == "synthetic") {
    return in_memory(synthetic_images({.classes = place.synthetic_classes,
                                       .width = place.side,
                                       .height = place.side,
                                       .train_count = kSyntheticTrain,
                                       .test_count = kSyntheticTest,
                                       .seed = place.seed}));
  }
  if (place.place.starts_with(kCifar)) {
    if (place.side != 32) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("pictures of CIFAR have 32 pixels a side: leave out --image-size, "
                               "or set it to 32 instead of {}",
                               place.side));
    }
    OUTLAST_TRY_ASSIGN(ImageData data,
                       read_cifar10(context.world.files, place.place.substr(kCifar.size())));
    return in_memory(std::move(data));
  }
  return in_folder(place, context);
}

Result<std::size_t> read_decode_ahead(const cli::Invocation& invocation) {
  const std::uint64_t given = invocation.number("decode-ahead").value_or(2);
  if (given > kAheadMax) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("--decode-ahead must be from 0 to {}, not {}", kAheadMax, given));
  }
  return static_cast<std::size_t>(given);
}

}  // namespace outlast::trainers
