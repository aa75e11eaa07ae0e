#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "checkpoint/chunking.h"
#include "checkpoint/tree_scan.h"
#include "checkpoint/writer.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {

// The bytes of one file or region, cut into chunks. Thread-safe.
class SaveSource {
 public:
  virtual ~SaveSource() = default;
  virtual const std::vector<ChunkPlan>& plan() const = 0;
  // The bytes of a chunk; in `buffer` if they are nowhere else.
  virtual Result<BytesView> read(const ChunkPlan& chunk, Bytes& buffer) = 0;
  // After the last read: kConditionFailed if what was read may be a mixture of two states.
  // Otherwise what the item of the manifest must say of it.
  virtual Result<void> describe(Item& item) = 0;
};

Result<std::unique_ptr<SaveSource>> open_file_to_save(sys::FileSystem& files, sys::Clock& clock,
                                                      const std::string& path);
std::unique_ptr<SaveSource> make_region_to_save(const Region& region);

}  // namespace outlast::checkpoint
