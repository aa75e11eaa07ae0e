#pragma once

#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "cloud/url_encoding.h"
#include "sys/http.h"

// How requests to AWS, and to everything that speaks S3, are signed: version 4. Pure.
namespace outlast::cloud {

// SigV4Request::payload_hash of a request without a body, and of one whose body is not signed.
inline constexpr std::string_view kEmptyPayload =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

// What is signed. Borrows everything.
struct SigV4Request {
  std::string_view method = "GET";
  std::string_view host =
      {};  // as the Host header says it: with the port unless that is the usual one
  std::string_view path = "/";   // as it is sent: percent-encoded once
  const Query* query = nullptr;  // decoded, in any order; nullptr: none
  // All of them are signed, but for those that proxies change (User-Agent, Expect, Connection,
  // X-Amzn-Trace-Id, Authorization). Host and what sign_v4() returns must not be among them.
  const sys::HttpHeaders* headers = nullptr;
  std::string_view payload_hash = kEmptyPayload;  // hex SHA-256 of the body
};

// AwsKeys made ready for one day, region and service: deriving it costs more than a signature, so
// it is kept for as long as fits(). A value.
struct SigningKey {
  std::string access_key_id = {};
  Secret<std::string> session_token = {};
  std::string day = {};  // "20130524"
  std::string region = {};
  std::string service = {};  // "s3", "sts", "ec2"
  Secret<Bytes> key = {};

  // Whether it is for the day of `now`.
  bool fits(WallTime now) const;
};
struct SigningScope {
  std::string_view region = {};
  std::string_view service = {};
};
SigningKey derive_signing_key(const AwsKeys& keys, const SigningScope& scope, WallTime now);

// The headers to add to the request: Authorization, X-Amz-Date, and where they apply
// X-Amz-Content-Sha256 (service "s3" only) and X-Amz-Security-Token. `key` must fit `now`. For
// other services than S3 the path is normalised and encoded a second time, as they want it.
sys::HttpHeaders sign_v4(const SigV4Request& request, const SigningKey& key, WallTime now);

// The whole query, request.query included and encoded, with which `request` is good from `now` on
// for `valid_for` (at most 7 days; whole seconds) without any further header but request.headers.
// Put it behind '?'. The body is never signed: payload_hash is ignored.
Secret<std::string> presign_v4(const SigV4Request& request, const SigningKey& key, WallTime now,
                               Duration valid_for);

}  // namespace outlast::cloud
