#include "base/rsa.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/types.h>

#include <climits>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"

namespace outlast {
namespace {

constexpr int kRsaBitsMin = 2048;

struct FreeOpenssl {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
template <typename T>
using Owned = std::unique_ptr<T, FreeOpenssl>;

using PemReader = EVP_PKEY* (*)(BIO*, EVP_PKEY**, pem_password_cb*, void*);

// Without this OpenSSL would ask on the terminal for the password of an encrypted key.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) {
  return 0;
}

// nullptr if the text is not such a key.
Owned<EVP_PKEY> read_pem(std::string_view pem, PemReader reader) {
  if (pem.size() > static_cast<std::size_t>(INT_MAX)) return nullptr;
  const Owned<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  OUTLAST_CHECK(bio != nullptr, "OpenSSL has no memory for {} bytes", pem.size());
  Owned<EVP_PKEY> key(reader(bio.get(), nullptr, no_password, nullptr));
  ERR_clear_error();  // the queue would otherwise be found by whoever asks next on this thread
  if (key != nullptr && EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA) return nullptr;
  return key;
}

Owned<EVP_MD_CTX> make_digest_context() {
  Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  OUTLAST_CHECK(context != nullptr, "OpenSSL has no memory for a digest");
  return context;
}

const unsigned char* as_unsigned(BytesView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

struct RsaPrivateKey::State {
  explicit State(EVP_PKEY* owned) : key(owned) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_PKEY_free(key); }

  EVP_PKEY* const key;
};

RsaPrivateKey::RsaPrivateKey(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<RsaPrivateKey> RsaPrivateKey::from_pem(std::string_view pem) {
  Owned<EVP_PKEY> key = read_pem(pem, PEM_read_bio_PrivateKey);
  if (key == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 "the private key is not an unencrypted RSA key in PEM form");
  }
  if (EVP_PKEY_get_bits(key.get()) < kRsaBitsMin) {
    return Error(ErrorCode::kInvalidArgument, "the RSA key is shorter than 2048 bits");
  }
  return RsaPrivateKey(std::make_shared<const State>(key.release()));
}

Result<Bytes> RsaPrivateKey::sign_sha256(BytesView message) const {
  const Owned<EVP_MD_CTX> context = make_digest_context();
  std::size_t size = 0;
  bool ok =
      EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, state_->key) == 1 &&
      EVP_DigestSign(context.get(), nullptr, &size, as_unsigned(message), message.size()) == 1;
  Bytes signature(size);
  ok = ok && EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                            &size, as_unsigned(message), message.size()) == 1;
  ERR_clear_error();
  if (!ok) return Error(ErrorCode::kFailed, "OpenSSL could not sign with the RSA key");
  signature.resize(size);
  return signature;
}

Result<bool> rsa_sha256_verifies(std::string_view public_key_pem, BytesView message,
                                 BytesView signature) {
  const Owned<EVP_PKEY> key = read_pem(public_key_pem, PEM_read_bio_PUBKEY);
  if (key == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "the public key is not an RSA key in PEM form");
  }
  const Owned<EVP_MD_CTX> context = make_digest_context();
  const bool verifies =
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), as_unsigned(signature), signature.size(),
                       as_unsigned(message), message.size()) == 1;
  ERR_clear_error();
  return verifies;
}

}  // namespace outlast
