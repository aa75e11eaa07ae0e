#include "base/hash.h"

#include <isa-l/crc.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"

namespace outlast {

// Fetching the algorithm once and reusing the context is 10 % faster on 4 KiB messages than letting
// OpenSSL look it up for each.
struct Sha256::State {
  EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() { restart(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    EVP_MD_CTX_free(context);
    EVP_MD_free(algorithm);
  }
  void restart() const {
    OUTLAST_CHECK(EVP_DigestInit_ex2(context, algorithm, nullptr) == 1, "OpenSSL has no SHA-256");
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(BytesView bytes) {
  OUTLAST_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1,
                "EVP_DigestUpdate of {} bytes", bytes.size());
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest;
  OUTLAST_CHECK(
      EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.bytes.data()),
                         nullptr) == 1,
      "EVP_DigestFinal_ex");
  state_->restart();
  return digest;
}

Sha256Digest sha256(BytesView bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Result<Sha256Digest> parse_sha256(std::string_view hex) {
  Sha256Digest digest;
  if (hex.size() != digest.bytes.size() * 2) {
    return Error(ErrorCode::kInvalidArgument, "a SHA-256 has 64 hex digits");
  }
  OUTLAST_TRY_ASSIGN(const Bytes bytes, hex_decode(hex));
  std::copy(bytes.begin(), bytes.end(), digest.bytes.begin());
  return digest;
}

Sha256Digest hmac_sha256(BytesView key, BytesView message) {
  // HMAC() is the oldest interface and the shortest: no context to set up for messages this small.
  OUTLAST_CHECK(key.size() <= std::numeric_limits<int>::max(), "a key of {} bytes", key.size());
  Sha256Digest digest;
  OUTLAST_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                     reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                     reinterpret_cast<unsigned char*>(digest.bytes.data()), nullptr) != nullptr,
                "HMAC of {} bytes", message.size());
  return digest;
}

std::array<std::byte, 16> md5(BytesView bytes) {
  std::array<std::byte, 16> digest{};
  OUTLAST_CHECK(EVP_Digest(bytes.data(), bytes.size(),
                           reinterpret_cast<unsigned char*>(digest.data()), nullptr, EVP_md5(),
                           nullptr) == 1,
                "OpenSSL has no MD5");
  return digest;
}

std::uint32_t crc32c(BytesView bytes, std::uint32_t so_far) {
  // ISA-L takes an int length and leaves the usual inversions to the caller. It also takes a
  // non-const pointer, through which it does not write.
  constexpr std::size_t kAtOnce = std::numeric_limits<int>::max() / 2;
  std::uint32_t crc = ~so_far;
  while (!bytes.empty()) {
    const BytesView part = bytes.first(std::min(bytes.size(), kAtOnce));
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(part.data()));
    crc = crc32_iscsi(data, static_cast<int>(part.size()), crc);
    bytes = bytes.subspan(part.size());
  }
  return ~crc;
}

}  // namespace outlast
