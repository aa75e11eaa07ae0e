#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/caching_credentials.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::cloud {

// The metadata service of an EC2 machine (IMDSv2; v1 where that hangs or is unknown). Respects
// AWS_EC2_METADATA_DISABLED, AWS_EC2_METADATA_V1_DISABLED, AWS_EC2_METADATA_SERVICE_ENDPOINT and
// _MODE, AWS_METADATA_SERVICE_TIMEOUT and _NUM_ATTEMPTS. Where nobody answers, that is remembered
// for some minutes: a laptop does not wait for it again and again. Confined to its owner.
class AwsInstanceMetadata {
 public:
  explicit AwsInstanceMetadata(sys::World& world);

  // Of the role that the machine was started with; nullopt if there is no such service or role.
  Result<std::optional<Fetched<AwsKeys>>> role_keys(const sys::CallContext& ctx);
  // "eu-west-1"; "" if there is no such service.
  Result<std::string> region(const sys::CallContext& ctx);
  // Why role_keys() gave nothing, for the sentence that lists what was tried.
  const std::string& absence() const { return absence_; }

 private:
  // nullopt: there is no such service here.
  Result<std::optional<sys::HttpResponse>> get(const std::string& path,
                                               const sys::CallContext& ctx);
  Result<bool> have_token(const sys::CallContext& ctx);
  bool is_absent(std::string why);

  sys::World& world_;
  std::string endpoint_;
  Duration timeout_;
  int attempts_max_;
  std::string absence_ = {};
  MonoTime absent_until_ = MonoTime::min();
  Secret<std::string> token_ = {};  // empty: version 1
  MonoTime token_until_ = MonoTime::min();
};

}  // namespace outlast::cloud
