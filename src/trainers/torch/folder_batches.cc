#include "trainers/torch/folder_batches.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/encoding.h"
#include "base/random.h"
#include "base/result.h"
#include "sys/file_ops.h"
#include "trainers/data/order.h"
#include "trainers/images/decode.h"

namespace outlast::trainers {

namespace {

constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 28U;

class FolderBatches : public ImageBatches {
 public:
  FolderBatches(sys::FileSystem& files, FolderBatchOptions options)
      : files_(files),
        options_(std::move(options)),
        training_table_(norm_of(options_.training)),
        evaluation_table_(norm_of(options_.evaluation)),
        cache_(options_.files.size()) {
    OUTLAST_CHECK(!options_.files.empty(), "no files in {}", options_.folder);
  }

  std::uint32_t count() const override { return static_cast<std::uint32_t>(cache_.size()); }
  std::size_t side() const override { return options_.training.size.width; }
  const std::vector<std::string>& class_names() const override { return options_.class_names; }
  std::string name(std::uint32_t number) const override { return options_.files[number].path; }

  Result<void> read(std::span<const std::uint32_t> numbers, std::optional<std::uint64_t> seed,
                    const BatchPlace& place) override {
    std::vector<Prepared> prepared(numbers.size());
    const auto count = static_cast<std::int64_t>(numbers.size());
    at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        prepared[at] = prepare(numbers[at], seed, pixels_of(place, at));
      }
    });
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (prepared[i].error) return *std::move(prepared[i].error);
      place.labels[i] = options_.files[prepared[i].number].label;
      keep(prepared[i].number, std::move(prepared[i].decoded));
    }
    return {};
  }

 private:
  struct Prepared {
    std::uint32_t number = 0;        // that it became
    std::optional<Picture> decoded;  // if it was not in the cache
    std::optional<Error> error;
  };

  static ChannelNorm norm_of(const Transform& transform) {
    return {.mean = transform.normalisation.mean, .deviation = transform.normalisation.std};
  }

  std::span<float> pixels_of(const BatchPlace& place, std::size_t at) const {
    const std::size_t size = side() * side() * 3;
    return place.pixels.subspan(at * size, size);
  }

  // Called by several threads: changes nothing of ours.
  Prepared prepare(std::uint32_t wanted, std::optional<std::uint64_t> seed,
                   std::span<float> pixels) const {
    Prepared prepared{.number = wanted, .decoded = {}, .error = {}};
    for (std::uint32_t tried = 0; tried < count(); ++tried) {
      prepared.number = (wanted + tried) % count();
      const Picture* picture = cache_[prepared.number] ? &*cache_[prepared.number] : nullptr;
      if (picture == nullptr) {
        Result<Picture> decoded = decode(prepared.number);
        if (!decoded) {
          prepared.error = std::move(decoded).error();
          if (options_.is_strict || !is_damage(prepared.error->code())) return prepared;
          continue;
        }
        picture = &prepared.decoded.emplace(*std::move(decoded));
      }
      prepared.error = std::nullopt;
      put(*picture, seed, prepared.number, pixels);
      return prepared;
    }
    return prepared;
  }

  static bool is_damage(ErrorCode code) {
    return code == ErrorCode::kCorrupt || code == ErrorCode::kInvalidArgument;
  }

  Result<Picture> decode(std::uint32_t number) const {
    const std::string path = options_.folder + "/" + options_.files[number].path;
    OUTLAST_TRY_ASSIGN(const std::string bytes, sys::read_file(files_, path, kFileBytesMax));
    return decode_picture(as_bytes(bytes), {}).while_doing("decode " + path);
  }

  void put(const Picture& picture, std::optional<std::uint64_t> seed, std::uint32_t number,
           std::span<float> pixels) const {
    Random random(mix_seed({.a = seed.value_or(0), .b = number}));
    const Picture made =
        transformed(picture, seed ? options_.training : options_.evaluation, random);
    const NormTable& table = seed ? training_table_ : evaluation_table_;
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = table(i % 3, made.rgb[i]);
  }

  void keep(std::uint32_t number, std::optional<Picture> decoded) {
    if (!decoded || cache_[number]) return;
    if (cached_bytes_ + decoded->rgb.size() > options_.cache_bytes_max) return;
    cached_bytes_ += decoded->rgb.size();
    cache_[number] = std::move(decoded);
  }

  sys::FileSystem& files_;
  const FolderBatchOptions options_;
  const NormTable training_table_;
  const NormTable evaluation_table_;
  std::vector<std::optional<Picture>> cache_;
  std::uint64_t cached_bytes_ = 0;
};

}  // namespace

std::unique_ptr<ImageBatches> batches_in_folder(sys::FileSystem& files,
                                                FolderBatchOptions options) {
  return std::make_unique<FolderBatches>(files, std::move(options));
}

}  // namespace outlast::trainers
