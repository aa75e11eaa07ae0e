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
constexpr std::size_t kAhead = 512;

// Both copy whole lines to where a line begins.
void stream_lines_sse2(std::byte* to, const std::byte* from, std::size_t lines) {
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    _mm_prefetch(reinterpret_cast<const char*>(from + kAhead), _MM_HINT_NTA);
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
}

__attribute__((target("avx"))) void stream_lines_avx(std::byte* to, const std::byte* from,
                                                     std::size_t lines) {
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    _mm_prefetch(reinterpret_cast<const char*>(from + kAhead), _MM_HINT_NTA);
    const auto* const source = reinterpret_cast<const __m256i*>(from);
    auto* const target = reinterpret_cast<__m256i*>(to);
    const __m256i a = _mm256_loadu_si256(source);
    const __m256i b = _mm256_loadu_si256(source + 1);
    _mm256_stream_si256(target, a);
    _mm256_stream_si256(target + 1, b);
  }
}

}  // namespace

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes < kStreamBytesMin) {
    std::memcpy(to, from, bytes);
    return;
  }
  const std::size_t before = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
  const std::size_t lines = (bytes - before) / kLine;
  const std::size_t streamed = lines * kLine;
  std::memcpy(to, from, before);
  if (__builtin_cpu_supports("avx") != 0) {
    stream_lines_avx(to + before, from + before, lines);
  } else {
    stream_lines_sse2(to + before, from + before, lines);
  }
  std::memcpy(to + before + streamed, from + before + streamed, bytes - before - streamed);
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
