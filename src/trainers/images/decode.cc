#include "trainers/images/decode.h"

#include <fmt/core.h>

#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "trainers/images/decode_parts.h"
#include "trainers/images/picture.h"

namespace outlast::trainers {

Result<void> check_picture_size(const PictureSize& size) {
  if (size.width > 0 && size.height > 0 && size.width <= kPixelsMax / size.height) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("a picture of {}x{} pixels is not read: there may be 1 to {}",
                           size.width, size.height, kPixelsMax));
}

Result<Picture> decode_picture(BytesView bytes) {
  const std::string_view text = as_text(bytes);
  if (text.starts_with("\xFF\xD8\xFF")) return decode_jpeg(bytes);
  if (text.starts_with("\x89PNG\r\n\x1A\n")) return decode_png(bytes);
  return Error(ErrorCode::kInvalidArgument,
               "this is neither a JPEG nor a PNG: convert it, or remove it from the data");
}

}  // namespace outlast::trainers
