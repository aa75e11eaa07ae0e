#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "store/inner_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::store {

// How long to go on. A wait is drawn evenly from nothing to a bound that doubles each time (full
// jitter), and is no shorter than what the store asked for (Error::retry_after()).
struct RetryPolicy {
  std::uint32_t attempts_max = 10;                 // of one call; a read that moves on starts anew
  Duration elapsed_max = std::chrono::minutes(5);  // of one call, likewise
  Duration first_wait_max = std::chrono::milliseconds(100);
  Duration wait_max = std::chrono::seconds(20);
  Duration retry_after_max = std::chrono::minutes(1);  // what is asked for beyond this is cut
  // Retries of all calls together: each costs `retry_cost`, each success gives one back. When the
  // store is really down, nobody helps it by asking ten times as often.
  std::uint32_t budget = 1000;
  std::uint32_t retry_cost = 5;
};

// Tries again what may work later, knowing for each call what that can do:
//
// Reads are repeated freely. One that breaks goes on at the byte where it broke, pinned to the
// version it began with, and its checksum is that of the whole; if the object was replaced in
// between, it is kUnavailable and says so, because the sink has bytes of the old one.
//
// Writes are repeated also after kUnknownOutcome: none can happen twice with another effect. But
// from then on nothing is certain except a success: the condition may have been lost to our own
// first try. So whatever else ends the call is kUnknownOutcome (or kCancelled, kDeadlineExceeded),
// never "lost": read back and compare.
//
// Thread-safe. Must outlive the uploads that it starts.
class RetryingStore : public ObjectStore {
 public:
  RetryingStore(InnerStore inner, sys::Clock& clock, Random random, const RetryPolicy& policy = {});

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
  // If the answer is lost and asked for again, the first upload stays behind in the store, empty.
  Result<std::unique_ptr<Upload>> start_upload(const std::string& key, const UploadPlan& plan,
                                               const sys::CallContext& ctx) override;
  Result<std::unique_ptr<Upload>> resume_upload(const std::string& key, const UploadPlan& plan,
                                                const Secret<std::string>& token,
                                                const sys::CallContext& ctx) override;
  Result<Secret<std::string>> signed_url(const std::string& key, Duration valid_for,
                                         const sys::CallContext& ctx) override;
  Result<WallTime> server_time(const sys::CallContext& ctx) override;

 private:
  friend class RetryingUpload;

  // The tries of one call so far. Confined to the call.
  struct Tries {
    std::uint32_t made = 0;
    std::optional<MonoTime> first_failure = {};
    bool maybe_done = false;  // one of them ended with kUnknownOutcome
  };
  enum class Effect { kReads, kWrites };

  static bool may_work_later(ErrorCode code);

  // After a failure: waits, and returns ok if it is to be tried again; else what the call ends
  // with.
  Result<void> wait_for_another(Tries& tries, const Error& error, Effect effect,
                                const sys::CallContext& ctx);
  Duration next_wait(const Tries& tries, const Error& error);
  bool take_from_budget();
  void give_back_to_budget();

  template <typename Function>
  auto repeat(Effect effect, const sys::CallContext& ctx, const Function& function)
      -> decltype(function()) {
    Tries tries;
    while (true) {
      auto outcome = function();
      if (outcome) {
        give_back_to_budget();
        return outcome;
      }
      OUTLAST_TRY(wait_for_another(tries, outcome.error(), effect, ctx));
    }
  }

  InnerStore inner_;
  sys::Clock& clock_;
  const RetryPolicy policy_;
  Mutex mutex_;
  Random random_ OUTLAST_GUARDED_BY(mutex_);
  std::uint32_t budget_ OUTLAST_GUARDED_BY(mutex_);
};

}  // namespace outlast::store
