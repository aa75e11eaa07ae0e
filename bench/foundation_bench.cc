#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "base/encoding.h"
#include "base/hash.h"
#include "bench/harness.h"

namespace outlast::bench {
namespace {

constexpr std::size_t kSmall = 4U << 10U;
constexpr std::size_t kLarge = 64U << 20U;
constexpr std::size_t kSmallRounds = 4096;  // 16 MiB in all

std::shared_ptr<Bytes> some_bytes(std::size_t size) {
  auto bytes = std::make_shared<Bytes>(size);
  std::uint32_t state = 1;
  for (std::byte& b : *bytes) {
    state = state * 1664525U + 1013904223U;
    b = static_cast<std::byte>(state >> 24U);
  }
  return bytes;
}

// What one would write without a library: one table look-up for each byte.
class BytewiseCrc32c {
 public:
  BytewiseCrc32c() {
    for (std::uint32_t i = 0; i < table_.size(); ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
      table_[i] = crc;
    }
  }
  std::uint32_t operator()(BytesView bytes) const {
    std::uint32_t crc = ~0U;
    for (const std::byte b : bytes) {
      crc = table_[(crc ^ std::to_integer<std::uint32_t>(b)) & 0xffU] ^ (crc >> 8U);
    }
    return ~crc;
  }

 private:
  std::array<std::uint32_t, 256> table_{};
};

// A warm copy: both ends were touched before the clock starts.
std::function<void()> memcpy_of(const std::shared_ptr<Bytes>& bytes) {
  return [bytes, copy = std::make_shared<Bytes>(bytes->size())] {
    std::memcpy(copy->data(), bytes->data(), bytes->size());
    keep(copy->data());
  };
}

std::function<void()> repeated(std::size_t times, std::function<void()> once) {
  return [times, once = std::move(once)] {
    for (std::size_t i = 0; i < times; ++i) once();
  };
}

void add_sha256_cases(Cases& cases) {
  const auto small = some_bytes(kSmall);
  const auto large = some_bytes(kLarge);
  const auto one_digest = repeated(kSmallRounds, [small] {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    EVP_Digest(small->data(), small->size(), digest.data(), nullptr, EVP_sha256(), nullptr);
    keep(digest);
  });
  cases.push_back({.name = "sha256-4k",
                   .what = "one Sha256 for many 4 KiB messages",
                   .baseline_name = "EVP_Digest() each",
                   .bytes = static_cast<double>(kSmall * kSmallRounds),
                   .run = repeated(kSmallRounds,
                                   [small, hash = std::make_shared<Sha256>()] {
                                     hash->update(*small);
                                     keep(hash->finish());
                                   }),
                   .baseline = one_digest});
  cases.push_back({.name = "sha256-4k-once",
                   .what = "sha256() of each 4 KiB message",
                   .baseline_name = "EVP_Digest() each",
                   .bytes = static_cast<double>(kSmall * kSmallRounds),
                   .run = repeated(kSmallRounds, [small] { keep(sha256(*small)); }),
                   .baseline = one_digest});
  cases.push_back({.name = "sha256-64m",
                   .what = "sha256() of 64 MiB",
                   .baseline_name = "memcpy",
                   .bytes = static_cast<double>(kLarge),
                   .run = [large] { keep(sha256(*large)); },
                   .baseline = memcpy_of(large)});
}

void add_crc32c_cases(Cases& cases) {
  const auto small = some_bytes(kSmall);
  const auto large = some_bytes(kLarge);
  const auto bytewise = std::make_shared<const BytewiseCrc32c>();
  cases.push_back(
      {.name = "crc32c-4k",
       .what = "crc32c() of each 4 KiB message",
       .baseline_name = "a table look-up per byte",
       .bytes = static_cast<double>(kSmall * kSmallRounds),
       .run = repeated(kSmallRounds, [small] { keep(crc32c(*small)); }),
       .baseline = repeated(kSmallRounds, [small, bytewise] { keep((*bytewise)(*small)); })});
  cases.push_back({.name = "crc32c-64m",
                   .what = "crc32c() of 64 MiB",
                   .baseline_name = "memcpy",
                   .bytes = static_cast<double>(kLarge),
                   .run = [large] { keep(crc32c(*large)); },
                   .baseline = memcpy_of(large)});
}

}  // namespace

void add_hash_cases(Cases& cases) {
  add_sha256_cases(cases);
  add_crc32c_cases(cases);
}

}  // namespace outlast::bench
