#include "agent/stream_reader.h"

#include <string>
#include <utility>

#include "agent/stream_writer.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::agent {

StreamReader::StreamReader(store::ObjectStore& store, std::string prefix)
    : store_(store), prefix_(std::move(prefix)) {}

Result<std::string> StreamReader::next(const sys::CallContext& ctx) {
  std::string bytes;
  const store::ByteSink sink = [&](const store::ObjectInfo&, BytesView piece) -> Result<void> {
    bytes += as_text(piece);
    return {};
  };
  const Result<store::ObjectInfo> got = store_.get(prefix_ + segment_name(next_), {}, sink, ctx);
  if (!got && got.error().code() == ErrorCode::kNotFound) return std::string();
  OUTLAST_TRY(got);
  ++next_;
  return bytes;
}

}  // namespace outlast::agent
