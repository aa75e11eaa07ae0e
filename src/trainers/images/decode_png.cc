#include <fmt/core.h>
#include <png.h>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "trainers/images/decode_parts.h"
#include "trainers/images/picture.h"

namespace outlast::trainers {

Result<Picture> decode_png(BytesView bytes) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  const auto damaged = [&] {
    const Error error(ErrorCode::kCorrupt, fmt::format("the PNG is damaged: {}", image.message));
    png_image_free(&image);
    return error;
  };
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) return damaged();
  const Result<void> size = check_picture_size({.width = image.width, .height = image.height});
  if (!size) {
    png_image_free(&image);
    return size.error();
  }
  image.format = PNG_FORMAT_RGB;
  Picture picture = {.width = image.width, .height = image.height};
  picture.rgb.resize(picture.width * picture.height * 3);
  // What shows through where the picture is transparent.
  const png_color white = {255, 255, 255};
  if (png_image_finish_read(&image, &white, picture.rgb.data(), 0, nullptr) == 0) return damaged();
  return picture;
}

}  // namespace outlast::trainers
