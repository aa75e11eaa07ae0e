#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::trainers {

// Keeps objects below a URL the same as the files of a folder. Files whose names begin with a dot
// or end in ".tmp" are nobody else's. Confined to its owner.
class Publisher {
 public:
  // `world` outlives it. Nothing is sent yet.
  static Result<Publisher> open(const std::string& url, sys::World& world);

  // Uploads the files that are new or changed since the last call, and then removes the objects of
  // those that are gone: at no moment is there less than before.
  Result<void> publish(const std::string& folder, const sys::CallContext& ctx);

 private:
  struct Seen {
    std::uint64_t size = 0;
    WallTime modified = {};
    std::uint64_t inode = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  using Files = std::map<std::string, Seen>;  // by their names below the folder

  Publisher(std::unique_ptr<store::ObjectStore> store, sys::World& world);
  Result<void> look(const std::string& folder, const std::string& below, Files& files) const;

  std::unique_ptr<store::ObjectStore> store_;
  sys::World* world_;
  Files published_;
};

}  // namespace outlast::trainers
