#include "agent/stream_reader.h"

#include <string>
#include <utility>

#include "agent/stream_writer.h"
#include "base/error.h"
#include "base/result.h"
#include "checkpoint/read_object.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::agent {

StreamReader::StreamReader(store::ObjectStore& store, std::string prefix)
    : store_(store), prefix_(std::move(prefix)) {}

Result<std::string> StreamReader::next(const sys::CallContext& ctx) {
  // Not kSegmentMax: its last line may say what was left out.
  Result<std::string> bytes =
      checkpoint::read_object(store_, prefix_ + segment_name(next_), StreamWriter::kHeldMax, ctx);
  if (!bytes && bytes.error().code() == ErrorCode::kNotFound) return std::string();
  if (bytes) ++next_;
  return bytes;
}

}  // namespace outlast::agent
