#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sys/file_system.h"
#include "trainers/images/image_folder.h"
#include "trainers/images/transforms.h"
#include "trainers/torch/image_batches.h"

namespace outlast::trainers {

struct FolderBatchOptions {
  std::string folder = {};
  std::vector<std::string> class_names = {};
  std::vector<ImageFile> files = {};  // not empty
  Transform training = {};            // of pictures that are read with a seed; as high as wide
  Transform evaluation = {};          // of those that are read without; of the same size
  bool is_strict = false;             // a damaged picture is an error
  std::uint64_t cache_bytes_max = std::uint64_t{1} << 29U;  // of decoded pictures
};

// Pictures in files, decoded by libtorch's threads when they are wanted, and kept as long as there
// is room. What is no picture, or damaged, gives its place to the next file that is one. `files`
// outlives this.
std::unique_ptr<ImageBatches> batches_in_folder(sys::FileSystem& files, FolderBatchOptions options);

}  // namespace outlast::trainers
