#include <fmt/core.h>
#include <turbojpeg.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "trainers/images/decode_parts.h"
#include "trainers/images/picture.h"

namespace outlast::trainers {
namespace {

struct EndJpeg {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using JpegHandle = std::unique_ptr<void, EndJpeg>;

Error jpeg_error(const JpegHandle& handle) {
  return {ErrorCode::kCorrupt,
          fmt::format("the JPEG is damaged: {}", tjGetErrorStr2(handle.get()))};
}

// Ink, inverted: as much light as each of the two lets through.
std::uint8_t lit(std::uint8_t ink, std::uint8_t black) {
  return static_cast<std::uint8_t>((ink * black + 127) / 255);
}

}  // namespace

Result<Picture> decode_jpeg(BytesView bytes) {
  const JpegHandle handle(tjInitDecompress());
  if (!handle) return Error(ErrorCode::kFailed, "libjpeg-turbo cannot be started");
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  int width = 0;
  int height = 0;
  int sampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(handle.get(), data, bytes.size(), &width, &height, &sampling, &colours) !=
      0) {
    return jpeg_error(handle);
  }
  // A file that ends within its header has no size, and the library does not mind.
  if (width <= 0 || height <= 0) {
    return Error(ErrorCode::kCorrupt, "the JPEG is damaged: it ends within its header");
  }
  OUTLAST_TRY(check_picture_size(
      {.width = static_cast<std::uint64_t>(width), .height = static_cast<std::uint64_t>(height)}));
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  const bool inks = colours == TJCS_CMYK || colours == TJCS_YCCK;
  std::vector<std::uint8_t> decoded(pixels * (inks ? 4 : 3));
  // Not the library's fastest way: the accurate transform gives the same pixels on every processor.
  if (tjDecompress2(handle.get(), data, bytes.size(), decoded.data(), width, 0, height,
                    inks ? TJPF_CMYK : TJPF_RGB, TJFLAG_ACCURATEDCT) != 0) {
    return jpeg_error(handle);
  }
  Picture picture = {.width = static_cast<std::size_t>(width),
                     .height = static_cast<std::size_t>(height)};
  if (!inks) {
    picture.rgb = std::move(decoded);
    return picture;
  }
  picture.rgb.resize(pixels * 3);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      picture.rgb[3 * i + c] = lit(decoded[4 * i + c], decoded[4 * i + 3]);
    }
  }
  return picture;
}

}  // namespace outlast::trainers
