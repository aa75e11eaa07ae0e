#pragma once

#include <memory>
#include <utility>

#include "store/object_store.h"

namespace outlast::store {

// The store that a decorator stands before: borrowed, and then outliving it, or owned. Immutable
// after construction.
class InnerStore {
 public:
  InnerStore(ObjectStore& borrowed) : store_(&borrowed) {}  // NOLINT: implicit
  InnerStore(std::unique_ptr<ObjectStore> owned)            // NOLINT: implicit
      : owned_(std::move(owned)), store_(owned_.get()) {}

  ObjectStore* operator->() const { return store_; }
  ObjectStore& operator*() const { return *store_; }

 private:
  std::unique_ptr<ObjectStore> owned_;
  ObjectStore* store_;
};

}  // namespace outlast::store
