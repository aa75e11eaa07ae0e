#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "store/inner_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store {

// A store inside a store: all keys lie below `prefix`, which is "" or ends in '/', and are given
// and shown without it. Thread-safe, if the inner store is.
class PrefixedStore : public ObjectStore {
 public:
  PrefixedStore(InnerStore inner, std::string prefix);

  const Properties& properties() const override { return inner_->properties(); }
  std::string url_of(std::string_view key) const override;
  Result<std::string> put(const std::string& key, BytesView bytes, const WriteIf& condition,
                          const sys::CallContext& ctx) override;
  Result<ObjectInfo> get(const std::string& key, const GetOptions& options, const ByteSink& sink,
                         const sys::CallContext& ctx) override;
  Result<ObjectInfo> head(const std::string& key, const sys::CallContext& ctx) override;
  Result<ListPage> list(const ListOptions& options, const sys::CallContext& ctx) override;
  Result<void> remove(const std::string& key, const sys::CallContext& ctx) override;
  Result<void> remove_if(const std::string& key, const std::string& version,
                         const sys::CallContext& ctx) override;
  Result<std::unique_ptr<Upload>> start_upload(const std::string& key, const UploadPlan& plan,
                                               const sys::CallContext& ctx) override;
  Result<std::unique_ptr<Upload>> resume_upload(const std::string& key, const UploadPlan& plan,
                                                const Secret<std::string>& token,
                                                const sys::CallContext& ctx) override;
  Result<Secret<std::string>> signed_url(const std::string& key, Duration valid_for,
                                         const sys::CallContext& ctx) override;
  Result<WallTime> server_time(const sys::CallContext& ctx) override;

 private:
  // The key inside the inner store. kInvalidArgument if `key` is none.
  Result<std::string> inner_key(const std::string& key) const;
  void strip(std::string& key) const { key.erase(0, prefix_.size()); }

  const InnerStore inner_;
  const std::string prefix_;
};

}  // namespace outlast::store
