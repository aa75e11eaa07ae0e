#pragma once

#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainers/images/picture.h"
#include "trainers/images/transforms.h"

// Pictures as files, made by the libraries that read them.
namespace outlast::trainers::testing {

// A smooth picture that is nowhere symmetrical.
inline Picture made_picture(const Size& size, int salt) {
  Picture picture = {.width = size.width, .height = size.height};
  for (std::size_t y = 0; y < size.height; ++y) {
    for (std::size_t x = 0; x < size.width; ++x) {
      picture.rgb.push_back(static_cast<std::uint8_t>(x * 200 / size.width));
      picture.rgb.push_back(static_cast<std::uint8_t>(y * 200 / size.height));
      picture.rgb.push_back(static_cast<std::uint8_t>(37 * salt));
    }
  }
  return picture;
}

struct JpegKind {
  int format = TJPF_RGB;  // of `pixels`
  int sampling = TJSAMP_444;
};
inline std::string made_jpeg(const std::vector<std::uint8_t>& pixels, const Size& size,
                             const JpegKind& kind = {}) {
  void* const handle = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long length = 0;  // NOLINT: the library's type
  EXPECT_EQ(tjCompress2(handle, pixels.data(), static_cast<int>(size.width), 0,
                        static_cast<int>(size.height), kind.format, &bytes, &length, kind.sampling,
                        98, 0),
            0);
  std::string text(reinterpret_cast<const char*>(bytes), length);
  tjFree(bytes);
  tjDestroy(handle);
  return text;
}
inline std::string made_jpeg(const Picture& picture) {
  return made_jpeg(picture.rgb, {.width = picture.width, .height = picture.height});
}

// `format` is one of libpng's PNG_FORMAT_*, and what `pixels` has.
inline std::string made_png(const void* pixels, const Size& size, std::uint32_t format) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(size.width);
  image.height = static_cast<png_uint_32>(size.height);
  image.format = format;
  png_alloc_size_t length = 0;
  EXPECT_NE(png_image_write_to_memory(&image, nullptr, &length, 0, pixels, 0, nullptr), 0);
  std::string text(length, '\0');
  EXPECT_NE(png_image_write_to_memory(&image, text.data(), &length, 0, pixels, 0, nullptr), 0);
  return text;
}

}  // namespace outlast::trainers::testing
