// Vectors as values: as many numbers side by side as a register of the target holds.
//
// The compilers' vector extensions serve every processor. What GCC makes badly of them (extrema,
// masks of AVX-512, parts of a vector) is spelled in intrinsics on x86-64. Blends of SSE and AVX2 are
// not: with the intrinsic, GCC 12 compares every mask with zero before it blends.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "views.hpp"

namespace kw::KW_ARCH {

#if defined(__AVX512F__)
inline constexpr int kBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kBytes = 32;
#else
inline constexpr int kBytes = 16;
#endif

template <class T, int bytes = kBytes>
struct LanesOf {
  typedef T type __attribute__((vector_size(bytes)));
};
template <class T, int bytes = kBytes>
using Lanes = typename LanesOf<T, bytes>::type;

template <class V>
using Number = std::remove_cvref_t<decltype(std::declval<V&>()[0])>;

template <class V>
inline constexpr Size kLanes = sizeof(V) / sizeof(Number<V>);

template <class V>
KW_INLINE V load(const Number<V>* source) {
  V lanes;
  std::memcpy(&lanes, source, sizeof(V));
  return lanes;
}

template <class V>
KW_INLINE void store(Number<V>* target, V lanes) {
  std::memcpy(target, &lanes, sizeof(V));
}

template <class V>
KW_INLINE V splat(Number<V> number) {
  return number - V{};  // a number and a vector: the number in every lane
}

// Have memory brought to the cache: it is going to be read, or written, soon.
KW_INLINE void await_load(const void* place) { __builtin_prefetch(place, 0, 3); }
KW_INLINE void await_store(const void* place) { __builtin_prefetch(place, 1, 3); }

// Call with 0, 1, ... count - 1, one after the other. Numbers that are known when a template is made
// leave arrays in registers, as those of an unrolled loop often do not.
template <Size count, class Call>
KW_INLINE void repeat(Call call) {
  [&]<std::size_t... k>(std::index_sequence<k...>) KW_AT_ONCE {
    (call(static_cast<Size>(k)), ...);
  }(std::make_index_sequence<count>{});
}

// Keeps a loop from being vectorised: vectors wait for numbers that were written just before.
#define KW_ONE_BY_ONE __asm__ volatile("")

// Load a constant of a loop anew, where there are only 16 registers: the loop needs all of them for
// what it changes, which in memory would have to wait for itself.
template <class V>
KW_INLINE V load_anew(const Number<V>* source) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  __asm__ volatile("" : "+r"(source));
#endif
  return load<V>(source);
}

// Operations by kind of vector:
//   least, most      lane by lane; the second where the first is NaN
//   less, equal      a mask of the lanes for which it holds
//   select           the first where the mask is set, else the second
//   bits             a mask as a number, lane 0 lowest
//   load_part        the first `count` numbers, zeros in the other lanes
//   store_part       write the first `count` lanes alone
template <class V>
struct Operations {
  using Whole = std::conditional_t<sizeof(Number<V>) == 4, std::int32_t, std::int64_t>;
  using Mask = Lanes<Whole, sizeof(V)>;

  KW_INLINE static V least(V a, V b) { return a < b ? a : b; }
  KW_INLINE static V most(V a, V b) { return a > b ? a : b; }
  KW_INLINE static Mask less(V a, V b) { return a < b; }
  KW_INLINE static Mask equal(V a, V b) { return a == b; }
  KW_INLINE static V select(Mask mask, V a, V b) { return mask ? a : b; }
  KW_INLINE static unsigned bits(Mask mask) {
    unsigned found = 0;
    for (Size lane = 0; lane < kLanes<V>; ++lane) found |= (mask[lane] != 0 ? 1u : 0u) << lane;
    return found;
  }
  KW_INLINE static V load_part(const Number<V>* source, Size count) {
    V lanes{};
    std::memcpy(&lanes, source, static_cast<std::size_t>(count) * sizeof(Number<V>));
    return lanes;
  }
  KW_INLINE static void store_part(Number<V>* target, V lanes, Size count) {
    std::memcpy(target, &lanes, static_cast<std::size_t>(count) * sizeof(Number<V>));
  }
};

