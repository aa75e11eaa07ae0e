#pragma once

#include <cstddef>
#include <memory>

#include "trainers/data/image_set.h"
#include "trainers/images/picture_source.h"
#include "trainers/images/transforms.h"

namespace outlast::trainers {

struct MemoryPictureOptions {
  Normalisation normalisation = {};
  std::size_t shift_max = 4;  // pixels that a picture is moved by at most; what comes in is black
};
// Pictures of three channels and as high as wide that are in memory already.
std::unique_ptr<PictureSource> pictures_in_memory(ImageSet images,
                                                  const MemoryPictureOptions& options);

}  // namespace outlast::trainers
