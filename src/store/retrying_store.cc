#include "store/retrying_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
namespace {

bool is_the_callers_wish(ErrorCode code) {
  return code == ErrorCode::kCancelled || code == ErrorCode::kDeadlineExceeded;
}

}  // namespace

class RetryingUpload : public Upload {
 public:
  RetryingUpload(RetryingStore& store, std::unique_ptr<Upload> inner)
      : store_(store), inner_(std::move(inner)) {}

  Result<void> put_part(std::uint64_t index, BytesView bytes,
                        const sys::CallContext& ctx) override {
    return store_.repeat(RetryingStore::Effect::kWrites, ctx,
                         [&] { return inner_->put_part(index, bytes, ctx); });
  }
  std::vector<std::uint64_t> stored_parts() const override { return inner_->stored_parts(); }
  Result<std::string> complete(const sys::CallContext& ctx) override {
    return store_.repeat(RetryingStore::Effect::kWrites, ctx,
                         [&] { return inner_->complete(ctx); });
  }
  Result<void> abort(const sys::CallContext& ctx) override {
    return store_.repeat(RetryingStore::Effect::kWrites, ctx, [&] { return inner_->abort(ctx); });
  }
  Secret<std::string> token() const override { return inner_->token(); }

 private:
  RetryingStore& store_;
  const std::unique_ptr<Upload> inner_;
};

RetryingStore::RetryingStore(InnerStore inner, sys::Clock& clock, Random random,
                             const RetryPolicy& policy)
    : inner_(std::move(inner)),
      clock_(clock),
      policy_(policy),
      random_(random),
      budget_(policy.budget) {}

bool RetryingStore::may_work_later(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kThrottled ||
         code == ErrorCode::kUnknownOutcome;
}

Duration RetryingStore::next_wait(const Tries& tries, const Error& error) {
  Duration bound = policy_.first_wait_max;
  for (std::uint32_t i = 1; i < tries.made && bound < policy_.wait_max; ++i) bound *= 2;
  bound = std::min(bound, policy_.wait_max);
  const Duration asked =
      std::min<Duration>(error.retry_after().value_or(Duration::zero()), policy_.retry_after_max);
  const MutexLock lock(mutex_);
  return asked + Duration(random_.between(0, bound.count()));
}

bool RetryingStore::take_from_budget() {
  const MutexLock lock(mutex_);
  if (budget_ < policy_.retry_cost) return false;
  budget_ -= policy_.retry_cost;
  return true;
}

void RetryingStore::give_back_to_budget() {
  const MutexLock lock(mutex_);
  budget_ = std::min(budget_ + 1, policy_.budget);
}

Result<void> RetryingStore::wait_for_another(Tries& tries, const Error& error, Effect effect,
                                             const sys::CallContext& ctx) {
  ++tries.made;
  tries.maybe_done = tries.maybe_done || error.code() == ErrorCode::kUnknownOutcome;
  const auto give_up = [&](const std::string& why) -> Error {
    const std::string text =
        why.empty() ? error.to_string() : fmt::format("{}: {}", why, error.to_string());
    if (is_the_callers_wish(error.code())) return error;
    if (effect == Effect::kReads) {
      // Nothing can have been done: what is unknown to a reader is only whether it works now.
      if (error.code() == ErrorCode::kUnknownOutcome) return {ErrorCode::kUnavailable, text};
    } else if (tries.maybe_done && error.code() != ErrorCode::kUnknownOutcome) {
      return {ErrorCode::kUnknownOutcome,
              fmt::format("{}; an earlier try of the same write may have been done: read back what "
                          "is there now",
                          text)};
    }
    return why.empty() ? error : error.while_doing(why);
  };

  if (!may_work_later(error.code())) return give_up({});
  const MonoTime now = clock_.mono_now();
  if (!tries.first_failure) tries.first_failure = now;
  const std::string so_far =
      tries.made == 1 ? std::string("after one try") : fmt::format("after {} tries", tries.made);
  if (tries.made >= policy_.attempts_max) return give_up("gave up " + so_far);
  const MonoTime next = saturating_add(now, next_wait(tries, error));
  if (next >= ctx.deadline) return give_up("no time for another try " + so_far);
  if (next - *tries.first_failure > policy_.elapsed_max) {
    return give_up(
        fmt::format("gave up {} in {} s", so_far,
                    std::chrono::ceil<std::chrono::seconds>(now - *tries.first_failure).count()));
  }
  if (!take_from_budget()) return give_up("too much fails to try again, given up " + so_far);
  if (const Result<void> slept = clock_.sleep_until(next, ctx); !slept) {
    return Error(slept.error().code(), fmt::format("{} before another try: {}",
                                                   slept.error().to_string(), error.to_string()));
  }
  return {};
}

Result<std::string> RetryingStore::put(const std::string& key, BytesView bytes,
                                       const WriteIf& condition, const sys::CallContext& ctx) {
  return repeat(Effect::kWrites, ctx, [&] { return inner_->put(key, bytes, condition, ctx); });
}

Result<ObjectInfo> RetryingStore::head(const std::string& key, const sys::CallContext& ctx) {
  return repeat(Effect::kReads, ctx, [&] { return inner_->head(key, ctx); });
}

Result<ListPage> RetryingStore::list(const ListOptions& options, const sys::CallContext& ctx) {
  return repeat(Effect::kReads, ctx, [&] { return inner_->list(options, ctx); });
}

Result<void> RetryingStore::remove(const std::string& key, const sys::CallContext& ctx) {
  return repeat(Effect::kWrites, ctx, [&] { return inner_->remove(key, ctx); });
}

Result<void> RetryingStore::remove_if(const std::string& key, const std::string& version,
                                      const sys::CallContext& ctx) {
  return repeat(Effect::kWrites, ctx, [&] { return inner_->remove_if(key, version, ctx); });
}

Result<std::unique_ptr<Upload>> RetryingStore::start_upload(const std::string& key,
                                                            const UploadPlan& plan,
                                                            const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(auto upload, repeat(Effect::kWrites, ctx,
                                         [&] { return inner_->start_upload(key, plan, ctx); }));
  return std::make_unique<RetryingUpload>(*this, std::move(upload));
}

Result<std::unique_ptr<Upload>> RetryingStore::resume_upload(const std::string& key,
                                                             const UploadPlan& plan,
                                                             const Secret<std::string>& token,
                                                             const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(auto upload, repeat(Effect::kReads, ctx, [&] {
                       return inner_->resume_upload(key, plan, token, ctx);
                     }));
  return std::make_unique<RetryingUpload>(*this, std::move(upload));
}

Result<Secret<std::string>> RetryingStore::signed_url(const std::string& key, Duration valid_for,
                                                      const sys::CallContext& ctx) {
  return repeat(Effect::kReads, ctx, [&] { return inner_->signed_url(key, valid_for, ctx); });
}

Result<WallTime> RetryingStore::server_time(const sys::CallContext& ctx) {
  return repeat(Effect::kReads, ctx, [&] { return inner_->server_time(ctx); });
}

}  // namespace outlast::store
