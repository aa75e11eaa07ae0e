#pragma once

#include <cstdint>

#include "base/mutex.h"
#include "base/time.h"
#include "checkpoint/writer.h"

namespace outlast::checkpoint {

// Decides whether compressing makes a save faster: it does while all workers together shrink bytes
// faster than the store takes them. Both rates are measured as the save goes on. Thread-safe.
class CompressionPolicy {
 public:
  // `rate` as it was known before; `workers` is how many encode at once.
  CompressionPolicy(Compression wish, LinkRate rate, unsigned workers);

  bool wanted() const;
  // A chunk of so many bytes took a worker so long to encode.
  void encoded(std::uint64_t raw_bytes, Duration took);
  void upload_began(MonoTime now);
  void upload_ended(std::uint64_t bytes, MonoTime now);
  LinkRate rate() const;

 private:
  const Compression wish_;
  const double workers_;
  mutable Mutex mutex_;
  double link_rate_ OUTLAST_GUARDED_BY(mutex_) = 0;    // before this save; 0: not known
  double encode_rate_ OUTLAST_GUARDED_BY(mutex_) = 0;  // of one worker
  unsigned uploads_ OUTLAST_GUARDED_BY(mutex_) = 0;
  MonoTime uploading_since_ OUTLAST_GUARDED_BY(mutex_) = {};
  Duration uploading_ OUTLAST_GUARDED_BY(mutex_) = {};  // with one upload or more on its way
  std::uint64_t uploaded_ OUTLAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace outlast::checkpoint
