#include "trainers/images/folder_pictures.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "trainers/data/testing/data_folder.h"
#include "trainers/images/picture_source.h"
#include "trainers/images/testing/picture_files.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::kPictureFiles;
using testing::picture_file;
using testing::picture_file_options;
using testing::with_data_folder;
using testing::with_picture_files;

using Pixels = std::vector<std::uint8_t>;

std::unique_ptr<PictureSource> open(const DataFolder& folder, FolderPictureOptions options) {
  return pictures_in_folder(folder.world.files, std::move(options));
}

Pixels pixels_of(PictureSource& source, const PictureRequest& request) {
  Pixels pixels(source.side() * source.side() * 3);
  const Result<std::uint32_t> number = source.read(request, pixels);
  EXPECT_TRUE(number) << number.error().to_string();
  return pixels;
}

Result<std::uint32_t> number_read(PictureSource& source, std::uint32_t wanted) {
  Pixels pixels(source.side() * source.side() * 3);
  return source.read({.number = wanted, .seed = 1}, pixels);
}

TEST(FolderPictures, AreAFunctionOfNumberAndSeedWhetherKeptOrNot) {
  with_picture_files([](const DataFolder& folder) {
    FolderPictureOptions options = picture_file_options(folder);
    const std::unique_ptr<PictureSource> keeps = open(folder, options);
    options.cache_bytes_max = 0;
    const std::unique_ptr<PictureSource> forgets = open(folder, options);
    std::set<Pixels> seen;
    for (const std::uint64_t seed : {1U, 2U, 1U}) {
      for (std::uint32_t i = 0; i < kPictureFiles; ++i) {
        const Pixels pixels = pixels_of(*keeps, {.number = i, .seed = seed});
        EXPECT_EQ(pixels, pixels_of(*forgets, {.number = i, .seed = seed}));
        seen.insert(pixels);
      }
    }
    EXPECT_EQ(seen.size(), 2 * kPictureFiles);
  });
}

TEST(FolderPictures, AreReadFromTheDiskOnceWhileThereIsRoom) {
  with_picture_files([](const DataFolder& folder) {
    const std::unique_ptr<PictureSource> source = open(folder, picture_file_options(folder));
    const Pixels before = pixels_of(*source, {.number = 3, .seed = 1});
    folder.write("3.jpg", "no picture any more");
    EXPECT_EQ(pixels_of(*source, {.number = 3, .seed = 1}), before);
  });
}

TEST(FolderPictures, ReplacesWhatIsNoPictureByTheNextAndTellsOnceHowManyThereAre) {
  with_picture_files([](const DataFolder& folder) {
    folder.write("4.jpg", folder.read("4.jpg").substr(0, 300));
    folder.write("5.jpg", "no picture");
    folder.write("10.jpg", "no picture");
    const std::unique_ptr<PictureSource> source = open(folder, picture_file_options(folder));
    EXPECT_EQ(source->damage(), std::nullopt);
    for (int times = 0; times < 3; ++times) {
      EXPECT_EQ(number_read(*source, 10).value(), 0U);
      EXPECT_EQ(number_read(*source, 5).value(), 6U);
      EXPECT_EQ(number_read(*source, 4).value(), 6U);
      EXPECT_EQ(number_read(*source, 3).value(), 3U);
    }
    EXPECT_EQ(source->label(6), 6);
    const std::string damage = source->damage().value_or("");
    EXPECT_TRUE(
        damage.starts_with("3 of 11 pictures are damaged and were left out; the first: "
                           "4.jpg: "))
        << damage;
    EXPECT_TRUE(damage.ends_with("; --strict refuses them")) << damage;
  });
}

TEST(FolderPictures, NamesTheFileIfItIsStrictOrCannotReadIt) {
  with_picture_files([](const DataFolder& folder) {
    folder.write("1.jpg", "no picture");
    FolderPictureOptions options = picture_file_options(folder);
    ASSERT_TRUE(folder.world.files.remove_file(folder.at("7.jpg")));
    EXPECT_EQ(number_read(*open(folder, options), 7).error().code(), ErrorCode::kNotFound);
    options.is_strict = true;
    const std::unique_ptr<PictureSource> strict = open(folder, options);
    const std::string sentence = number_read(*strict, 1).error().to_string();
    EXPECT_TRUE(sentence.starts_with("decode " + folder.at("1.jpg"))) << sentence;
    EXPECT_EQ(strict->damage(), std::nullopt);
  });
}

TEST(FolderPictures, SaysThatThereIsNoPictureAtAll) {
  with_data_folder([](const DataFolder& folder) {
    for (std::size_t i = 0; i < kPictureFiles; ++i) folder.write(picture_file(i), "none");
    EXPECT_EQ(number_read(*open(folder, picture_file_options(folder)), 2).error().to_string(),
              fmt::format("none of the 11 files in {} is readable as a picture", folder.path));
  });
}

}  // namespace
}  // namespace outlast::trainers
