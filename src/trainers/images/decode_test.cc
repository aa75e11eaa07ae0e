#include "trainers/images/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "trainers/images/testing/made_pictures.h"

namespace outlast::trainers {
namespace {

using testing::made_jpeg;
using testing::made_picture;
using testing::made_png;

Picture decoded(const std::string& bytes) {
  const Result<Picture> picture = decode_picture(as_bytes(bytes));
  EXPECT_TRUE(picture) << picture.error().to_string();
  return picture.value_or(Picture());
}

// The largest difference of any channel of any pixel.
int distance(const Picture& a, const Picture& b) {
  if (a.width != b.width || a.height != b.height) return 1000;
  int most = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i)
    most = std::max(most, std::abs(a.rgb[i] - b.rgb[i]));
  return most;
}

TEST(DecodePicture, ReadsJpegs) {
  const Picture picture = made_picture({.width = 60, .height = 40}, 3);
  EXPECT_LE(distance(decoded(made_jpeg(picture)), picture), 6);
  const std::vector<std::uint8_t> gray(60 * 40, 77);
  EXPECT_EQ(distance(decoded(made_jpeg(gray, {.width = 60, .height = 40},
                                       {.format = TJPF_GRAY, .sampling = TJSAMP_GRAY})),
                     {.width = 60, .height = 40, .rgb = std::vector<std::uint8_t>(7200, 77)}),
            0);
}

TEST(DecodePicture, ReadsInks) {
  // Inverted, as most programs write them: full light in red, half in green, none in blue.
  std::vector<std::uint8_t> inks;
  for (int i = 0; i < 16 * 16; ++i) inks.insert(inks.end(), {255, 128, 0, 200});
  const Picture picture =
      decoded(made_jpeg(inks, {.width = 16, .height = 16}, {.format = TJPF_CMYK}));
  Picture expected = {.width = 16, .height = 16};
  for (int i = 0; i < 16 * 16; ++i) expected.rgb.insert(expected.rgb.end(), {200, 100, 0});
  EXPECT_LE(distance(picture, expected), 4);
}

TEST(DecodePicture, ReadsPngs) {
  const Size size = {.width = 5, .height = 3};
  const Picture picture = made_picture(size, 2);
  EXPECT_EQ(distance(decoded(made_png(picture.rgb.data(), size, PNG_FORMAT_RGB)), picture), 0);
  const std::vector<std::uint8_t> gray(15, 90);
  EXPECT_EQ(distance(decoded(made_png(gray.data(), size, PNG_FORMAT_GRAY)),
                     {.width = 5, .height = 3, .rgb = std::vector<std::uint8_t>(45, 90)}),
            0);
  const std::vector<std::uint16_t> deep(15 * 3, 65535);
  EXPECT_EQ(distance(decoded(made_png(deep.data(), size, PNG_FORMAT_LINEAR_RGB)),
                     {.width = 5, .height = 3, .rgb = std::vector<std::uint8_t>(45, 255)}),
            0);
}

TEST(DecodePicture, ShowsWhatIsTransparentOnWhite) {
  const std::array<std::uint8_t, 8> pixels = {10, 20, 30, 255, 10, 20, 30, 0};
  EXPECT_EQ(decoded(made_png(pixels.data(), {.width = 2, .height = 1}, PNG_FORMAT_RGBA)).rgb,
            (std::vector<std::uint8_t>{10, 20, 30, 255, 255, 255}));
}

TEST(DecodePicture, RefusesWhatIsDamagedOrNoPicture) {
  const auto code = [](const std::string& bytes) {
    const Result<Picture> picture = decode_picture(as_bytes(bytes));
    return picture ? ErrorCode::kAlreadyExists : picture.error().code();
  };
  const Picture picture = made_picture({.width = 64, .height = 64}, 3);
  const std::string jpeg = made_jpeg(picture);
  const std::string png = made_png(picture.rgb.data(), {.width = 64, .height = 64}, PNG_FORMAT_RGB);
  EXPECT_EQ(code(jpeg.substr(0, jpeg.size() / 2)), ErrorCode::kCorrupt);
  EXPECT_EQ(code(jpeg.substr(0, 10)), ErrorCode::kCorrupt);
  EXPECT_EQ(code(png.substr(0, png.size() / 2)), ErrorCode::kCorrupt);
  EXPECT_EQ(code(""), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("GIF89a"), ErrorCode::kInvalidArgument);
}

TEST(DecodePicture, RefusesWhatIsTooLargeBeforeItTakesMemory) {
  std::string jpeg = made_jpeg(made_picture({.width = 16, .height = 16}, 1));
  const std::size_t frame = jpeg.find("\xFF\xC0");
  ASSERT_NE(frame, std::string::npos);
  for (std::size_t i = 5; i < 9; ++i) jpeg[frame + i] = '\xF0';
  const Result<Picture> picture = decode_picture(as_bytes(jpeg));
  ASSERT_FALSE(picture);
  EXPECT_EQ(picture.error().to_string(),
            "a picture of 61680x61680 pixels is not read: there may be 1 to 100000000");
}

}  // namespace
}  // namespace outlast::trainers
