#include "trainers/data/place_file.h"

#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/open/open_store.h"
#include "store/open/store_url.h"
#include "sys/file_ops.h"
#include "sys/world.h"

namespace outlast::trainers {
namespace {

bool is_url(std::string_view place) {
  return place.find("://") != std::string_view::npos;
}

// The store that holds the object, and its key there.
struct Object {
  std::unique_ptr<store::OpenedStore> store;
  std::string key;
};

Result<Object> object_at(sys::World& world, const std::string& place) {
  OUTLAST_TRY_ASSIGN(store::StoreUrl url, store::parse_store_url(place));
  std::string key(sys::base_name(url.path));
  if (url.path.empty() || key.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} names no object: a key has to follow the bucket", place));
  }
  url.path = url.path.substr(0, url.path.size() - key.size());
  if (url.path.size() > 1 && url.path.ends_with('/')) url.path.pop_back();
  OUTLAST_TRY_ASSIGN(auto store, store::open_store(url, world));
  return Object{.store = std::move(store), .key = std::move(key)};
}

}  // namespace

Result<std::string> read_place(sys::World& world, const std::string& place,
                               std::uint64_t bytes_max) {
  if (!is_url(place)) return sys::read_file(world.files, place, bytes_max);
  OUTLAST_TRY_ASSIGN(const Object object, object_at(world, place));
  std::string content;
  const auto take = [&](const store::ObjectInfo& info, BytesView piece) -> Result<void> {
    if (info.size > bytes_max) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} has {} bytes, and at most {} are read", place, info.size, bytes_max));
    }
    content += as_text(piece);
    return {};
  };
  OUTLAST_TRY(object.store->get(object.key, {}, take, {}));
  return content;
}

Result<void> write_place(sys::World& world, const std::string& place, std::string_view content) {
  if (!is_url(place)) {
    OUTLAST_TRY(sys::make_dirs(world.files, sys::parent_path(place)));
    return sys::write_file_atomically(world.files, place, as_bytes(content));
  }
  OUTLAST_TRY_ASSIGN(const Object object, object_at(world, place));
  OUTLAST_TRY(object.store->put(object.key, as_bytes(content), store::WriteIf::always(), {}));
  return {};
}

}  // namespace outlast::trainers
