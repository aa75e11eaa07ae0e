#pragma once

#include <memory>
#include <string_view>

#include "base/encoding.h"
#include "base/result.h"

namespace outlast {

// A private RSA key: signs as RS256 does (RSASSA-PKCS1-v1_5 with SHA-256). Copies share the key.
// Immutable after construction, thread-safe.
class RsaPrivateKey {
 public:
  // PKCS#8 or PKCS#1, unencrypted. kInvalidArgument, without a word of the text, if it is not that
  // or is shorter than 2,048 bits.
  static Result<RsaPrivateKey> from_pem(std::string_view pem);

  Result<Bytes> sign_sha256(BytesView message) const;

 private:
  struct State;
  explicit RsaPrivateKey(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;  // shared by the copies of this key
};

// Whether `signature` is that key's over `message`. `pem` is a public key ("BEGIN PUBLIC KEY");
// kInvalidArgument if it is not.
Result<bool> rsa_sha256_verifies(std::string_view public_key_pem, BytesView message,
                                 BytesView signature);

}  // namespace outlast
