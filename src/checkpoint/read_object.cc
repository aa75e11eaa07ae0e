#include "checkpoint/read_object.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {

Result<WholeObject> read_whole_object(store::ObjectStore& store, const std::string& key,
                                      std::uint64_t bytes_max, const sys::CallContext& ctx) {
  std::string bytes;
  const store::ByteSink sink = [&](const store::ObjectInfo& object,
                                   BytesView piece) -> Result<void> {
    const std::uint64_t size = std::max<std::uint64_t>(object.size, bytes.size() + piece.size());
    if (size > bytes_max) {
      return Error(ErrorCode::kCorrupt, fmt::format("{} has {} bytes, more than anything that "
                                                    "belongs there",
                                                    store.url_of(key), size));
    }
    if (bytes.empty()) bytes.reserve(object.size);
    bytes += as_text(piece);
    return {};
  };
  OUTLAST_TRY_ASSIGN(store::ObjectInfo info, store.get(key, {}, sink, ctx));
  return WholeObject{.bytes = std::move(bytes), .info = std::move(info)};
}

Result<std::string> read_object(store::ObjectStore& store, const std::string& key,
                                std::uint64_t bytes_max, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(WholeObject object, read_whole_object(store, key, bytes_max, ctx));
  return std::move(object.bytes);
}

}  // namespace outlast::checkpoint
