#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/file_system.h"
#include "sys/threads.h"
#include "trainers/images/image_folder.h"
#include "trainers/images/transforms.h"

namespace outlast::trainers {

// What one step learns from.
struct ImageBatch {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::size_t count = 0;           // of images
  std::vector<float> pixels = {};  // image after image, each CHW, of the transform's size
  std::vector<std::uint16_t> labels = {};
  // Files that were not readable as pictures, each as often as it was met, and replaced.
  std::size_t skipped = 0;
};

struct ImageFeedOptions {
  std::string folder = {};
  std::vector<ImageFile> files = {};  // not empty
  std::size_t batch_size = 32;        // > 0
  Transform transform = {};
  std::uint64_t seed = 0;
  // In which order an epoch visits the files: a permutation of their indices, a pure function.
  // None: in the order that they have.
  std::function<std::vector<std::uint32_t>(std::uint64_t epoch)> order = {};
  // Whether the images that do not fill a batch at the end of an epoch make a shorter one; if not,
  // they are left out. Without it batch_size is at most files.size().
  bool keep_rest = false;
  std::uint64_t first_step = 0;
  std::uint64_t end_step = UINT64_MAX;  // nothing is prepared from here on
  unsigned workers = 1;                 // 0: the images are prepared in next()
  std::size_t batches_ahead = 3;        // how many are prepared or being prepared; > 0
  bool strict = false;                  // a file that is no picture is an error
};

// Batches of images, decoded ahead of the steps that want them. Batch N is a pure function of the
// files and the options, but for those that say how (workers, batches_ahead) and where to start and
// end: the same bytes come whatever the number of workers, and after any interruption. What is
// random about an image depends on seed, epoch and the file's index only.
//
// A file that is damaged, or no picture, gives its place to the next one in the epoch's order that
// is one. A file that cannot be read at all is always an error: it may be readable the next time,
// and the run would be another.
//
// Confined to its owner, which may be destroyed at any time: that waits for the images that are
// being decoded. The files and threads must outlive it.
class ImageFeed {
 public:
  ImageFeed(sys::FileSystem& files, sys::Threads& threads, ImageFeedOptions options);
  ImageFeed(const ImageFeed&) = delete;
  ImageFeed& operator=(const ImageFeed&) = delete;
  ~ImageFeed();

  std::uint64_t steps_per_epoch() const { return steps_per_epoch_; }

  // The batch of the next step, from first_step on. kInvalidArgument at end_step. An error names
  // the file, the first in the batch; the call after it gives the next step.
  Result<ImageBatch> next(const sys::CallContext& ctx);

 private:
  struct Slot;
  struct Task;

  void open_slots();
  void work(const std::stop_token& stop);
  std::optional<Task> take_task(const std::stop_token& stop);
  // Decodes one image into its place in the batch.
  void prepare(const Task& task);
  Result<std::size_t> write_image(Slot& slot, std::size_t image) const;

  sys::FileSystem& files_;
  const ImageFeedOptions options_;
  const std::uint64_t steps_per_epoch_;
  std::uint64_t next_step_;  // to be opened
  // Shared by the slots of one epoch.
  std::shared_ptr<const std::vector<std::uint32_t>> order_;
  std::uint64_t order_epoch_ = 0;
  std::unique_ptr<sys::Monitor> monitor_;  // guards the slots' counters and the queue
  std::deque<std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<sys::Thread>> workers_;  // last: they use the rest
};

}  // namespace outlast::trainers
