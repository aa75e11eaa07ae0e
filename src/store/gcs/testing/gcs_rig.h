#pragma once

#include <memory>
#include <string>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/secret.h"
#include "cloud/credentials.h"
#include "store/gcs/gcs_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store::gcs::testing {

inline constexpr const char* kToken = "test-token";
inline constexpr const char* kBucket = "bkt-1";

// Stands for a service account's key: what it signs is recognised, and nothing else.
class FakeSigner : public cloud::GcpSigner {
 public:
  const std::string& email() const override { return email_; }
  Result<Bytes> sign(BytesView message, const sys::CallContext& /*ctx*/) override {
    const Sha256Digest digest = sha256(message);
    return Bytes(digest.bytes.begin(), digest.bytes.end());
  }

 private:
  const std::string email_ = "trainer@project.iam.gserviceaccount.com";
};

// A store with everything it needs beside an HttpClient and a clock.
class GcsRig {
 public:
  GcsRig(sys::HttpClient& http, sys::Clock& clock, const std::string& endpoint)
      : credentials_({.token = Secret<std::string>(kToken)}, "the test"),
        store_(make_gcs_store({.bucket = kBucket, .endpoint = endpoint}, http, clock, credentials_,
                              &signer_)) {}

  ObjectStore& store() { return *store_; }

 private:
  cloud::FixedCredentials<cloud::BearerToken> credentials_;
  FakeSigner signer_;
  std::unique_ptr<ObjectStore> store_;
};

}  // namespace outlast::store::gcs::testing
