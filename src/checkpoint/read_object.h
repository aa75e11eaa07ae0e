#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {

// A whole object, as bytes in a string. kCorrupt if it has more than `bytes_max`: what is expected
// there is never that large. Otherwise as ObjectStore::get().
Result<std::string> read_object(store::ObjectStore& store, const std::string& key,
                                std::uint64_t bytes_max, const sys::CallContext& ctx);

// The same with what the store says of it.
struct WholeObject {
  std::string bytes = {};
  store::ObjectInfo info = {};
};
Result<WholeObject> read_whole_object(store::ObjectStore& store, const std::string& key,
                                      std::uint64_t bytes_max, const sys::CallContext& ctx);

// Whether an error speaks of the object that was read, damaged or of a newer format, and not of the
// way to it: another object may then be right.
inline bool is_damage(const Error& error) {
  return error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kInvalidArgument;
}

}  // namespace outlast::checkpoint
