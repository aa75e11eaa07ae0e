#include "trainers/images/image_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::trainers {
namespace {

constexpr int kDepthMax = 16;  // a symlink may lead back up

bool is_picture_name(const std::string& name) {
  const std::string lower = ascii_lower(name);
  const auto ends = [&](std::string_view end) { return lower.ends_with(end); };
  return ends(".jpg") || ends(".jpeg") || ends(".png");
}

class FolderReader {
 public:
  FolderReader(sys::FileSystem& files, ImageFolder& result) : files_(files), result_(result) {}

  // The class folders of one half.
  Result<std::vector<std::string>> classes_of(const std::string& half) {
    OUTLAST_TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries,
                       files_.list(sys::join_path(result_.folder, half)));
    std::vector<std::string> classes;
    for (const sys::DirectoryEntry& entry : entries) {
      if (leads_to_folder(entry, sys::join_path(half, entry.name))) {
        classes.push_back(entry.name);
      } else {
        ++result_.ignored;
      }
    }
    return classes;
  }

  // All pictures below a folder.
  Result<void> add(const std::string& below, std::uint16_t label, std::vector<ImageFile>& found,
                   int depth = 0) {
    OUTLAST_TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries,
                       files_.list(sys::join_path(result_.folder, below)));
    for (const sys::DirectoryEntry& entry : entries) {
      const std::string path = sys::join_path(below, entry.name);
      if (leads_to_folder(entry, path)) {
        if (depth < kDepthMax) OUTLAST_TRY(add(path, label, found, depth + 1));
      } else if (is_picture_name(entry.name)) {
        found.push_back({.path = path, .label = label});
      } else {
        ++result_.ignored;
      }
    }
    return {};
  }

 private:
  bool leads_to_folder(const sys::DirectoryEntry& entry, const std::string& path) {
    if (entry.type != sys::FileType::kSymlink) return entry.type == sys::FileType::kDirectory;
    return files_.list(sys::join_path(result_.folder, path)).has_value();
  }

  sys::FileSystem& files_;
  ImageFolder& result_;
};

Error no_pictures(const std::string& folder, std::string_view what) {
  return {ErrorCode::kNotFound,
          fmt::format("{} in {}: pictures belong into train/<class>/ and val/<class>/ there, as "
                      ".jpg or .png",
                      what, folder)};
}

}  // namespace

Result<ImageFolder> read_image_folder(sys::FileSystem& files, const std::string& folder) {
  ImageFolder result = {.folder = folder};
  FolderReader reader(files, result);
  const Result<std::vector<std::string>> classes = reader.classes_of("train");
  if (!classes && classes.error().code() == ErrorCode::kNotFound) {
    return no_pictures(folder, "there is no folder train");
  }
  if (!classes) return classes.error();
  if (classes->empty()) return no_pictures(folder, "there is no folder of a class in train");
  if (classes->size() > UINT16_MAX) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("there are {} classes in {}: there may be {}", classes->size(), folder,
                             UINT16_MAX));
  }
  result.class_names = *classes;
  for (std::size_t i = 0; i < classes->size(); ++i) {
    OUTLAST_TRY(reader.add("train/" + (*classes)[i], static_cast<std::uint16_t>(i), result.train));
  }
  if (result.train.empty()) return no_pictures(folder, "there is no picture in train");

  for (const std::string half : {"val", "validation", "test"}) {
    const Result<std::vector<std::string>> tested = reader.classes_of(half);
    if (!tested && tested.error().code() == ErrorCode::kNotFound) continue;
    if (!tested) return tested.error();
    for (const std::string& name : *tested) {
      const auto at = std::ranges::find(result.class_names, name);
      if (at == result.class_names.end()) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{}/{} has the class '{}', which {}/train lacks: both need the "
                                 "same classes",
                                 folder, half, name, folder));
      }
      OUTLAST_TRY(reader.add(sys::join_path(half, name),
                             static_cast<std::uint16_t>(at - result.class_names.begin()),
                             result.test));
    }
    return result;
  }
  return no_pictures(folder, "there is no folder val, validation or test");
}

}  // namespace outlast::trainers
