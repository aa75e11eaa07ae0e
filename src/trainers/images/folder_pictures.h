#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sys/file_system.h"
#include "trainers/images/image_folder.h"
#include "trainers/images/picture_source.h"
#include "trainers/images/transforms.h"

namespace outlast::trainers {

struct FolderPictureOptions {
  std::string folder = {};
  std::vector<std::string> class_names = {};
  std::vector<ImageFile> files = {};  // not empty
  // As high as wide. If it is random, every request has a seed; if not, seeds do nothing.
  Transform transform = {};
  bool is_strict = false;                                   // a damaged picture is an error
  std::uint64_t cache_bytes_max = std::uint64_t{1} << 29U;  // of decoded pictures
};

// Pictures in files, decoded when they are first wanted, and kept as long as there is room. A file
// that is damaged, or no picture, gives its place to the next one that is a picture, or is an error
// with its name if that is wanted. A file that cannot be read at all is always an error: it may be
// readable the next time, and the run would be another. `files` outlives this.
std::unique_ptr<PictureSource> pictures_in_folder(sys::FileSystem& files,
                                                  FolderPictureOptions options);

}  // namespace outlast::trainers
