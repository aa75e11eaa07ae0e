#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "sys/file_system.h"

namespace outlast::sim {

// Which of the syncs that its correctness needs a WalCounter makes: all, unless a bug is wanted.
struct WalSyncs {
  bool record = true;    // of the log, before an increment is acknowledged
  bool snapshot = true;  // of a snapshot, before it gets its name
  bool folder = true;    // of the folder, before the log that the snapshot replaces is emptied
};

// A number that survives: every increment is a checksummed record in a log, synced before it
// counts; now and then a snapshot takes the place of the log. The smallest program that needs files
// to keep their promises, and so the first that the simulator judges.
//
//   <folder>/counter.log       records {value: u64, crc32c of it: u32}, little endian
//   <folder>/counter.snapshot  one such record; replaced by rename
//
// After any error the object is unusable: open the counter again. Confined to its owner.
class WalCounter {
 public:
  // Recovers what is there: the snapshot, then the records that continue it. Whatever follows the
  // last of these was never acknowledged, and is dropped. The result is written as a new snapshot.
  static Result<std::unique_ptr<WalCounter>> open(sys::FileSystem& fs, std::string folder,
                                                  const WalSyncs& syncs = {});

  std::uint64_t value() const { return value_; }
  // The new value. When this returns it is durable.
  Result<std::uint64_t> increment();
  // Replaces the log by a snapshot.
  Result<void> compact();

 private:
  WalCounter(sys::FileSystem& fs, std::string folder, const WalSyncs& syncs)
      : fs_(fs), folder_(std::move(folder)), syncs_(syncs) {}
  Result<void> recover();

  sys::FileSystem& fs_;
  const std::string folder_;
  const WalSyncs syncs_;
  std::unique_ptr<sys::File> log_;
  std::uint64_t log_end_ = 0;
  std::uint64_t value_ = 0;
};

}  // namespace outlast::sim
