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
  OUTLAST_CHECK(
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                 nullptr, EVP_md5(), nullptr) == 1,
      "OpenSSL has no MD5");
  return digest;
}

struct Md5::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Md5::Md5() : state_(std::make_unique<State>()) {
  OUTLAST_CHECK(EVP_DigestInit_ex2(state_->context, EVP_md5(), nullptr) == 1, "OpenSSL has no MD5");
}
Md5::~Md5() = default;

void Md5::update(BytesView bytes) {
  OUTLAST_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1,
                "EVP_DigestUpdate of {} bytes", bytes.size());
}

std::array<std::byte, 16> Md5::finish() {
  std::array<std::byte, 16> digest{};
  OUTLAST_CHECK(EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.data()),
                                   nullptr) == 1,
                "EVP_DigestFinal_ex");
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

namespace {

// The product of two polynomials over GF(2) modulo Castagnoli's, the lowest power in the top bit.
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1U << 31U; bit != 0; bit >>= 1U) {
    if ((a & bit) != 0) product ^= b;
    b = (b >> 1U) ^ ((b & 1U) != 0 ? 0x82f63b78U : 0U);
  }
  return product;
}

}  // namespace

std::uint32_t crc32c_joined(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  // Appending n bytes multiplies a CRC by x^(8n), which squaring reaches in log n steps.
  std::uint32_t shift = 1U << 31U;         // x^0
  std::uint32_t power = 1U << (31U - 8U);  // x^8
  for (; second_bytes != 0; second_bytes >>= 1U) {
    if ((second_bytes & 1U) != 0) shift = multiply(shift, power);
    power = multiply(power, power);
  }
  return multiply(shift, first) ^ second;
}

std::uint32_t crc32(BytesView bytes, std::uint32_t so_far) {
  // Unlike the other, this one does the inversions itself.
  return crc32_gzip_refl(so_far, reinterpret_cast<const unsigned char*>(bytes.data()),
                         bytes.size());
}

}  // namespace outlast
