#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/rsa.h"
#include "base/secret.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/world.h"

// From a Google credentials file to an access token.
namespace outlast::cloud {

// What a token is asked for.
struct GcpTokenRequest {
  std::string file = {};  // where the credentials stand, for sentences
  std::string scope = {};
};

// By the file's "type": service_account, authorized_user, external_account,
// impersonated_service_account. kInvalidArgument, naming the file, for everything else.
Result<Fetched<BearerToken>> fetch_gcp_token(sys::World& world, const Json& credentials,
                                             const GcpTokenRequest& request,
                                             const sys::CallContext& ctx);

// "external_account": a token of another issuer, from a file or a URL, exchanged at Google's token
// service and, if the file says so, for that of a service account.
Result<Fetched<BearerToken>> fetch_gcp_external_token(sys::World& world, const Json& credentials,
                                                      const GcpTokenRequest& request,
                                                      const sys::CallContext& ctx);

// generateAccessToken of the IAM API: the token of the service account in `url`, asked for with
// `source`. `delegates` is the file's list, or null.
Result<Fetched<BearerToken>> impersonate_gcp_account(sys::World& world, const std::string& url,
                                                     const BearerToken& source,
                                                     const Json& delegates,
                                                     const GcpTokenRequest& request,
                                                     const sys::CallContext& ctx);

// A member of the file that must be there. kInvalidArgument, naming file and member.
Result<std::string> gcp_member(const Json& object, std::string_view key, const std::string& file);

// {"access_token", "expires_in"} of a 200 answer; the refusal otherwise.
Result<Fetched<BearerToken>> read_gcp_token(const IssuerCall& call, const sys::HttpResponse& answer,
                                            std::initializer_list<std::string_view> secrets,
                                            std::string_view advice);

// The key of a service account.
struct GcpAccountKey {
  std::string email = {};
  std::string key_id = {};
  RsaPrivateKey key;
};
Result<GcpAccountKey> read_gcp_account_key(const Json& credentials, const std::string& file);

}  // namespace outlast::cloud
