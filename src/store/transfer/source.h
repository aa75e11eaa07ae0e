#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/encoding.h"
#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

namespace outlast::store {

// What is copied from: a file or an object, in the state in which it was opened. Thread-safe.
class Source {
 public:
  virtual ~Source() = default;
  // The path or URL, for messages.
  virtual const std::string& name() const = 0;
  virtual std::uint64_t size() const = 0;
  // Two openings with the same identity read the same bytes.
  virtual std::string identity() const = 0;
  // Of the whole, where it is known without reading it.
  virtual std::optional<std::uint32_t> crc32c() const = 0;
  // Fills all of `buffer` from `offset`, within the size. kConditionFailed if the source has
  // changed since it was opened, as far as that can be seen.
  virtual Result<void> read(std::span<std::byte> buffer, std::uint64_t offset,
                            const sys::CallContext& ctx) = 0;
  // The same bytes piece by piece, in order and each of them once, as they come.
  virtual Result<void> read_pieces(std::uint64_t offset, std::uint64_t length,
                                   const std::function<Result<void>(BytesView)>& sink,
                                   const sys::CallContext& ctx) = 0;
  // After the last read: kConditionFailed if what was read may be a mixture of two states.
  virtual Result<void> check_unchanged() = 0;
};

// A plain file, through symlinks.
Result<std::unique_ptr<Source>> open_file_source(sys::FileSystem& files, std::string path);
// An object in the version that `object` names. The store must outlive it.
std::unique_ptr<Source> make_object_source(ObjectStore& store, ObjectInfo object);

}  // namespace outlast::store
