#include "base/rsa.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/testing/rsa_test_keys.h"

namespace outlast {
namespace {

TEST(Rsa, WhatItSignsVerifiesWithThePublicKey) {
  for (const std::string_view pem : {testing::kRsaPrivateKey, testing::kRsaPrivateKeyPkcs1}) {
    const Result<RsaPrivateKey> key = RsaPrivateKey::from_pem(pem);
    ASSERT_TRUE(key.has_value());
    for (const std::string& message :
         {std::string(), std::string("a"), std::string(100'000, 'x')}) {
      const Result<Bytes> signature = key->sign_sha256(as_bytes(message));
      ASSERT_TRUE(signature.has_value());
      EXPECT_EQ(signature->size(), 256U);
      EXPECT_TRUE(
          rsa_sha256_verifies(testing::kRsaPublicKey, as_bytes(message), *signature).value());
      EXPECT_FALSE(
          rsa_sha256_verifies(testing::kRsaPublicKey, as_bytes(message + "!"), *signature).value());
      Bytes changed = *signature;
      changed[100] ^= std::byte{1};
      EXPECT_FALSE(rsa_sha256_verifies(testing::kRsaPublicKey, as_bytes(message), changed).value());
    }
  }
}

TEST(Rsa, BothFormsOfAKeySignAlike) {
  EXPECT_EQ(*RsaPrivateKey::from_pem(testing::kRsaPrivateKey)->sign_sha256(as_bytes("m")),
            *RsaPrivateKey::from_pem(testing::kRsaPrivateKeyPkcs1)->sign_sha256(as_bytes("m")));
}

TEST(Rsa, ASignatureOfNoBytesDoesNotVerify) {
  EXPECT_FALSE(rsa_sha256_verifies(testing::kRsaPublicKey, as_bytes("m"), {}).value());
}

TEST(Rsa, RefusesWhatIsNotAUsableKeyWithoutShowingIt) {
  for (const std::string_view pem :
       {std::string_view(""), std::string_view("hello-there"), testing::kRsaPublicKey,
        testing::kRsaPrivateKeyEncrypted, testing::kRsaPrivateKeySmall, testing::kEcPrivateKey,
        testing::kRsaPrivateKey.substr(0, 800),
        std::string_view(
            "-----BEGIN PRIVATE KEY-----\nhello-there\n-----END PRIVATE KEY-----\n")}) {
    const Result<RsaPrivateKey> key = RsaPrivateKey::from_pem(pem);
    ASSERT_FALSE(key.has_value()) << pem;
    EXPECT_EQ(key.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(key.error().to_string().find("hello"), std::string::npos);
  }
  EXPECT_FALSE(rsa_sha256_verifies("nonsense", as_bytes("m"), as_bytes("s")).has_value());
}

}  // namespace
}  // namespace outlast
