#include "trainers/data/fetch.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/open/open_store.h"
#include "store/open/store_url.h"
#include "store/transfer/copier.h"
#include "store/transfer/lister.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::trainers {
namespace {

std::string_view without_last_slashes(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

// Of this URL alone: two URLs never share a folder, whatever characters they have.
std::string folder_name(std::string_view url) {
  const std::string hash = sha256(as_bytes(url)).hex().substr(0, 12);
  return fmt::format("{}-{}", sys::base_name(url), hash);
}

bool is_whole(sys::FileSystem& files, const std::string& path, std::uint64_t size) {
  const Result<sys::FileInfo> info = files.stat(path);
  return info && info->type == sys::FileType::kFile && info->size == size;
}

// Copies objects of one store to files. Confined to its owner.
class Fetcher {
 public:
  Fetcher(store::ObjectStore& store, sys::World& world, std::string folder)
      : store_(store),
        world_(world),
        folder_(std::move(folder)),
        copier_(world.threads, world.clock, {}) {}

  // Everything in the store; how many objects that is.
  Result<std::uint64_t> add_all(const sys::CallContext& ctx) {
    store::Lister lister(store_, world_.threads, {});
    std::uint64_t count = 0;
    while (true) {
      OUTLAST_TRY_ASSIGN(std::optional<store::ListPage> page, lister.next(ctx));
      if (!page) return count;
      for (store::ObjectInfo& object : page->objects) {
        // Some tools mark folders by empty objects, which are no files.
        if (object.key.ends_with('/')) continue;
        OUTLAST_TRY(store::check_key(object.key)
                        .while_doing(fmt::format("copy {}", store_.url_of(object.key))));
        ++count;
        OUTLAST_TRY(add(std::move(object), ctx));
      }
    }
  }

  Result<void> add(store::ObjectInfo object, const sys::CallContext& ctx) {
    const std::string path = sys::join_path(folder_, object.key);
    if (is_whole(world_.files, path, object.size)) return {};
    return copier_.add(
        {.open_source = [this, object = std::move(object)](
                            const sys::CallContext&) -> Result<std::unique_ptr<store::Source>> {
           return store::make_object_source(store_, object);
         },
         .make_target =
             [this, path] { return store::make_file_target(world_.files, world_.clock, path); }},
        ctx);
  }

  Result<void> finish(const FetchProgress& progress, const sys::CallContext& ctx) {
    OUTLAST_TRY(copier_.finish(progress, ctx));
    return {};
  }

 private:
  store::ObjectStore& store_;
  sys::World& world_;
  const std::string folder_;
  store::Copier copier_;  // last: its workers use the rest
};

// Everything below the URL; false if that is nothing.
Result<bool> fetch_all(const store::StoreUrl& url, sys::World& world, const std::string& folder,
                       const FetchProgress& progress, const sys::CallContext& ctx) {
  // A folder's store refuses to be a file.
  const Result<sys::FileInfo> info = world.files.stat(url.path);
  const bool is_folder = !info || info->type != sys::FileType::kFile;
  if (url.kind == store::StoreKind::kFolder && !is_folder) return false;
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<store::OpenedStore> store, open_store(url, world));
  Fetcher fetcher(*store, world, folder);
  const Result<std::uint64_t> count = fetcher.add_all(ctx);
  if (!count && count.error().code() == ErrorCode::kNotFound) return false;
  if (!count) return count.error();
  OUTLAST_TRY(fetcher.finish(progress, ctx));
  return *count > 0;
}

// The one object that the URL names; nullopt if it names none.
Result<std::optional<std::string>> fetch_one(const store::StoreUrl& url, sys::World& world,
                                             const std::string& folder,
                                             const FetchProgress& progress,
                                             const sys::CallContext& ctx) {
  const std::size_t slash = url.path.rfind('/');
  const std::string key = url.path.substr(slash == std::string::npos ? 0 : slash + 1);
  if (key.empty()) return std::nullopt;
  store::StoreUrl above = url;
  above.path = slash == std::string::npos ? "" : url.path.substr(0, slash == 0 ? 1 : slash);
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<store::OpenedStore> store, open_store(above, world));
  Result<store::ObjectInfo> object = store->head(key, ctx);
  if (!object && object.error().code() == ErrorCode::kNotFound) return std::nullopt;
  if (!object) return object.error();
  Fetcher fetcher(*store, world, folder);
  OUTLAST_TRY(fetcher.add(*std::move(object), ctx));
  OUTLAST_TRY(fetcher.finish(progress, ctx));
  return sys::join_path(folder, key);
}

}  // namespace

std::string copy_of(const DataPlace& place) {
  return sys::join_path(place.cache_folder, folder_name(without_last_slashes(place.from)));
}

Result<std::string> local_data(const DataPlace& place, sys::World& world,
                               const FetchProgress& progress, const sys::CallContext& ctx) {
  if (place.from.find("://") == std::string::npos) return place.from;
  const std::string_view named = without_last_slashes(place.from);
  OUTLAST_TRY_ASSIGN(const store::StoreUrl url, store::parse_store_url(place.from));
  std::string folder = copy_of(place);

  OUTLAST_TRY_ASSIGN(const bool found, fetch_all(url, world, folder, progress, ctx));
  if (found) return folder;
  OUTLAST_TRY_ASSIGN(const std::optional<std::string> file,
                     fetch_one(url, world, folder, progress, ctx));
  if (file) return *file;
  return Error(ErrorCode::kNotFound,
               fmt::format("there is nothing below {}: check the address of the data", named));
}

}  // namespace outlast::trainers
