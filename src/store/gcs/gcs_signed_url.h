#pragma once

#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"

// URLs that carry their own permission: Google's V4 signing, GOOG4-RSA-SHA256.
namespace outlast::store::gcs {

struct SignedUrlRequest {
  std::string endpoint = {};  // "https://storage.googleapis.com"
  std::string bucket = {};
  std::string key = {};
  std::string email = {};  // of the service account that signs
  WallTime now = {};
  Duration valid_for = {};
};

struct UnsignedUrl {
  std::string url = {};  // all of it but the signature
  std::string canonical_request = {};
  std::string string_to_sign = {};
};

// What has to be signed so that anybody may GET the object. kInvalidArgument unless it is valid for
// 1 second to 7 days.
Result<UnsignedUrl> unsigned_url(const SignedUrlRequest& request);

// The URL, signed.
Result<Secret<std::string>> sign_url(const SignedUrlRequest& request, cloud::GcpSigner& signer,
                                     const sys::CallContext& ctx);

}  // namespace outlast::store::gcs
