#pragma once

#include <cstdint>

#include "base/encoding.h"
#include "base/result.h"
#include "trainers/images/picture.h"

namespace outlast::trainers {

// Pictures of more pixels are refused before memory is taken for them.
inline constexpr std::uint64_t kPixelsMax = 100'000'000;

// A JPEG or a PNG, told by its first bytes, as 8-bit RGB. Gray, palettes and 16 bits are converted;
// so is CMYK, without a colour profile (as most programs write it: inverted). What is transparent
// in a PNG is shown on white. Orientation tags are ignored. The same bytes give the same picture
// with the same versions of libjpeg-turbo and libpng.
//
// kCorrupt with what the library says if the bytes are damaged or cut off, also where it would only
// warn of it; kInvalidArgument if they are neither, or too large. Thread-safe.
Result<Picture> decode_picture(BytesView bytes);

}  // namespace outlast::trainers
