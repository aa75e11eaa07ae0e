#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "sys/threads.h"
#include "trainers/images/picture_source.h"

namespace outlast::trainers {

// Which pictures make a batch.
struct WantedBatch {
  std::vector<std::uint32_t> numbers = {};  // not empty
  std::optional<std::uint64_t> seed = {};   // of all of them: see PictureRequest
};

struct PictureBatch {
  std::vector<std::uint32_t> wanted = {};
  std::vector<std::uint32_t> numbers = {};  // of those that came: others where one was damaged
  std::vector<std::uint8_t> rgb = {};       // picture after picture, as PictureSource has them
  std::vector<std::int64_t> labels = {};
};

struct PicturesAheadOptions {
  // A pure function of the batch's number, called by the owner of what is made with it.
  std::function<WantedBatch(std::uint64_t)> batch = {};
  std::uint64_t end = UINT64_MAX;  // nothing is prepared unasked from this batch on
  std::size_t ahead = 2;           // batches that are prepared, or being prepared, unasked
  // Threads that read beside the one that waits for a batch, which helps.
  unsigned workers = 1;
};

// Batches of pictures, read by worker threads ahead of the steps that want them. What a batch is
// depends on the source and on its number alone: the same bytes come whatever the number of
// workers, how far they are ahead, and where it was begun.
//
// There are never more than `ahead` + 1 batches in memory, of bytes, beside those that were taken.
//
// Confined to its owner, and may be destroyed at any time: that waits for the pictures that are
// being read. The source and the threads outlive it.
class PicturesAhead {
 public:
  PicturesAhead(PictureSource& pictures, sys::Threads& threads, PicturesAheadOptions options);
  PicturesAhead(const PicturesAhead&) = delete;
  PicturesAhead& operator=(const PicturesAhead&) = delete;
  ~PicturesAhead();

  // The batch of this number. Those that follow it are begun; if it does not follow the last one,
  // what was prepared is thrown away. The error is that of the first picture that has one; batches
  // after it can be had nevertheless.
  Result<PictureBatch> take(std::uint64_t number);

 private:
  struct Slot;

  void open_until(std::uint64_t end);
  void work(const std::stop_token& stop);
  // The first slot with pictures that nobody has begun; nothing: it is time to end.
  std::shared_ptr<Slot> wait_for_work(const std::stop_token& stop);
  // Reads one picture of the slot; false if all have been begun.
  bool read_one(Slot& slot);

  PictureSource& pictures_;
  const PicturesAheadOptions options_;
  const std::size_t picture_bytes_;
  std::uint64_t next_ = 0;                 // batch to be opened
  std::unique_ptr<sys::Monitor> monitor_;  // guards the queue and its slots' counters
  // Changed by the owner only, with the lock. Each slot is the queue's and of the threads that read
  // its pictures.
  std::deque<std::shared_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<sys::Thread>> workers_;  // last: they use the rest
};

}  // namespace outlast::trainers
