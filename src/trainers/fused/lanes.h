#pragma once

// Eight and sixteen floats as one value, for the files kernels_*.cc, each compiled for one kind of
// processor. An operation rounds once and gives the same bits in all of them: a training may begin
// on one kind of machine and end on another. Everything has internal linkage and hardly anything is
// included: a function that two of those files share would be linked once, for one of their
// processors.
#include <cstddef>
#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace outlast::trainers::fused {
namespace {

#if defined(__AVX2__)

struct V8 {
  __m256 v;
};
inline V8 load8(const float* from) {
  return {_mm256_loadu_ps(from)};
}
inline void store(float* to, V8 a) {
  _mm256_storeu_ps(to, a.v);
}
inline V8 all8(float value) {
  return {_mm256_set1_ps(value)};
}
inline V8 fma(V8 a, V8 b, V8 c) {
  return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}
inline V8 add(V8 a, V8 b) {
  return {_mm256_add_ps(a.v, b.v)};
}
inline V8 multiply(V8 a, V8 b) {
  return {_mm256_mul_ps(a.v, b.v)};
}
inline V8 divide(V8 a, V8 b) {
  return {_mm256_div_ps(a.v, b.v)};
}
inline V8 square_root(V8 a) {
  return {_mm256_sqrt_ps(a.v)};
}
// Where a > b, `yes`, elsewhere `no`.
inline V8 where_greater(V8 a, V8 b, V8 yes, V8 no) {
  return {_mm256_blendv_ps(no.v, yes.v, _mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ))};
}
// Lanes that are whole numbers, as such.
inline void store_whole(std::int32_t* to, V8 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_cvttps_epi32(a.v));
}
// Lane i of row k becomes lane k of row i.
inline void transpose(V8 (&rows)[8]) {
  V8 pairs[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = {_mm256_unpacklo_ps(rows[i].v, rows[i + 1].v)};
    pairs[i + 1] = {_mm256_unpackhi_ps(rows[i].v, rows[i + 1].v)};
  }
  V8 fours[8];
  for (int i = 0; i < 8; i += 4) {
    for (int k = 0; k < 2; ++k) {
      fours[i + 2 * k] = {_mm256_shuffle_ps(pairs[i + k].v, pairs[i + k + 2].v, 0x44)};
      fours[i + 2 * k + 1] = {_mm256_shuffle_ps(pairs[i + k].v, pairs[i + k + 2].v, 0xee)};
    }
  }
  for (int i = 0; i < 4; ++i) {
    rows[i] = {_mm256_permute2f128_ps(fours[i].v, fours[i + 4].v, 0x20)};
    rows[i + 4] = {_mm256_permute2f128_ps(fours[i].v, fours[i + 4].v, 0x31)};
  }
}
// Lane i with lane i + 4, then i + 2, then i + 1.
inline float sum_of(V8 a) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

#else

struct V8 {
  float v[8];
};
template <class Of>
inline V8 each(const Of& of) {
  V8 out;
  for (int i = 0; i < 8; ++i) out.v[i] = of(i);
  return out;
}
inline V8 load8(const float* from) {
  return each([&](int i) { return from[i]; });
}
inline void store(float* to, const V8& a) {
  for (int i = 0; i < 8; ++i) to[i] = a.v[i];
}
inline V8 all8(float value) {
  return each([&](int) { return value; });
}
inline V8 fma(const V8& a, const V8& b, const V8& c) {
  return each([&](int i) { return __builtin_fmaf(a.v[i], b.v[i], c.v[i]); });
}
inline V8 add(const V8& a, const V8& b) {
  return each([&](int i) { return a.v[i] + b.v[i]; });
}
inline V8 multiply(const V8& a, const V8& b) {
  return each([&](int i) { return a.v[i] * b.v[i]; });
}
inline V8 divide(const V8& a, const V8& b) {
  return each([&](int i) { return a.v[i] / b.v[i]; });
}
inline V8 square_root(const V8& a) {
  return each([&](int i) { return __builtin_sqrtf(a.v[i]); });
}
inline V8 where_greater(const V8& a, const V8& b, const V8& yes, const V8& no) {
  return each([&](int i) { return a.v[i] > b.v[i] ? yes.v[i] : no.v[i]; });
}
inline void store_whole(std::int32_t* to, const V8& a) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<std::int32_t>(a.v[i]);
}
inline void transpose(V8 (&rows)[8]) {
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < i; ++k) {
      const float kept = rows[i].v[k];
      rows[i].v[k] = rows[k].v[i];
      rows[k].v[i] = kept;
    }
  }
}
inline float sum_of(const V8& a) {
  float four[4];
  for (int i = 0; i < 4; ++i) four[i] = a.v[i] + a.v[i + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

#endif

struct V16 {
  V8 a;
  V8 b;
};
inline V16 load16(const float* from) {
  return {load8(from), load8(from + 8)};
}
inline void store(float* to, V16 a) {
  store(to, a.a);
  store(to + 8, a.b);
}
inline void store_whole(std::int32_t* to, V16 a) {
  store_whole(to, a.a);
  store_whole(to + 8, a.b);
}
inline V16 all16(float value) {
  return {all8(value), all8(value)};
}
inline V16 fma(V16 a, V16 b, V16 c) {
  return {fma(a.a, b.a, c.a), fma(a.b, b.b, c.b)};
}
inline V16 add(V16 a, V16 b) {
  return {add(a.a, b.a), add(a.b, b.b)};
}
inline V16 multiply(V16 a, V16 b) {
  return {multiply(a.a, b.a), multiply(a.b, b.b)};
}
inline V16 divide(V16 a, V16 b) {
  return {divide(a.a, b.a), divide(a.b, b.b)};
}
inline V16 square_root(V16 a) {
  return {square_root(a.a), square_root(a.b)};
}
inline V16 where_greater(V16 a, V16 b, V16 yes, V16 no) {
  return {where_greater(a.a, b.a, yes.a, no.a), where_greater(a.b, b.b, yes.b, no.b)};
}
inline float sum_of(V16 a) {
  return sum_of(add(a.a, a.b));
}

// What fits into sixteen registers of eight floats: loops are cut to that, which changes no result.
inline constexpr std::size_t kConv1MapsAtOnce = 3;
inline constexpr std::size_t kConv2RowsAtOnce = 3;
inline constexpr std::size_t kForwardImages = 4;
inline constexpr std::size_t kForwardOutputs = 2;
inline constexpr std::size_t kBackImages = 4;
inline constexpr std::size_t kBackOutputs = 2;

}  // namespace
}  // namespace outlast::trainers::fused
