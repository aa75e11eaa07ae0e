#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cloud/caching_credentials.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::cloud {

// The token of the service account that a Google machine or pod was started with. Respects
// GCE_METADATA_HOST, GCE_METADATA_IP, GCE_METADATA_URL and NO_GCE_CHECK. An answer without
// "Metadata-Flavor: Google" is somebody else's. Where nobody answers, that is remembered for some
// minutes. Confined to its owner.
class GcpMetadataCredentials {
 public:
  explicit GcpMetadataCredentials(sys::World& world);

  // nullopt if there is no such server. kPermissionDenied if the machine has no service account.
  Result<std::optional<Fetched<BearerToken>>> fetch(const std::string& scope,
                                                    const sys::CallContext& ctx);

 private:
  sys::World& world_;
  std::string endpoint_;
  MonoTime absent_until_ = MonoTime::min();
};

}  // namespace outlast::cloud
