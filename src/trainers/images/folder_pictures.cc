#include "trainers/images/folder_pictures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "trainers/data/order.h"
#include "trainers/images/decode.h"
#include "trainers/images/picture.h"
#include "trainers/images/picture_source.h"
#include "trainers/images/transforms.h"

namespace outlast::trainers {
namespace {

constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 28U;

// Whether it is the file's content that is wrong, and always will be.
bool is_no_picture(const Error& error) {
  return error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kInvalidArgument;
}

class FolderPictures : public PictureSource {
 public:
  FolderPictures(sys::FileSystem& files, FolderPictureOptions options)
      : files_(files), options_(std::move(options)), cache_(options_.files.size()) {
    OUTLAST_CHECK(!options_.files.empty(), "no files in {}", options_.folder);
  }

  std::uint32_t count() const override { return static_cast<std::uint32_t>(options_.files.size()); }
  std::size_t side() const override { return options_.transform.size.width; }
  const Normalisation& normalisation() const override { return options_.transform.normalisation; }
  const std::vector<std::string>& class_names() const override { return options_.class_names; }
  std::string name(std::uint32_t number) const override { return options_.files[number].path; }
  std::int64_t label(std::uint32_t number) const override { return options_.files[number].label; }

  Result<std::uint32_t> read(const PictureRequest& request, std::span<std::uint8_t> rgb) override {
    for (std::uint32_t tried = 0; tried < count(); ++tried) {
      const std::uint32_t number = (request.number + tried) % count();
      OUTLAST_TRY_ASSIGN(const std::shared_ptr<const Picture> picture, picture_of(number));
      if (!picture) continue;
      Random random(mix_seed({.a = request.seed.value_or(0), .b = number}));
      const Picture made = transformed(*picture, options_.transform, random);
      std::ranges::copy(made.rgb, rgb.begin());
      return number;
    }
    return Error(ErrorCode::kCorrupt,
                 fmt::format("none of the {} files in {} is readable as a picture", count(),
                             options_.folder));
  }

  std::optional<std::string> damage() const override {
    const MutexLock lock(mutex_);
    if (damaged_.empty()) return std::nullopt;
    const auto& [first, why] = *damaged_.begin();
    return fmt::format(
        "{} of {} pictures are damaged and were left out; the first: {}: {}; "
        "--strict refuses them",
        damaged_.size(), count(), name(first), why);
  }

 private:
  // Nothing if it is damaged and may be.
  Result<std::shared_ptr<const Picture>> picture_of(std::uint32_t number) {
    {
      const MutexLock lock(mutex_);
      if (cache_[number] || damaged_.contains(number)) return cache_[number];
    }
    const std::string path = sys::join_path(options_.folder, options_.files[number].path);
    OUTLAST_TRY_ASSIGN(const std::string bytes, sys::read_file(files_, path, kFileBytesMax));
    Result<Picture> decoded = decode_picture(as_bytes(bytes));
    if (decoded) return kept(number, *std::move(decoded));
    if (options_.is_strict || !is_no_picture(decoded.error())) {
      return decoded.error().while_doing("decode " + path);
    }
    const MutexLock lock(mutex_);
    damaged_.emplace(number, decoded.error().to_string());
    return std::shared_ptr<const Picture>();
  }

  std::shared_ptr<const Picture> kept(std::uint32_t number, Picture decoded) {
    auto picture = std::make_shared<const Picture>(std::move(decoded));
    const MutexLock lock(mutex_);
    // Another thread may have been as fast.
    if (!cache_[number] && cached_bytes_ + picture->rgb.size() <= options_.cache_bytes_max) {
      cached_bytes_ += picture->rgb.size();
      cache_[number] = picture;
    }
    return picture;
  }

  sys::FileSystem& files_;
  const FolderPictureOptions options_;
  mutable Mutex mutex_;
  // Each is the cache's and of the threads that make something of it.
  std::vector<std::shared_ptr<const Picture>> cache_ OUTLAST_GUARDED_BY(mutex_);
  std::uint64_t cached_bytes_ OUTLAST_GUARDED_BY(mutex_) = 0;
  // And what is wrong with each.
  std::map<std::uint32_t, std::string> damaged_ OUTLAST_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<PictureSource> pictures_in_folder(sys::FileSystem& files,
                                                  FolderPictureOptions options) {
  return std::make_unique<FolderPictures>(files, std::move(options));
}

}  // namespace outlast::trainers