#if defined(__AVX512F__)

#define KW_OPERATIONS(T, bytes, prefix, suffix, mask_type)                                        \
  template <>                                                                                     \
  struct Operations<Lanes<T, bytes>> {                                                            \
    using V = Lanes<T, bytes>;                                                                    \
    using Mask = mask_type;                                                                       \
    KW_INLINE static V least(V a, V b) { return prefix##_min_##suffix(a, b); }                    \
    KW_INLINE static V most(V a, V b) { return prefix##_max_##suffix(a, b); }                     \
    KW_INLINE static Mask less(V a, V b) {                                                        \
      return prefix##_cmp_##suffix##_mask(a, b, _CMP_LT_OQ);                                      \
    }                                                                                             \
    KW_INLINE static Mask equal(V a, V b) {                                                       \
      return prefix##_cmp_##suffix##_mask(a, b, _CMP_EQ_OQ);                                      \
    }                                                                                             \
    KW_INLINE static V select(Mask mask, V a, V b) {                                              \
      return prefix##_mask_blend_##suffix(mask, b, a);                                            \
    }                                                                                             \
    KW_INLINE static unsigned bits(Mask mask) { return mask; }                                    \
    KW_INLINE static Mask first(Size count) { return static_cast<Mask>((1u << count) - 1); }      \
    KW_INLINE static V load_part(const T* source, Size count) {                                   \
      return prefix##_maskz_loadu_##suffix(first(count), source);                                 \
    }                                                                                             \
    KW_INLINE static void store_part(T* target, V lanes, Size count) {                            \
      prefix##_mask_storeu_##suffix(target, first(count), lanes);                                 \
    }                                                                                             \
  }

KW_OPERATIONS(float, 64, _mm512, ps, __mmask16);
KW_OPERATIONS(double, 64, _mm512, pd, __mmask8);
KW_OPERATIONS(float, 32, _mm256, ps, __mmask8);
KW_OPERATIONS(double, 32, _mm256, pd, __mmask8);
#undef KW_OPERATIONS

#elif defined(__AVX2__)

#define KW_OPERATIONS(T, whole, suffix)                                                           \
  template <>                                                                                     \
  struct Operations<Lanes<T, 32>> {                                                               \
    using V = Lanes<T, 32>;                                                                       \
    using Mask = Lanes<whole, 32>;                                                                \
    KW_INLINE static V least(V a, V b) { return _mm256_min_##suffix(a, b); }                      \
    KW_INLINE static V most(V a, V b) { return _mm256_max_##suffix(a, b); }                       \
    KW_INLINE static Mask less(V a, V b) { return a < b; }                                        \
    KW_INLINE static Mask equal(V a, V b) { return a == b; }                                      \
    KW_INLINE static V select(Mask mask, V a, V b) { return mask ? a : b; }                       \
    KW_INLINE static unsigned bits(Mask mask) {                                                   \
      return static_cast<unsigned>(_mm256_movemask_##suffix((V)mask));                            \
    }                                                                                             \
    KW_INLINE static __m256i first(Size count) {                                                  \
      const Lanes<whole, 32> left = static_cast<whole>(count) - Lanes<whole, 32>{};               \
      Lanes<whole, 32> lane{};                                                                    \
      for (Size k = 0; k < kLanes<V>; ++k) lane[k] = static_cast<whole>(k);                       \
      return (__m256i)(lane < left);                                                              \
    }                                                                                             \
    KW_INLINE static V load_part(const T* source, Size count) {                                   \
      return _mm256_maskload_##suffix(source, first(count));                                      \
    }                                                                                             \
    KW_INLINE static void store_part(T* target, V lanes, Size count) {                            \
      _mm256_maskstore_##suffix(target, first(count), lanes);                                     \
    }                                                                                             \
  }

KW_OPERATIONS(float, std::int32_t, ps);
KW_OPERATIONS(double, std::int64_t, pd);
#undef KW_OPERATIONS

#elif defined(__SSE4_2__)

#define KW_OPERATIONS(T, whole, suffix)                                                           \
  template <>                                                                                     \
  struct Operations<Lanes<T, 16>> {                                                               \
    using V = Lanes<T, 16>;                                                                       \
    using Mask = Lanes<whole, 16>;                                                                \
    KW_INLINE static V least(V a, V b) { return _mm_min_##suffix(a, b); }                         \
    KW_INLINE static V most(V a, V b) { return _mm_max_##suffix(a, b); }                          \
    KW_INLINE static Mask less(V a, V b) { return a < b; }                                        \
    KW_INLINE static Mask equal(V a, V b) { return a == b; }                                      \
    KW_INLINE static V select(Mask mask, V a, V b) { return mask ? a : b; }                       \
    KW_INLINE static unsigned bits(Mask mask) {                                                   \
      return static_cast<unsigned>(_mm_movemask_##suffix((V)mask));                               \
    }                                                                                             \
    KW_INLINE static V load_part(const T* source, Size count) {                                   \
      V lanes{};                                                                                  \
      for (Size k = 0; k < count; ++k) lanes[k] = source[k];                                      \
      return lanes;                                                                               \
    }                                                                                             \
    KW_INLINE static void store_part(T* target, V lanes, Size count) {                            \
      for (Size k = 0; k < count; ++k) target[k] = lanes[k];                                      \
    }                                                                                             \
  }

KW_OPERATIONS(float, std::int32_t, ps);
KW_OPERATIONS(double, std::int64_t, pd);
#undef KW_OPERATIONS

#endif

template <class V>
KW_INLINE V least(V a, V b) {
  return Operations<V>::least(a, b);
}
template <class V>
KW_INLINE V most(V a, V b) {
  return Operations<V>::most(a, b);
}
template <class V>
KW_INLINE auto less(V a, V b) {
  return Operations<V>::less(a, b);
}
template <class V>
KW_INLINE auto equal(V a, V b) {
  return Operations<V>::equal(a, b);
}
template <class V>
KW_INLINE V select(typename Operations<V>::Mask mask, V a, V b) {
  return Operations<V>::select(mask, a, b);
}
template <class V>
KW_INLINE bool any_less(V a, V b) {
  return Operations<V>::bits(less(a, b)) != 0;
}
template <class V>
KW_INLINE V load_part(const Number<V>* source, Size count) {
  return Operations<V>::load_part(source, count);
}
template <class V>
KW_INLINE void store_part(Number<V>* target, V lanes, Size count) {
  Operations<V>::store_part(target, lanes, count);
}

// Load the numbers from `source` on of which `left` are there; zeros behind them.
template <class V>
KW_INLINE V load_up_to(const Number<V>* source, Size left) {
  return left >= kLanes<V> ? load<V>(source) : load_part<V>(source, left > 0 ? left : 0);
}
template <class V>
KW_INLINE void store_up_to(Number<V>* target, V lanes, Size left) {
  if (left >= kLanes<V>)
    store<V>(target, lanes);
  else
    store_part<V>(target, lanes, left);
}

// Combine all lanes: of two lanes whose numbers differ in one bit, both become one.
template <int distance, class V, class Combine, std::size_t... lane>
KW_INLINE V fold_lanes(V lanes, Combine combine, std::index_sequence<lane...> all) {
  if constexpr (distance == 0) {
    return lanes;
  } else {
    const V others = __builtin_shufflevector(lanes, lanes, static_cast<int>(lane ^ distance)...);
    return fold_lanes<distance / 2>(combine(lanes, others), combine, all);
  }
}
template <class V, class Combine>
KW_INLINE Number<V> fold(V lanes, Combine combine) {
  return fold_lanes<kLanes<V> / 2>(lanes, combine, std::make_index_sequence<kLanes<V>>{})[0];
}

template <class V>
KW_INLINE Number<V> least_of(V lanes) {
  return fold(lanes, [](V a, V b) { return least(a, b); });
}
template <class V>
KW_INLINE Number<V> most_of(V lanes) {
  return fold(lanes, [](V a, V b) { return most(a, b); });
}
template <class V>
KW_INLINE Number<V> sum_of(V lanes) {
  return fold(lanes, [](V a, V b) { return a + b; });
}

template <class V>
KW_INLINE V lane_numbers() {
  V lanes{};
  for (Size k = 0; k < kLanes<V>; ++k) lanes[k] = static_cast<Number<V>>(k);
  return lanes;
}

// Floats as doubles and back. GCC 12 converts halves of a vector one by one unless it is told how.
template <class V>
KW_INLINE V widen(Lanes<float, sizeof(V) / 2> lanes) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return _mm512_cvtps_pd(lanes);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return _mm256_cvtps_pd(lanes);
#endif
  return __builtin_convertvector(lanes, V);
}
template <class V>
KW_INLINE Lanes<float, sizeof(V) / 2> narrow(V lanes) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return _mm512_cvtpd_ps(lanes);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return _mm256_cvtpd_ps(lanes);
#endif
  return __builtin_convertvector(lanes, Lanes<float, sizeof(V) / 2>);
}

// Load as many numbers as fill a vector of doubles.
template <class V, class T>
KW_INLINE V load_wide(const T* source) {
  if constexpr (std::is_same_v<T, double>)
    return load<V>(source);
  else
    return widen<V>(load<Lanes<T, sizeof(V) / 2>>(source));
}

// Doubles of at most 32 bytes, for loops that are short or convert numbers.
using Doubles = Lanes<double, kBytes < 32 ? kBytes : 32>;

template <class V>
KW_INLINE V size_of(V lanes) {
  return most(lanes, -lanes);
}

// Load as many words as a vector of floats has lanes, as whole numbers of 32 bits.
template <class V>
KW_INLINE Lanes<std::int32_t, sizeof(V)> load_words(const Word* source) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64)
    return (Lanes<std::int32_t, 64>)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)source));
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32)
    return (Lanes<std::int32_t, 32>)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)source));
