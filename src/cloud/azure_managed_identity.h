#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::cloud {

// Whom storage tokens are for.
inline constexpr std::string_view kAzureStorageResource = "https://storage.azure.com/";

// The token of the identity that an Azure machine or app was given: IDENTITY_ENDPOINT and
// IDENTITY_HEADER in an app, the metadata service on a machine (AZURE_POD_IDENTITY_AUTHORITY_HOST
// puts it elsewhere); AZURE_CLIENT_ID chooses among several. Where nobody answers, that is
// remembered for some minutes. Confined to its owner.
class AzureManagedIdentity {
 public:
  explicit AzureManagedIdentity(sys::World& world);

  // nullopt if there is no such service or it has no identity for us.
  Result<std::optional<Fetched<BearerToken>>> fetch(const sys::CallContext& ctx);

 private:
  Result<std::optional<Fetched<BearerToken>>> fetch_from_app(const std::string& endpoint,
                                                             const sys::CallContext& ctx);
  Result<std::optional<Fetched<BearerToken>>> fetch_from_machine(const sys::CallContext& ctx);
  std::string query(std::string_view api_version);

  sys::World& world_;
  MonoTime absent_until_ = MonoTime::min();
};

// {"access_token", "expires_in" or "expires_on"} of a 200 answer, numbers as numbers or as text.
Result<Fetched<BearerToken>> read_azure_token(const IssuerCall& call,
                                              const sys::HttpResponse& answer, sys::Clock& clock);

}  // namespace outlast::cloud
