#include "sdk/stream_copy.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace outlast::sdk {

#ifdef __SSE2__
namespace {

constexpr std::size_t kLine = 64;
// Below that, starting and ending cost more than the caches gain.
constexpr std::size_t kStreamBytesMin = 32U << 10U;
// Several pages are copied side by side, a line of each in turn: memory serves that a third faster
// than one page after the other.
constexpr std::size_t kPage = 4096;
constexpr std::size_t kPagesAbreast = 4;
constexpr std::size_t kBlock = kPage * kPagesAbreast;

// To where a line begins.
void stream_line(std::byte* to, const std::byte* from) {
  const auto* const source = reinterpret_cast<const __m128i*>(from);
  auto* const target = reinterpret_cast<__m128i*>(to);
  const __m128i a = _mm_loadu_si128(source);
  const __m128i b = _mm_loadu_si128(source + 1);
  const __m128i c = _mm_loadu_si128(source + 2);
  const __m128i d = _mm_loadu_si128(source + 3);
  _mm_stream_si128(target, a);
  _mm_stream_si128(target + 1, b);
  _mm_stream_si128(target + 2, c);
  _mm_stream_si128(target + 3, d);
}

void stream_lines(std::byte* to, const std::byte* from, std::size_t lines) {
  for (; lines > 0; --lines, to += kLine, from += kLine) stream_line(to, from);
}

void stream_block_sse2(std::byte* to, const std::byte* from) {
  for (std::size_t line = 0; line < kPage; line += kLine) {
    for (std::size_t at = line; at < kBlock; at += kPage) stream_line(to + at, from + at);
  }
}

__attribute__((target("avx"))) void stream_block_avx(std::byte* to, const std::byte* from) {
  for (std::size_t line = 0; line < kPage; line += kLine) {
    for (std::size_t at = line; at < kBlock; at += kPage) {
      const auto* const source = reinterpret_cast<const __m256i*>(from + at);
      auto* const target = reinterpret_cast<__m256i*>(to + at);
      const __m256i a = _mm256_loadu_si256(source);
      const __m256i b = _mm256_loadu_si256(source + 1);
      _mm256_stream_si256(target, a);
      _mm256_stream_si256(target + 1, b);
    }
  }
}

}  // namespace

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes < kStreamBytesMin) {
    std::memcpy(to, from, bytes);
    return;
  }
  static const bool has_avx = __builtin_cpu_supports("avx") != 0;
  const std::size_t before = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
  std::memcpy(to, from, before);
  std::size_t at = before;
  for (; bytes - at >= kBlock; at += kBlock) {
    if (has_avx) {
      stream_block_avx(to + at, from + at);
    } else {
      stream_block_sse2(to + at, from + at);
    }
  }
  const std::size_t lines = (bytes - at) / kLine;
  stream_lines(to + at, from + at, lines);
  at += lines * kLine;
  std::memcpy(to + at, from + at, bytes - at);
}

void finish_stream_copies() {
  _mm_sfence();
}

#else

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void finish_stream_copies() {}

#endif

}  // namespace outlast::sdk
