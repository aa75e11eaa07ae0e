#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::notice {

// The metadata service of an EC2 machine, version 2; version 1 where no token is to be had (in a
// container the answer to the request for one is lost if the hop limit is 1), unless
// AWS_EC2_METADATA_V1_DISABLED is true. Respects AWS_EC2_METADATA_SERVICE_ENDPOINT and _MODE. It
// remembers nothing but the token: who is away now may be there at the next call. Confined to its
// owner.
class Ec2Metadata {
 public:
  explicit Ec2Metadata(sys::World& world);

  // "/latest/meta-data/…". Only a 200 is not an error; kNotFound for 404, with which the service
  // also says that it has nothing to tell.
  Result<sys::HttpResponse> get(std::string_view path, const sys::CallContext& ctx);

  // Whether such a service is there.
  bool is_here(const sys::CallContext& ctx);

 private:
  Result<void> have_token(const sys::CallContext& ctx);
  Result<Secret<std::string>> fetch_token(const sys::CallContext& ctx);

  sys::HttpClient& http_;
  sys::Clock& clock_;
  const std::string endpoint_;
  const bool v1_allowed_;
  Secret<std::string> token_ = {};            // empty: version 1
  MonoTime token_fresh_ = MonoTime::min();    // until then; afterwards another one is asked for
  MonoTime token_expires_ = MonoTime::min();  // what is there is of no use any more
};

}  // namespace outlast::notice
