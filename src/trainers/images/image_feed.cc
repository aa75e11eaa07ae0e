#include "trainers/images/image_feed.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/threads.h"
#include "trainers/data/order.h"
#include "trainers/images/decode.h"
#include "trainers/images/image_folder.h"
#include "trainers/images/picture.h"
#include "trainers/images/transforms.h"

namespace outlast::trainers {
namespace {

constexpr std::uint64_t kFileBytesMax = 1U << 30U;

std::uint64_t steps_in_epoch(const ImageFeedOptions& options) {
  const std::size_t rest = options.keep_rest ? options.batch_size - 1 : 0;
  return (options.files.size() + rest) / options.batch_size;
}

std::size_t floats_per_image(const ImageFeedOptions& options) {
  return options.transform.size.width * options.transform.size.height * 3;
}

// Whether it is the file's content that is wrong, and always will be.
bool is_no_picture(const Error& error) {
  return error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kInvalidArgument;
}

}  // namespace

// A batch that is being made. Images are written to their places without the lock; the counters
// are the monitor's.
struct ImageFeed::Slot {
  ImageBatch batch;
  std::shared_ptr<const std::vector<std::uint32_t>> order;  // with the other slots of the epoch
  std::size_t begin = 0;                                    // in the order
  std::size_t taken = 0;
  std::size_t ended = 0;
  std::optional<Error> error;
  std::size_t error_image = 0;  // the first that has one
};

struct ImageFeed::Task {
  Slot* slot = nullptr;  // stays until all of its images have ended
  std::size_t image = 0;
};

ImageFeed::ImageFeed(sys::FileSystem& files, sys::Threads& threads, ImageFeedOptions options)
    : files_(files),
      options_(std::move(options)),
      steps_per_epoch_(steps_in_epoch(options_)),
      next_step_(options_.first_step),
      monitor_(threads.make_monitor()) {
  OUTLAST_CHECK(steps_per_epoch_ > 0 && options_.batches_ahead > 0,
                "{} files in batches of {}, {} ahead", options_.files.size(), options_.batch_size,
                options_.batches_ahead);
  for (unsigned i = 0; i < options_.workers; ++i) {
    workers_.push_back(
        threads.spawn("images", [this](const std::stop_token& stop) { work(stop); }));
  }
  if (options_.workers > 0) open_slots();
}

ImageFeed::~ImageFeed() = default;

void ImageFeed::open_slots() {
  const std::size_t ahead = options_.workers == 0 ? 1 : options_.batches_ahead;
  while (slots_.size() < ahead && next_step_ < options_.end_step) {
    auto slot = std::make_unique<Slot>();
    slot->batch.step = next_step_;
    slot->batch.epoch = next_step_ / steps_per_epoch_;
    if (!order_ || order_epoch_ != slot->batch.epoch) {
      std::vector<std::uint32_t> order(options_.files.size());
      std::iota(order.begin(), order.end(), 0U);
      if (options_.order) order = options_.order(slot->batch.epoch);
      OUTLAST_CHECK(order.size() == options_.files.size(), "an order of {} for {} files",
                    order.size(), options_.files.size());
      order_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(order));
      order_epoch_ = slot->batch.epoch;
    }
    slot->order = order_;
    slot->begin = next_step_ % steps_per_epoch_ * options_.batch_size;
    slot->batch.count = std::min(options_.batch_size, options_.files.size() - slot->begin);
    slot->batch.pixels.resize(slot->batch.count * floats_per_image(options_));
    slot->batch.labels.resize(slot->batch.count);
    ++next_step_;
    const std::unique_lock lock(*monitor_);
    slots_.push_back(std::move(slot));
    monitor_->notify_all();
  }
}

std::optional<ImageFeed::Task> ImageFeed::take_task(const std::stop_token& stop) {
  const std::unique_lock lock(*monitor_);
  while (true) {
    if (monitor_->caller_is_gone() || stop.stop_requested()) return std::nullopt;
    for (const std::unique_ptr<Slot>& slot : slots_) {
      if (slot->taken < slot->batch.count) return Task{.slot = slot.get(), .image = slot->taken++};
    }
    if (monitor_->wait({.stop = stop}) == sys::Woken::kStopped) return std::nullopt;
  }
}

void ImageFeed::work(const std::stop_token& stop) {
  while (const std::optional<Task> task = take_task(stop)) prepare(*task);
}

void ImageFeed::prepare(const Task& task) {
  Slot& slot = *task.slot;
  const Result<std::size_t> skipped = write_image(slot, task.image);
  const std::unique_lock lock(*monitor_);
  if (skipped) {
    slot.batch.skipped += *skipped;
  } else if (!slot.error || task.image < slot.error_image) {
    slot.error = skipped.error();
    slot.error_image = task.image;
  }
  if (++slot.ended == slot.batch.count) monitor_->notify_all();
}

Result<std::size_t> ImageFeed::write_image(Slot& slot, std::size_t image) const {
  const std::vector<std::uint32_t>& order = *slot.order;
  for (std::size_t tried = 0; tried < order.size(); ++tried) {
    const std::uint32_t index = order[(slot.begin + image + tried) % order.size()];
    const ImageFile& file = options_.files[index];
    const std::string path = sys::join_path(options_.folder, file.path);
    OUTLAST_TRY_ASSIGN(const std::string bytes, sys::read_file(files_, path, kFileBytesMax));
    const Result<Picture> picture = decode_picture(
        as_bytes(bytes), {.shorter_side_min = shorter_side_wanted(options_.transform)});
    if (!picture) {
      if (is_no_picture(picture.error()) && !options_.strict) continue;
      return picture.error().while_doing(fmt::format("read the picture {}", path));
    }
    Random random(mix_seed({.a = options_.seed, .b = slot.batch.epoch, .c = index}));
    write_normalised(transformed(*picture, options_.transform, random),
                     options_.transform.normalisation,
                     slot.batch.pixels.data() + image * floats_per_image(options_));
    slot.batch.labels[image] = file.label;
    return tried;
  }
  return Error(ErrorCode::kCorrupt,
               fmt::format("none of the {} files in {} is readable as a picture", order.size(),
                           options_.folder));
}

Result<ImageBatch> ImageFeed::next(const sys::CallContext& ctx) {
  open_slots();
  if (slots_.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("there is no batch for step {}: it is the end", options_.end_step));
  }
  if (options_.workers == 0) {
    Slot& slot = *slots_.front();
    while (slot.taken < slot.batch.count) prepare({.slot = &slot, .image = slot.taken++});
  }
  std::unique_ptr<Slot> slot;
  {
    const std::unique_lock lock(*monitor_);
    while (slots_.front()->ended < slots_.front()->batch.count) {
      if (monitor_->caller_is_gone()) return Error(ErrorCode::kCancelled, "this machine is gone");
      const sys::Woken woken = monitor_->wait(ctx);
      if (woken == sys::Woken::kStopped)
        return Error(ErrorCode::kCancelled, "stopped while waiting");
      if (woken == sys::Woken::kDeadline) {
        return Error(ErrorCode::kDeadlineExceeded, "no batch of images came in time");
      }
    }
    slot = std::move(slots_.front());
    slots_.pop_front();
  }
  // What comes next is begun now, not when it is asked for.
  if (options_.workers > 0) open_slots();
  if (const std::optional<Error>& error = slot->error) return *error;
  return std::move(slot->batch);
}

}  // namespace outlast::trainers
