#include "store/transfer/lister.h"

#include <cstddef>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::store {
namespace {

constexpr std::size_t kPagesAhead = 2;

}  // namespace

Lister::Lister(ObjectStore& store, sys::Threads& threads, ListOptions options)
    : pages_(threads, kPagesAhead),
      fetcher_(threads.spawn(
          "list", [this, &store, options = std::move(options)](std::stop_token stop) mutable {
            fetch(store, std::move(options), {.stop = std::move(stop)});
          })) {}

void Lister::fetch(ObjectStore& store, ListOptions options, const sys::CallContext& ctx) {
  while (true) {
    Result<ListPage> page = store.list(options, ctx);
    const bool last = !page || page->next.empty();
    if (page) options.page_token = page->next;
    if (!pages_.post(std::move(page), ctx) || last) return;
  }
}

Result<std::optional<ListPage>> Lister::next(const sys::CallContext& ctx) {
  if (ended_) return std::optional<ListPage>();
  OUTLAST_TRY_ASSIGN(Result<ListPage> page, pages_.receive(ctx));
  ended_ = !page || page->next.empty();
  if (!page) return std::move(page).error();
  return std::optional<ListPage>(*std::move(page));
}

}  // namespace outlast::store
