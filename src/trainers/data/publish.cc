#include "trainers/data/publish.h"

#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/open/open_store.h"
#include "store/open/store_url.h"
#include "store/transfer/copier.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::trainers {

Publisher::Publisher(std::unique_ptr<store::ObjectStore> store, sys::World& world)
    : store_(std::move(store)), world_(&world) {}

Result<Publisher> Publisher::open(const std::string& url, sys::World& world) {
  OUTLAST_TRY_ASSIGN(const store::StoreUrl place, store::parse_store_url(url));
  OUTLAST_TRY_ASSIGN(std::unique_ptr<store::OpenedStore> store, store::open_store(place, world));
  return Publisher(std::move(store), world);
}

Result<void> Publisher::look(const std::string& folder, const std::string& below,
                             Files& files) const {
  OUTLAST_TRY_ASSIGN(const auto entries, world_->files.list(sys::join_path(folder, below)));
  for (const sys::DirectoryEntry& entry : entries) {
    if (entry.name.starts_with('.') || entry.name.ends_with(".tmp")) continue;
    const std::string name = below.empty() ? entry.name : below + "/" + entry.name;
    if (entry.type == sys::FileType::kDirectory) {
      OUTLAST_TRY(look(folder, name, files));
    } else if (entry.type == sys::FileType::kFile) {
      const Result<sys::FileInfo> info = world_->files.stat(sys::join_path(folder, name));
      if (!info) continue;  // replaced or removed in this moment: the next time tells
      files[name] = {.size = info->size, .modified = info->modified, .inode = info->inode};
    }
  }
  return {};
}

Result<void> Publisher::publish(const std::string& folder, const sys::CallContext& ctx) {
  Files files;
  OUTLAST_TRY(look(folder, "", files));
  store::Copier copier(world_->threads, world_->clock, {});
  for (const auto& [name, seen] : files) {
    const auto before = published_.find(name);
    if (before != published_.end() && before->second == seen) continue;
    OUTLAST_TRY(copier.add(
        {.open_source =
             [this, path = sys::join_path(folder, name)](const sys::CallContext&) {
               return store::open_file_source(world_->files, path);
             },
         .make_target =
             [this, name] {
               return store::make_object_target(*store_, world_->files, name, std::string());
             }},
        ctx));
  }
  OUTLAST_TRY(copier.finish([](const store::CopyProgress&) {}, ctx));
  for (const auto& [name, seen] : published_) {
    if (files.contains(name)) continue;
    const Result<void> removed = store_->remove(name, ctx);
    if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
  }
  published_ = std::move(files);
  return {};
}

}  // namespace outlast::trainers
