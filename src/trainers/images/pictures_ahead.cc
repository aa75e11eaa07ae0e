#include "trainers/images/pictures_ahead.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/threads.h"
#include "trainers/images/picture_source.h"

namespace outlast::trainers {

// A batch that is being made. Each picture is written to its place without the lock, by whoever has
// begun it; what is below `batch` is the monitor's. When all have ended the batch is its owner's:
// a worker that comes too late sees by `count` that there is nothing left.
struct PicturesAhead::Slot {
  std::uint64_t number = 0;
  std::optional<std::uint64_t> seed = {};
  std::size_t count = 0;  // of pictures
  PictureBatch batch = {};
  std::size_t begun = 0;
  std::size_t ended = 0;
  std::optional<Error> error = {};
  std::size_t error_at = 0;  // the first picture that has one
};

PicturesAhead::PicturesAhead(PictureSource& pictures, sys::Threads& threads,
                             PicturesAheadOptions options)
    : pictures_(pictures),
      options_(std::move(options)),
      picture_bytes_(pictures.side() * pictures.side() * 3),
      monitor_(threads.make_monitor()) {
  for (unsigned i = 0; i < options_.workers; ++i) {
    workers_.push_back(
        threads.spawn("pictures", [this](const std::stop_token& stop) { work(stop); }));
  }
}

PicturesAhead::~PicturesAhead() = default;

void PicturesAhead::open_until(std::uint64_t end) {
  for (; next_ < end; ++next_) {
    WantedBatch wanted = options_.batch(next_);
    OUTLAST_CHECK(!wanted.numbers.empty(), "nothing is in batch {}", next_);
    auto slot = std::make_shared<Slot>();
    slot->number = next_;
    slot->seed = wanted.seed;
    slot->batch.wanted = std::move(wanted.numbers);
    slot->count = slot->batch.wanted.size();
    slot->batch.numbers.resize(slot->count);
    slot->batch.rgb.resize(slot->count * picture_bytes_);
    slot->batch.labels.resize(slot->count);
    const std::unique_lock lock(*monitor_);
    slots_.push_back(std::move(slot));
    monitor_->notify_all();
  }
}

void PicturesAhead::work(const std::stop_token& stop) {
  while (const std::shared_ptr<Slot> slot = wait_for_work(stop)) read_one(*slot);
}

std::shared_ptr<PicturesAhead::Slot> PicturesAhead::wait_for_work(const std::stop_token& stop) {
  const std::unique_lock lock(*monitor_);
  while (!monitor_->caller_is_gone() && !stop.stop_requested()) {
    for (const std::shared_ptr<Slot>& slot : slots_) {
      if (slot->begun < slot->count) return slot;
    }
    monitor_->wait({.stop = stop});
  }
  return nullptr;
}

bool PicturesAhead::read_one(Slot& slot) {
  std::size_t at = 0;
  {
    const std::unique_lock lock(*monitor_);
    if (slot.begun == slot.count) return false;
    at = slot.begun++;
  }
  PictureBatch& batch = slot.batch;
  const Result<std::uint32_t> number =
      pictures_.read({.number = batch.wanted[at], .seed = slot.seed},
                     std::span(batch.rgb).subspan(at * picture_bytes_, picture_bytes_));
  if (number) {
    batch.numbers[at] = *number;
    batch.labels[at] = pictures_.label(*number);
  }
  const std::unique_lock lock(*monitor_);
  if (!number && (!slot.error || at < slot.error_at)) {
    slot.error = number.error();
    slot.error_at = at;
  }
  if (++slot.ended == slot.count) monitor_->notify_all();
  return true;
}

Result<PictureBatch> PicturesAhead::take(std::uint64_t number) {
  if (slots_.empty() || slots_.front()->number != number) {
    const std::unique_lock lock(*monitor_);
    slots_.clear();
    next_ = number;
  }
  open_until(number + 1);
  // Before anybody waits: they come after this one in the queue.
  if (number < options_.end) {
    open_until(number + 1 + std::min<std::uint64_t>(options_.ahead, options_.end - number - 1));
  }
  const std::shared_ptr<Slot> slot = slots_.front();
  while (read_one(*slot)) {
  }
  const std::unique_lock lock(*monitor_);
  while (slot->ended < slot->count) {
    if (monitor_->caller_is_gone()) return Error(ErrorCode::kCancelled, "this machine is gone");
    monitor_->wait({});
  }
  slots_.pop_front();
  if (std::optional<Error>& error = slot->error) return *std::move(error);
  return std::move(slot->batch);
}

}  // namespace outlast::trainers
