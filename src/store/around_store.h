#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "store/inner_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store {

enum class StoreCallKind {
  kPut,
  kGet,
  kHead,
  kList,
  kRemove,  // remove_if() too
  kStartUpload,
  kResumeUpload,
  kPutPart,
  kComplete,
  kAbort,
  kServerTime,
};
inline constexpr std::size_t kStoreCallKinds = 11;

// One call of a store or of an upload, as those see it who stand around it. Borrows; valid while
// the call lasts.
struct StoreCall {
  StoreCallKind kind = StoreCallKind::kGet;
  std::string_view key = {};             // list(): the prefix
  BytesView body = {};                   // put() and put_part()
  const WriteIf* condition = nullptr;    // put()
  const std::string* version = nullptr;  // remove_if()
};

// A decorator that does the same before and after every call, whatever the call is. Thread-safe, if
// before() and after() are. Must outlive the uploads that it starts.
class AroundStore : public ObjectStore {
 public:
  explicit AroundStore(InnerStore inner);

  const Properties& properties() const override { return inner_->properties(); }
  std::string url_of(std::string_view key) const override { return inner_->url_of(key); }
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
  // Signs, and calls nobody: nothing is done around it.
  Result<Secret<std::string>> signed_url(const std::string& key, Duration valid_for,
                                         const sys::CallContext& ctx) override;
  Result<WallTime> server_time(const sys::CallContext& ctx) override;

 protected:
  // What before() wants to know again in after().
  using Ticket = std::uint64_t;

  // An error is the call's outcome: it is not made, and there is no after().
  virtual Result<Ticket> before(const StoreCall& call, const sys::CallContext& ctx) = 0;
  // `error` is nullptr after a success. What is returned replaces the outcome.
  virtual std::optional<Error> after(const StoreCall& call, Ticket ticket, const Error* error,
                                     const sys::CallContext& ctx) = 0;

  ObjectStore& inner() const { return *inner_; }

 private:
  friend class AroundUpload;

  template <typename Function>
  auto around(const StoreCall& call, const sys::CallContext& ctx, const Function& function)
      -> decltype(function()) {
    OUTLAST_TRY_ASSIGN(const Ticket ticket, before(call, ctx));
    auto outcome = function();
    if (auto other = after(call, ticket, outcome ? nullptr : &outcome.error(), ctx)) {
      return *std::move(other);
    }
    return outcome;
  }
  std::unique_ptr<Upload> wrap(std::unique_ptr<Upload> upload, const std::string& key);

  InnerStore inner_;
};

}  // namespace outlast::store
