#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/inbox.h"
#include "sys/threads.h"

namespace outlast::store {

// All pages of a listing, one after the other; the next ones are fetched while the caller works on
// this one. Confined to its owner. The store must outlive it.
class Lister {
 public:
  Lister(ObjectStore& store, sys::Threads& threads, ListOptions options);

  // nullopt after the last page. After an error: the same error's end, nothing more.
  Result<std::optional<ListPage>> next(const sys::CallContext& ctx);

 private:
  void fetch(ObjectStore& store, ListOptions options, const sys::CallContext& ctx);

  sys::Inbox<Result<ListPage>> pages_;
  bool ended_ = false;
  std::unique_ptr<sys::Thread> fetcher_;  // last: it goes first, and uses the rest
};

}  // namespace outlast::store
