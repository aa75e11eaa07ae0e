#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"

namespace outlast::trainers {

struct ImageFile {
  std::string path = {};  // relative to ImageFolder::folder
  std::uint16_t label = 0;
};

// Pictures in a folder per class: what is where, nothing decoded. A value.
struct ImageFolder {
  std::string folder = {};
  std::vector<std::string> class_names = {};  // sorted by their bytes
  std::vector<ImageFile> train = {};          // by class, then by name
  std::vector<ImageFile> test = {};
  std::size_t ignored = 0;  // files that are no .jpg, .jpeg or .png, of whatever case
};

// <folder>/train/<class>/<file>, and the same in "val", "validation" or "test", the first of which
// that is there. Files are found through symlinks, and in folders inside a class's folder.
//
// kNotFound if there is no train, no class or no picture in it; kInvalidArgument if a class of the
// second half is not in the first, or if there are more than 65,535.
Result<ImageFolder> read_image_folder(sys::FileSystem& files, const std::string& folder);

}  // namespace outlast::trainers
