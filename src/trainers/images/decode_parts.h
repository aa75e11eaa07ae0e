#pragma once

#include <cstdint>

#include "base/encoding.h"
#include "base/result.h"
#include "trainers/images/picture.h"

// The two libraries behind decode_picture(), a file for each.
namespace outlast::trainers {

Result<Picture> decode_jpeg(BytesView bytes);
Result<Picture> decode_png(BytesView bytes);

// kInvalidArgument if there are no pixels, or too many.
struct PictureSize {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
};
Result<void> check_picture_size(const PictureSize& size);

}  // namespace outlast::trainers
