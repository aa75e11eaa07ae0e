#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/encoding.h"
#include "base/result.h"
#include "base/secret.h"
#include "sys/call_context.h"

// What proves to a cloud who we are. The sources find it as each cloud's own tools do, keep it, and
// fetch it again before it expires. Nothing secret is logged or stands in an error.
namespace outlast::cloud {

struct AwsKeys {
  std::string access_key_id = {};
  Secret<std::string> secret_key = {};
  Secret<std::string> session_token = {};  // empty for long-lived keys
};

// An OAuth 2 access token. Empty: requests go out without one (an emulator, a public bucket).
struct BearerToken {
  Secret<std::string> token = {};
};

struct AzureSharedKey {
  Secret<Bytes> key = {};
};
struct AzureSas {
  Secret<std::string> query = {};  // "sv=…&sig=…", without the '?'
};
using AzureAuth = std::variant<AzureSharedKey, AzureSas, BearerToken>;

// Credentials of one kind, good at the moment they are given. Thread-safe.
template <typename T>
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  // Kept ones, or new ones when the kept ones are about to expire. kPermissionDenied, with what was
  // looked for and what to do, if there are none.
  virtual Result<T> get(const sys::CallContext& ctx) = 0;
  // The cloud refused what get() gave: the next call fetches anew.
  virtual void forget() = 0;
  // Where they come from, for people: "profile 'train' in ~/.aws/credentials". Before the first
  // get() it may be "".
  virtual std::string origin() = 0;
};

// A CredentialSource that always gives the same: explicit keys, tests.
template <typename T>
class FixedCredentials : public CredentialSource<T> {
 public:
  FixedCredentials(T value, std::string origin)
      : value_(std::move(value)), origin_(std::move(origin)) {}
  Result<T> get(const sys::CallContext&) override { return value_; }
  void forget() override {}
  std::string origin() override { return origin_; }

 private:
  const T value_;
  const std::string origin_;
};

// Signs as a Google service account, for signed URLs. Thread-safe.
class GcpSigner {
 public:
  virtual ~GcpSigner() = default;
  virtual const std::string& email() const = 0;
  // RSA-SHA256 of `message` with the account's private key.
  virtual Result<Bytes> sign(BytesView message, const sys::CallContext& ctx) = 0;
};

}  // namespace outlast::cloud
