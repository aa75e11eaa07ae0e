#include "trainers/data/mnist.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "trainers/data/data_file.h"
#include "trainers/data/image_set.h"

namespace outlast::trainers {
namespace {

constexpr std::size_t kMnistClasses = 10;
constexpr std::uint32_t kSideMax = 4096;

std::uint32_t big_endian(std::string_view bytes, std::size_t offset) {
  std::uint32_t number = 0;
  for (const char byte : bytes.substr(offset, 4)) {
    number = number << 8U | static_cast<std::uint8_t>(byte);
  }
  return number;
}

// One file: the two with a dash or a dot between them.
struct IdxName {
  std::string part;  // "train-images"
  std::string kind;  // "idx3-ubyte"
};

Result<std::string> find_idx(sys::FileSystem& files, const std::string& folder,
                             const IdxName& name) {
  std::string packed;
  for (const std::string& place : {folder, sys::join_path(folder, "MNIST/raw")}) {
    for (const char between : {'-', '.'}) {
      std::string path =
          sys::join_path(place, fmt::format("{}{}{}", name.part, between, name.kind));
      OUTLAST_TRY_ASSIGN(const bool there, is_data_file(files, path));
      if (there) return path;
      OUTLAST_TRY_ASSIGN(const bool gz, is_data_file(files, path + ".gz"));
      if (gz && packed.empty()) packed = path + ".gz";
    }
  }
  if (!packed.empty()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} is compressed: unpack it with gunzip", packed));
  }
  return Error(
      ErrorCode::kNotFound,
      fmt::format("there is no {}-{} in {}: put train-images-idx3-ubyte, train-labels-idx1-ubyte, "
                  "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte there, which come from "
                  "https://ossci-datasets.s3.amazonaws.com/mnist/, unpacked with gunzip",
                  name.part, name.kind, folder));
}

Error damaged(const std::string& path, const std::string& what) {
  return {ErrorCode::kCorrupt, fmt::format("{} {}: fetch it again", path, what)};
}

// The file's bytes, of which `dimensions` sizes stand behind the first four.
Result<std::string> read_idx(sys::FileSystem& files, const std::string& path,
                             std::uint32_t dimensions) {
  OUTLAST_TRY_ASSIGN(std::string bytes, sys::read_file(files, path, 1U << 30U));
  const std::size_t header = 4 + 4 * std::size_t{dimensions};
  if (bytes.size() < header) {
    return damaged(path,
                   fmt::format("has {} bytes, and its header alone has {}", bytes.size(), header));
  }
  const std::uint32_t magic = 0x800U + dimensions;
  if (big_endian(bytes, 0) != magic) {
    return damaged(
        path, fmt::format("begins with {:08x} instead of {:08x}", big_endian(bytes, 0), magic));
  }
  return bytes;
}

Result<void> read_pictures(const std::string& path, std::string_view bytes, ImageSet& set) {
  const std::size_t count = big_endian(bytes, 4);
  const std::uint32_t height = big_endian(bytes, 8);
  const std::uint32_t width = big_endian(bytes, 12);
  if (height == 0 || width == 0 || height > kSideMax || width > kSideMax) {
    return damaged(path, fmt::format("says that its pictures have {}x{} pixels", width, height));
  }
  const std::size_t expected = 16 + count * width * height;
  if (bytes.size() != expected) {
    return damaged(path, fmt::format("has {} bytes, and {} pictures of {}x{} pixels are {}",
                                     bytes.size(), count, width, height, expected));
  }
  set.width = width;
  set.height = height;
  set.channels = 1;
  set.pixels.assign(bytes.begin() + 16, bytes.end());
  return {};
}

Result<ImageSet> read_half(sys::FileSystem& files, const std::string& folder,
                           const std::string& half) {
  ImageSet set;
  OUTLAST_TRY_ASSIGN(const std::string pictures_path,
                     find_idx(files, folder, {.part = half + "-images", .kind = "idx3-ubyte"}));
  OUTLAST_TRY_ASSIGN(const std::string labels_path,
                     find_idx(files, folder, {.part = half + "-labels", .kind = "idx1-ubyte"}));
  OUTLAST_TRY_ASSIGN(const std::string pictures, read_idx(files, pictures_path, 3));
  OUTLAST_TRY(read_pictures(pictures_path, pictures, set));
  OUTLAST_TRY_ASSIGN(const std::string labels, read_idx(files, labels_path, 1));
  const std::size_t count = big_endian(labels, 4);
  if (labels.size() != 8 + count) {
    return damaged(labels_path, fmt::format("has {} bytes, and {} labels are {}", labels.size(),
                                            count, 8 + count));
  }
  if (count != big_endian(pictures, 4)) {
    return damaged(labels_path, fmt::format("has {} labels for the {} pictures of {}", count,
                                            big_endian(pictures, 4), pictures_path));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::uint8_t>(labels[8 + i]);
    if (label >= kMnistClasses) {
      return damaged(labels_path,
                     fmt::format("has the label {} in record {}, and labels are 0 to 9", label, i));
    }
    set.labels.push_back(label);
  }
  for (std::size_t i = 0; i < kMnistClasses; ++i) set.class_names.push_back(std::to_string(i));
  return set;
}

}  // namespace

Result<ImageData> read_mnist(sys::FileSystem& files, const std::string& folder) {
  ImageData data;
  data.from = folder;
  OUTLAST_TRY_ASSIGN(data.train, read_half(files, folder, "train"));
  OUTLAST_TRY_ASSIGN(data.test, read_half(files, folder, "t10k"));
  if (data.train.width == data.test.width && data.train.height == data.test.height) return data;
  return Error(
      ErrorCode::kCorrupt,
      fmt::format("the pictures in {} have {}x{} pixels to train and {}x{} to test: they "
                  "are of two data sets, so fetch them again",
                  folder, data.train.width, data.train.height, data.test.width, data.test.height));
}

}  // namespace outlast::trainers
