#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "store/gcs/testing/stand_in_bucket.h"
#include "store/gcs/testing/stand_in_request.h"
#include "store/gcs/testing/stand_in_uploads.h"
#include "sys/http.h"
#include "sys/http_server.h"

namespace outlast::store::gcs::testing {

// Google Cloud Storage's JSON API over objects in memory, as far as an object store needs it, and
// at least as strict: tokens, every precondition, generations, checksums, ranges, listings with all
// their parameters, uploads at once, multipart and resumable. What the real service would ignore or
// answer with a guess (an unknown parameter, a gap in an upload) is refused here.
//
// Stand-ins have no clock and no port of their own: they answer requests, from a real server, the
// simulated network or a test. Thread-safe; one step at a time.
class GcsStandIn {
 public:
  struct Options {
    std::vector<std::string> buckets = {};
    std::string token = {};  // what "Authorization: Bearer" must hold; empty: nothing is asked for
    std::function<WallTime()> wall_now = {};  // called once a request, without a lock
    std::uint64_t kept_per_request_max = 0;   // see StandInSession::Start
  };

  explicit GcsStandIn(Options options);

  sys::HttpResponse handle(const sys::HttpServerRequest& request);
  // handle(), for a server. The stand-in must outlive it.
  sys::HttpHandler handler();

  std::size_t object_count(const std::string& bucket) const;
  // Begun, and neither completed nor cancelled.
  std::size_t open_session_count() const;

 private:
  struct Call {
    const StandInRequest& request;
    const WallTime now;
  };

  bool is_authorized(const StandInRequest& request) const;
  sys::HttpResponse dispatch(const Call& call) OUTLAST_REQUIRES(mutex_);
  sys::HttpResponse on_buckets(const Call& call) OUTLAST_REQUIRES(mutex_);
  sys::HttpResponse on_bucket(const Call& call) OUTLAST_REQUIRES(mutex_);
  sys::HttpResponse on_object(const Call& call, StandInBucket& bucket) OUTLAST_REQUIRES(mutex_);
  sys::HttpResponse on_upload(const Call& call, StandInBucket& bucket) OUTLAST_REQUIRES(mutex_);
  sys::HttpResponse start_session(const Call& call, StandInBucket& bucket,
                                  const StandInConditions& conditions) OUTLAST_REQUIRES(mutex_);
  sys::HttpResponse on_session(const Call& call, StandInBucket& bucket) OUTLAST_REQUIRES(mutex_);
  StandInBucket* find_bucket(const std::string& name) OUTLAST_REQUIRES(mutex_);

  const Options options_;
  mutable Mutex mutex_;
  std::map<std::string, StandInBucket> buckets_ OUTLAST_GUARDED_BY(mutex_);
  std::map<std::string, StandInSession> sessions_ OUTLAST_GUARDED_BY(mutex_);
  std::uint64_t last_session_ OUTLAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace outlast::store::gcs::testing
