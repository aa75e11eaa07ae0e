#include "store/around_store.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "store/inner_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store {

class AroundUpload : public Upload {
 public:
  AroundUpload(AroundStore& store, std::unique_ptr<Upload> inner, std::string key)
      : store_(store), inner_(std::move(inner)), key_(std::move(key)) {}

  Result<void> put_part(std::uint64_t index, BytesView bytes,
                        const sys::CallContext& ctx) override {
    return store_.around({.kind = StoreCallKind::kPutPart, .key = key_, .body = bytes}, ctx,
                         [&] { return inner_->put_part(index, bytes, ctx); });
  }
  std::vector<std::uint64_t> stored_parts() const override { return inner_->stored_parts(); }
  Result<std::string> complete(const sys::CallContext& ctx) override {
    return store_.around({.kind = StoreCallKind::kComplete, .key = key_}, ctx,
                         [&] { return inner_->complete(ctx); });
  }
  Result<void> abort(const sys::CallContext& ctx) override {
    return store_.around({.kind = StoreCallKind::kAbort, .key = key_}, ctx,
                         [&] { return inner_->abort(ctx); });
  }
  Secret<std::string> token() const override { return inner_->token(); }

 private:
  AroundStore& store_;
  const std::unique_ptr<Upload> inner_;
  const std::string key_;
};

AroundStore::AroundStore(InnerStore inner) : inner_(std::move(inner)) {}

std::unique_ptr<Upload> AroundStore::wrap(std::unique_ptr<Upload> upload, const std::string& key) {
  return std::make_unique<AroundUpload>(*this, std::move(upload), key);
}

Result<std::string> AroundStore::put(const std::string& key, BytesView bytes,
                                     const WriteIf& condition, const sys::CallContext& ctx) {
  return around({.kind = StoreCallKind::kPut, .key = key, .body = bytes, .condition = &condition},
                ctx, [&] { return inner_->put(key, bytes, condition, ctx); });
}

Result<ObjectInfo> AroundStore::get(const std::string& key, const GetOptions& options,
                                    const ByteSink& sink, const sys::CallContext& ctx) {
  return around({.kind = StoreCallKind::kGet, .key = key}, ctx,
                [&] { return inner_->get(key, options, sink, ctx); });
}

Result<ObjectInfo> AroundStore::head(const std::string& key, const sys::CallContext& ctx) {
  return around({.kind = StoreCallKind::kHead, .key = key}, ctx,
                [&] { return inner_->head(key, ctx); });
}

Result<ListPage> AroundStore::list(const ListOptions& options, const sys::CallContext& ctx) {
  return around({.kind = StoreCallKind::kList, .key = options.prefix}, ctx,
                [&] { return inner_->list(options, ctx); });
}

Result<void> AroundStore::remove(const std::string& key, const sys::CallContext& ctx) {
  return around({.kind = StoreCallKind::kRemove, .key = key}, ctx,
                [&] { return inner_->remove(key, ctx); });
}

Result<void> AroundStore::remove_if(const std::string& key, const std::string& version,
                                    const sys::CallContext& ctx) {
  return around({.kind = StoreCallKind::kRemove, .key = key, .version = &version}, ctx,
                [&] { return inner_->remove_if(key, version, ctx); });
}

Result<std::unique_ptr<Upload>> AroundStore::start_upload(const std::string& key,
                                                          const UploadPlan& plan,
                                                          const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(auto upload, around({.kind = StoreCallKind::kStartUpload, .key = key}, ctx,
                                         [&] { return inner_->start_upload(key, plan, ctx); }));
  return wrap(std::move(upload), key);
}

Result<std::unique_ptr<Upload>> AroundStore::resume_upload(const std::string& key,
                                                           const UploadPlan& plan,
                                                           const Secret<std::string>& token,
                                                           const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(auto upload,
                     around({.kind = StoreCallKind::kResumeUpload, .key = key}, ctx,
                            [&] { return inner_->resume_upload(key, plan, token, ctx); }));
  return wrap(std::move(upload), key);
}

Result<Secret<std::string>> AroundStore::signed_url(const std::string& key, Duration valid_for,
                                                    const sys::CallContext& ctx) {
  return inner_->signed_url(key, valid_for, ctx);
}

Result<WallTime> AroundStore::server_time(const sys::CallContext& ctx) {
  return around({.kind = StoreCallKind::kServerTime}, ctx,
                [&] { return inner_->server_time(ctx); });
}

}  // namespace outlast::store
