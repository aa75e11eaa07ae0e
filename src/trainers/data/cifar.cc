#include "trainers/data/cifar.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "trainers/data/data_file.h"
#include "trainers/data/image_set.h"

namespace outlast::trainers {
namespace {

constexpr std::size_t kCifarSide = 32;
constexpr std::size_t kCifarPixels = kCifarSide * kCifarSide * 3;

// What tells the two data sets apart.
struct CifarKind {
  std::string_view name;
  std::string_view unpacked;  // the archive's own folder
  std::string_view first;     // the file by which the folder is known
  std::string_view belongs;   // all files, in words
  std::string_view archive;
  std::string_view names;  // the file with the classes' names
  std::size_t classes;
  std::size_t labels;  // bytes before the pixels, of which the last counts
};

constexpr CifarKind kCifar10 = {
    .name = "CIFAR-10",
    .unpacked = "cifar-10-batches-bin",
    .first = "data_batch_1.bin",
    .belongs = "data_batch_1.bin to data_batch_5.bin, test_batch.bin and batches.meta.txt",
    .archive = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    .names = "batches.meta.txt",
    .classes = 10,
    .labels = 1};
constexpr CifarKind kCifar100 = {
    .name = "CIFAR-100",
    .unpacked = "cifar-100-binary",
    .first = "train.bin",
    .belongs = "train.bin, test.bin and fine_label_names.txt",
    .archive = "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
    .names = "fine_label_names.txt",
    .classes = 100,
    .labels = 2};

Result<std::string> find_cifar(sys::FileSystem& files, const std::string& folder,
                               const CifarKind& kind) {
  for (const std::string& place : {folder, sys::join_path(folder, kind.unpacked)}) {
    OUTLAST_TRY_ASSIGN(const bool there, is_data_file(files, sys::join_path(place, kind.first)));
    if (there) return place;
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("there is no {} in {}: put {} there, which come from {}, unpacked",
                           kind.name, folder, kind.belongs, kind.archive));
}

// The lines of the file that are not empty; numbers if there is no such file.
Result<std::vector<std::string>> read_class_names(sys::FileSystem& files, const std::string& folder,
                                                  const CifarKind& kind) {
  const std::string path = sys::join_path(folder, kind.names);
  OUTLAST_TRY_ASSIGN(const bool there, is_data_file(files, path));
  std::vector<std::string> names;
  if (!there) {
    for (std::size_t i = 0; i < kind.classes; ++i) names.push_back(std::to_string(i));
    return names;
  }
  OUTLAST_TRY_ASSIGN(const std::string text, sys::read_file(files, path, 1U << 20U));
  names = data_lines(text);
  if (names.size() == kind.classes) return names;
  return Error(
      ErrorCode::kCorrupt,
      fmt::format("{} has {} names of classes, and {} has {} classes: fetch it again from {}", path,
                  names.size(), kind.name, kind.classes, kind.archive));
}

Result<void> add_cifar_file(sys::FileSystem& files, const std::string& path, const CifarKind& kind,
                            ImageSet& set) {
  const std::size_t record = kind.labels + kCifarPixels;
  Result<std::string> read = sys::read_file(files, path, 1U << 30U);
  if (!read && read.error().code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} is missing: {} is {}, which come from {}, unpacked", path,
                             kind.name, kind.belongs, kind.archive));
  }
  OUTLAST_TRY_ASSIGN(const std::string bytes, std::move(read));
  if (bytes.empty() || bytes.size() % record != 0) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{} has {} bytes, which is no multiple of the {} of one {} record: "
                             "fetch it again from {}",
                             path, bytes.size(), record, kind.name, kind.archive));
  }
  const std::size_t count = bytes.size() / record;
  set.pixels.reserve(set.pixels.size() + count * kCifarPixels);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view one = std::string_view(bytes).substr(i * record, record);
    const auto label = static_cast<std::uint8_t>(one[kind.labels - 1]);
    if (label >= kind.classes) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("record {} of {} has the label {}, and {} has labels 0 to {}: fetch "
                               "it again from {}",
                               i, path, label, kind.name, kind.classes - 1, kind.archive));
    }
    set.labels.push_back(label);
    const std::string_view pixels = one.substr(kind.labels);
    set.pixels.insert(set.pixels.end(), pixels.begin(), pixels.end());
  }
  return {};
}

Result<ImageData> begin_cifar(sys::FileSystem& files, const std::string& folder,
                              const CifarKind& kind) {
  ImageData data;
  data.from = folder;
  OUTLAST_TRY_ASSIGN(std::vector<std::string> names, read_class_names(files, folder, kind));
  for (ImageSet* const set : {&data.train, &data.test}) {
    set->width = set->height = kCifarSide;
    set->channels = 3;
    set->class_names = names;
  }
  return data;
}

}  // namespace

Result<ImageData> read_cifar10(sys::FileSystem& files, const std::string& folder) {
  OUTLAST_TRY_ASSIGN(const std::string place, find_cifar(files, folder, kCifar10));
  OUTLAST_TRY_ASSIGN(ImageData data, begin_cifar(files, place, kCifar10));
  for (int batch = 1; batch <= 5; ++batch) {
    const std::string path = sys::join_path(place, fmt::format("data_batch_{}.bin", batch));
    OUTLAST_TRY(add_cifar_file(files, path, kCifar10, data.train));
  }
  OUTLAST_TRY(add_cifar_file(files, sys::join_path(place, "test_batch.bin"), kCifar10, data.test));
  return data;
}

Result<ImageData> read_cifar100(sys::FileSystem& files, const std::string& folder) {
  OUTLAST_TRY_ASSIGN(const std::string place, find_cifar(files, folder, kCifar100));
  OUTLAST_TRY_ASSIGN(ImageData data, begin_cifar(files, place, kCifar100));
  OUTLAST_TRY(add_cifar_file(files, sys::join_path(place, "train.bin"), kCifar100, data.train));
  OUTLAST_TRY(add_cifar_file(files, sys::join_path(place, "test.bin"), kCifar100, data.test));
  return data;
}

}  // namespace outlast::trainers
