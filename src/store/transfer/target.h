#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/transfer/source.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"

namespace outlast::store {

// A part that an earlier, interrupted copy has left.
struct StoredPart {
  std::uint64_t index = 0;
  std::optional<std::uint32_t> crc32c = {};  // where it is known
};

// The bounds within which a target takes its parts; as in Properties.
struct PartBounds {
  std::uint64_t part_bytes_min = 1;
  std::uint64_t part_granule = 1;
  std::uint64_t parts_max = UINT64_MAX;
  bool in_order = false;
};

// What is copied to: a file or an object, which appears whole or not at all. Either put(), or
// begin(), copy_part() for each part, and finish(). copy_part() is thread-safe; the rest belongs to
// one thread at a time. Destroying it unfinished leaves what a later copy can go on with.
class Target {
 public:
  virtual ~Target() = default;
  virtual const std::string& name() const = 0;
  virtual PartBounds bounds() const = 0;
  virtual Result<void> put(BytesView whole, const sys::CallContext& ctx) = 0;
  // The parts that are already there, from a copy of a source with the same identity and plan.
  virtual Result<std::vector<StoredPart>> begin(const UploadPlan& plan,
                                                const std::string& source_identity,
                                                const sys::CallContext& ctx) = 0;
  // Copies one part of the plan; the crc32c of what was read. `buffer` is the caller's memory, of
  // any size: whoever needs the part as a whole makes it fit.
  virtual Result<std::uint32_t> copy_part(std::uint64_t index, Source& source, Bytes& buffer,
                                          const sys::CallContext& ctx) = 0;
  // Publishes it. `crc32c` is that of the whole as it was read; kCorrupt if the target keeps
  // another. True if the target's own checksum was compared with it.
  virtual Result<bool> finish(std::uint32_t crc32c, const sys::CallContext& ctx) = 0;
};

// A plain file. Parts go to "<path>.outlast-part" and a journal beside it, from which an
// interrupted copy goes on: parts that the journal names are read back and believed if their
// checksum is right. Folders above it are made. A file in parts is on the disk before it gets its
// name; a small one is written as cp writes it, without waiting for the disk.
//
// Only one copy at a time can go to these two files: begin() locks the journal, and is kUnavailable
// if another copy, of whatever process, has it. The lock ends with its holder, also when that is
// killed. A small one goes to "<path>.outlast-new-<n>" of its own, so that of many at once the last
// one stands, whole; one that is killed leaves that file behind.
std::unique_ptr<Target> make_file_target(sys::FileSystem& files, sys::Clock& clock,
                                         std::string path);

// An object. The upload's token is kept in a file in `state_folder`, private to the user, until it
// has completed; "" keeps none, and nothing can be resumed.
std::unique_ptr<Target> make_object_target(ObjectStore& store, sys::FileSystem& files,
                                           std::string key, std::string state_folder);

}  // namespace outlast::store