#endif
#if defined(__SSE4_2__)
  if constexpr (sizeof(V) == 16)
    return (Lanes<std::int32_t, 16>)_mm_cvtepu16_epi32(_mm_loadu_si64(source));
#endif
  return __builtin_convertvector(load<Lanes<Word, sizeof(V) / 2>>(source),
                                 Lanes<std::int32_t, sizeof(V)>);
}

// Write the first `left` lanes, numbers of 0 to 65535, as words.
template <class V>
KW_INLINE void store_words(Word* target, V lanes, Size left) {
  const auto whole = __builtin_convertvector(lanes, Lanes<std::int32_t, sizeof(V)>);
  Word words[kLanes<V>];
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    const __m256i narrow = _mm512_cvtepi32_epi16((__m512i)whole);
    std::memcpy(words, &narrow, sizeof(words));
  } else
#elif defined(__AVX2__)
  if constexpr (sizeof(V) == 32) {
    const __m256i packed = _mm256_packus_epi32((__m256i)whole, (__m256i)whole);
    const __m256i narrow = _mm256_permute4x64_epi64(packed, 0x08);
    std::memcpy(words, &narrow, sizeof(words));
  } else
#endif
    for (Size k = 0; k < kLanes<V>; ++k) words[k] = static_cast<Word>(whole[k]);
  std::memcpy(target, words, sizeof(Word) * static_cast<std::size_t>(left < kLanes<V> ? left : kLanes<V>));
}

}  // namespace kw::KW_ARCH
