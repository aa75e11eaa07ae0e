#pragma once

#include <optional>
#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/read_verifier.h"
#include "sys/http.h"

namespace outlast::store {

// One get(): takes the body of the answer, gives it on, and checks that it is what was asked for
// and what was stored. Confined to the call; everything given to it must outlive it.
class AzureRead {
 public:
  // `what` begins sentences: "get az://account/container/key".
  AzureRead(const std::string& key, const GetOptions& options, const std::string& what,
            const ByteSink& sink);

  // The next piece of a 2xx answer.
  Result<void> take(const sys::HttpResponse& answer, BytesView piece);
  // Once all of it was taken.
  Result<ObjectInfo> finish(const sys::HttpResponse& answer);
  // With which the caller's sink ended the read; nullptr if it did not.
  const Error* sinks_error() const { return sinks_error_ ? &*sinks_error_ : nullptr; }

 private:
  Result<void> begin(const sys::HttpResponse& answer);

  const std::string& key_;
  const GetOptions& options_;
  const std::string& what_;
  const ByteSink& sink_;
  ReadVerifier verifier_;
  bool begun_ = false;
  ObjectInfo object_;
  std::string md5_expected_;  // empty: it is checked by other means, or not at all
  Md5 md5_;
  std::optional<Error> sinks_error_;
};

}  // namespace outlast::store
