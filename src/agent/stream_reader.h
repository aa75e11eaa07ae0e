#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::agent {

// Reads what a StreamWriter writes, or has written, on whatever machine. Confined to its owner.
class StreamReader {
 public:
  // `prefix` ends with '/'.
  StreamReader(store::ObjectStore& store, std::string prefix);

  // The next piece; "" if there is nothing more so far. One request.
  Result<std::string> next(const sys::CallContext& ctx);

 private:
  store::ObjectStore& store_;
  const std::string prefix_;
  std::uint64_t next_ = 1;
};

}  // namespace outlast::agent
