#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "store/azure/azure_answers.h"
#include "store/object_store.h"
#include "sys/http.h"

namespace outlast::store {

// A request, as its errors tell of it.
struct AzureAttempt {
  std::string what = {};  // "put az://account/container/key"
  std::string account = {};
  std::string container = {};
  enum class Proof { kSharedKey, kSas, kToken, kNone };
  Proof proof = Proof::kNone;
  std::string origin = {};  // of the credentials; "" if it is not known
  bool writes = false;  // it changes what others see: an answer that says nothing leaves it open
  WallTime sent = {};   // by our clock
};

// The error that an answer which is no success means, without regard to conditions: 409 and 412 are
// the caller's to judge first. One sentence: what was tried, why not, what to do.
Error azure_error(const AzureAttempt& attempt, const sys::HttpResponse& answer);

// The headers of a write under this condition.
sys::HttpHeaders azure_condition(const WriteIf& condition);
// The error of a write whose condition was lost.
Error azure_condition_lost(const AzureAttempt& attempt, const WriteIf& condition);
// The error of a write under this condition that was no success: the condition was lost, or
// whatever else the answer means.
Error azure_write_error(const AzureAttempt& attempt, const sys::HttpResponse& answer,
                        const WriteIf& condition);

// Whether credentials that were refused like this may only be old: worth fetching new ones.
bool azure_wants_new_credentials(const sys::HttpResponse& answer, const AzureProblem& problem);

}  // namespace outlast::store
