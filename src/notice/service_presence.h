#pragma once

#include <set>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/time.h"
#include "sys/clock.h"

namespace outlast::notice {

// Whether a service answers: said when it does not (notice.service_away) and when it does again
// (notice.service_back), not at every try, and not more than once a minute if it comes and goes.
// Thread-safe.
class ServicePresence {
 public:
  ServicePresence(const Logger& log, sys::Clock& clock, std::string service);

  // `what` was asked for. A caller that was stopped has not found anything out.
  void failed(const std::string& what, const Error& error);
  void answered(const std::string& what);

 private:
  const Logger log_;
  sys::Clock& clock_;
  Mutex mutex_;
  // What was asked for last without success.
  std::set<std::string> missing_ OUTLAST_GUARDED_BY(mutex_);
  bool is_said_ OUTLAST_GUARDED_BY(mutex_) = false;  // that it is away
  MonoTime said_at_ OUTLAST_GUARDED_BY(mutex_) = {};
  bool was_said_ OUTLAST_GUARDED_BY(mutex_) = false;  // ever
};

}  // namespace outlast::notice
