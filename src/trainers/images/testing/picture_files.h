#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "trainers/data/testing/data_folder.h"
#include "trainers/images/folder_pictures.h"
#include "trainers/images/testing/made_pictures.h"

namespace outlast::trainers::testing {

inline constexpr std::size_t kPictureFiles = 11;

inline std::string picture_file(std::size_t number) {
  return fmt::format("{}.jpg", number);
}

// What reads the files of with_picture_files(): pictures of 8 x 8 pixels, each of a class of its
// own.
inline FolderPictureOptions picture_file_options(const DataFolder& folder) {
  FolderPictureOptions options;
  options.folder = folder.path;
  for (std::size_t i = 0; i < kPictureFiles; ++i) {
    options.files.push_back({.path = picture_file(i), .label = static_cast<std::uint16_t>(i)});
  }
  options.transform.size = {.width = 8, .height = 8};
  return options;
}

// A folder with pictures, no two of them alike.
inline void with_picture_files(const std::function<void(const DataFolder&)>& body) {
  with_data_folder([&](const DataFolder& folder) {
    for (std::size_t i = 0; i < kPictureFiles; ++i) {
      folder.write(picture_file(i),
                   made_jpeg(made_picture({.width = 30 + i, .height = 20}, static_cast<int>(i))));
    }
    body(folder);
  });
}

}  // namespace outlast::trainers::testing
