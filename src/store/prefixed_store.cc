#include "store/prefixed_store.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/encoding.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "store/inner_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store {

PrefixedStore::PrefixedStore(InnerStore inner, std::string prefix)
    : inner_(std::move(inner)), prefix_(std::move(prefix)) {
  OUTLAST_CHECK(prefix_.empty() || prefix_.ends_with('/'), "the prefix '{}'", prefix_);
}

// A bad key must not become a good one by what stands before it.
Result<std::string> PrefixedStore::inner_key(const std::string& key) const {
  OUTLAST_TRY(check_key(key));
  return prefix_ + key;
}

std::string PrefixedStore::url_of(std::string_view key) const {
  return inner_->url_of(prefix_ + std::string(key));
}

Result<std::string> PrefixedStore::put(const std::string& key, BytesView bytes,
                                       const WriteIf& condition, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string inner, inner_key(key));
  return inner_->put(inner, bytes, condition, ctx);
}

Result<ObjectInfo> PrefixedStore::get(const std::string& key, const GetOptions& options,
                                      const ByteSink& sink, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string inner, inner_key(key));
  ObjectInfo shown;  // as the sink knows it; made once, not for each piece
  bool is_made = false;
  const ByteSink strip_sink = [&](const ObjectInfo& object, BytesView piece) {
    if (!std::exchange(is_made, true)) {
      shown = object;
      strip(shown.key);
    }
    return sink(shown, piece);
  };
  Result<ObjectInfo> object = inner_->get(inner, options, strip_sink, ctx);
  if (object) strip(object->key);
  return object;
}

Result<ObjectInfo> PrefixedStore::head(const std::string& key, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string inner, inner_key(key));
  Result<ObjectInfo> object = inner_->head(inner, ctx);
  if (object) strip(object->key);
  return object;
}

Result<ListPage> PrefixedStore::list(const ListOptions& options, const sys::CallContext& ctx) {
  ListOptions inner = options;
  inner.prefix = prefix_ + options.prefix;
  if (!options.start_after.empty()) inner.start_after = prefix_ + options.start_after;
  Result<ListPage> page = inner_->list(inner, ctx);
  if (!page) return page;
  for (ObjectInfo& object : page->objects) strip(object.key);
  for (std::string& folder : page->folders) strip(folder);
  return page;
}

Result<void> PrefixedStore::remove(const std::string& key, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string inner, inner_key(key));
  return inner_->remove(inner, ctx);
}

Result<void> PrefixedStore::remove_if(const std::string& key, const std::string& version,
                                      const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string inner, inner_key(key));
  return inner_->remove_if(inner, version, ctx);
}

Result<std::unique_ptr<Upload>> PrefixedStore::start_upload(const std::string& key,
                                                            const UploadPlan& plan,
                                                            const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string inner, inner_key(key));
  return inner_->start_upload(inner, plan, ctx);
}

Result<std::unique_ptr<Upload>> PrefixedStore::resume_upload(const std::string& key,
                                                             const UploadPlan& plan,
                                                             const Secret<std::string>& token,
                                                             const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string inner, inner_key(key));
  return inner_->resume_upload(inner, plan, token, ctx);
}

Result<Secret<std::string>> PrefixedStore::signed_url(const std::string& key, Duration valid_for,
                                                      const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string inner, inner_key(key));
  return inner_->signed_url(inner, valid_for, ctx);
}

Result<WallTime> PrefixedStore::server_time(const sys::CallContext& ctx) {
  return inner_->server_time(ctx);
}

}  // namespace outlast::store
