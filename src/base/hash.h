#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/result.h"

namespace outlast {

// The SHA-256 of some bytes: their name in the store.
struct Sha256Digest {
  std::array<std::byte, 32> bytes{};
  std::string hex() const { return hex_encode(bytes); }
  friend auto operator<=>(const Sha256Digest&, const Sha256Digest&) = default;
};
// Exactly 64 hex digits.
Result<Sha256Digest> parse_sha256(std::string_view hex);

// SHA-256 of a stream, by OpenSSL (SHA-NI where the processor has it). One object can hash any
// number of messages: finish() starts over, which saves the set-up on small ones. Confined to its
// owner.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(BytesView bytes);
  Sha256Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Sha256Digest sha256(BytesView bytes);

// HMAC-SHA-256 of a message: what the clouds sign requests with.
Sha256Digest hmac_sha256(BytesView key, BytesView message);

// MD5, which some stores want as Content-MD5. Against accidents only, never against malice.
std::array<std::byte, 16> md5(BytesView bytes);
// The same of a stream. finish() comes last. Confined to its owner.
class Md5 {
 public:
  Md5();
  ~Md5();
  Md5(const Md5&) = delete;
  Md5& operator=(const Md5&) = delete;

  void update(BytesView bytes);
  std::array<std::byte, 16> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// CRC-32C (Castagnoli), by ISA-L (SSE4.2/AVX-512 where the processor has it). To go on where an
// earlier call stopped, pass its result as `so_far`: crc32c(b, crc32c(a)) == crc32c(a + b).
std::uint32_t crc32c(BytesView bytes, std::uint32_t so_far = 0);
// The CRC-32C of a + b from those of a and b and the length of b: for parts that were summed apart.
std::uint32_t crc32c_joined(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

// CRC-32, as zip and gzip have it, by the same library. crc32(b, crc32(a)) == crc32(a + b).
std::uint32_t crc32(BytesView bytes, std::uint32_t so_far = 0);

}  // namespace outlast
