#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::cloud {

// Credentials as they were just handed out.
template <typename T>
struct Fetched {
  T value = {};
  // From now on; nullopt: they do not expire. By the issuer's clock where it told us its time, so
  // that a wrong clock here does no harm.
  std::optional<Duration> lifetime = {};
  std::string origin = {};  // for people, as CredentialSource::origin()
};

// Where credentials are fetched, each time anew. Called by one thread at a time.
template <typename T>
class CredentialFetcher {
 public:
  virtual ~CredentialFetcher() = default;
  virtual Result<Fetched<T>> fetch(const sys::CallContext& ctx) = 0;
};

// Keeps what a fetcher gave, and fetches again shortly before it expires. However many threads ask,
// one fetches; the others get the kept ones while these are good, and wait otherwise. If a fetch
// fails while the kept ones are still good, they are given on, and the next try is a little later.
// Thread-safe.
template <typename T>
class CachingCredentials : public CredentialSource<T> {
 public:
  // Credentials are replaced so long before they expire, or at half their life if that is later.
  static constexpr Duration kRefreshBefore = std::chrono::minutes(5);
  // After a refresh that failed while the kept ones were good.
  static constexpr Duration kRefreshAgainAfter = std::chrono::seconds(30);

  CachingCredentials(std::unique_ptr<CredentialFetcher<T>> fetcher, sys::Clock& clock,
                     sys::Threads& threads);

  Result<T> get(const sys::CallContext& ctx) override;
  void forget() override;
  std::string origin() override;

 private:
  struct Kept {
    Fetched<T> fetched = {};
    MonoTime mono_start = {};
    WallTime wall_start = {};
    MonoTime not_before = {};  // no refresh earlier than this
  };
  enum class Freshness { kGood, kRefresh, kExpired };
  Freshness freshness_of_kept(MonoTime mono, WallTime wall) const;

  const std::unique_ptr<CredentialFetcher<T>> fetcher_;
  sys::Clock& clock_;
  const std::unique_ptr<sys::Monitor> monitor_;  // guards the rest
  std::optional<Kept> kept_ = {};
  bool fetching_ = false;
  std::uint64_t fetches_ended_ = 0;
  std::optional<Error> last_error_ = {};  // of the fetch that ended last
};

extern template class CachingCredentials<AwsKeys>;
extern template class CachingCredentials<BearerToken>;
extern template class CachingCredentials<AzureAuth>;

}  // namespace outlast::cloud
