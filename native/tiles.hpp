// Tiles of a kernel matrix in registers: sums over the features, and the exponential.
#pragma once

#include <limits>

#include "blocks.hpp"

namespace kw::KW_ARCH {

// As many sums as stay in registers and keep the multipliers busy: there are 32 registers of 64
// bytes (AVX-512) or 16 bytes (ARM), or 16 registers.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int kTileRows = 8;
#else
inline constexpr int kTileRows = 6;
#endif
inline constexpr int kTileVectors = 2;

// The sums of a tile: of some rows on the left with the columns of some vectors on the right.
template <class T>
struct Tile {
  using V = Lanes<T>;
  static constexpr Size width = kTileVectors * kLanes<V>;
  V sums[kTileRows][kTileVectors];
};

// sums[a][v] = sum_k add(left[a][k], panel[k][v]). The panel has a line of kTileVectors vectors per
// feature. Add one term by `add(total, x, z)`.
template <class T, class Add>
KW_INLINE void sum_tile(const T* const (&left)[kTileRows], const T* panel, Size d, Tile<T>& tile,
                        Add add) {
  using V = Lanes<T>;
  V sums[kTileRows][kTileVectors] = {};
  for (Size k = 0; k < d; ++k) {
    V columns[kTileVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v)
      columns[v] = load<V>(panel + k * Tile<T>::width + v * kLanes<V>);
#pragma GCC unroll 8
    for (int a = 0; a < kTileRows; ++a) {
      const V x = splat<V>(left[a][k]);
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) sums[a][v] = add(sums[a][v], x, columns[v]);
    }
  }
#pragma GCC unroll 8
  for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) tile.sums[a][v] = sums[a][v];
}

struct AddProduct {
  template <class V>
  KW_INLINE V operator()(V total, V x, V z) const {
    return total + x * z;
  }
};
struct AddSquare {
  template <class V>
  KW_INLINE V operator()(V total, V x, V z) const {
    return total + (x - z) * (x - z);
  }
};

// Constants of exp(x) = 2^k exp(r), |r| <= log(2) / 2: log(2) in two parts, of which the first has
// so few bits that k times it is exact, and the polynomial for (exp(r) - 1 - r) / r^2, highest power
// first: that of least error in float, 3e-9, the series in double. Relative errors are at most 1e-7
// and 3e-16.
template <class T>
struct Exponential;

template <>
struct Exponential<float> {
  using Whole = std::int32_t;
  static constexpr float halves[] = {0.693359375f, -2.12194440e-4f};
  static constexpr float powers[] = {1.3814598787575960e-3f, 8.3687165752053261e-3f,
                                     4.1668388992547989e-2f, 0.16666521131992340f,
                                     0.49999994039535522f};
  // Smaller values are nothing beside a diagonal of one, but products of them would be subnormal
  // numbers, with which a processor is up to a hundred times slower.
  static constexpr float most = 60;
  static constexpr int mantissa_bits = 23;
  static constexpr float large = 1.5f * (1 << 23) + 127;
};

template <>
struct Exponential<double> {
  using Whole = std::int64_t;
  static constexpr double halves[] = {6.93145751953125e-1, 1.42860682030941723e-6};
  static constexpr double powers[] = {1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800,
                                      1. / 362880,     1. / 40320,     1. / 5040,     1. / 720,
                                      1. / 120,        1. / 24,        1. / 6,        1. / 2};
  static constexpr double most = 600;
  static constexpr int mantissa_bits = 52;
  static constexpr double large = 1.5 * (std::int64_t{1} << 52) + 1023;
};

// exp(-max(t, 0)), at least exp(-60) in float and exp(-600) in double.
template <class V>
KW_INLINE V exp_of_minus(V t) {
  using T = Number<V>;
  using Constants = Exponential<T>;
  using Whole = Lanes<typename Constants::Whole, sizeof(V)>;
  t = most(least(t, splat<V>(Constants::most)), splat<V>(T(0)));
  // Beside so large a number the last bits are whole numbers: k and the exponent's offset.
  const V large = splat<V>(Constants::large);
  const V shifted = t * splat<V>(T(-1.4426950408889634)) + large;
  const V k = shifted - large;
  V r = -t;
  for (const T part : Constants::halves) r = r - k * splat<V>(part);
  V e = splat<V>(Constants::powers[0]);
  constexpr int n_powers = sizeof(Constants::powers) / sizeof(T);
#pragma GCC unroll 16
  for (int i = 1; i < n_powers; ++i) e = e * r + splat<V>(Constants::powers[i]);
  e = e * r * r + r;
  e = e + splat<V>(T(1));  // last: the other terms round numbers that are smaller
  const Whole power = (Whole)shifted << Constants::mantissa_bits;
  return e * (V)power;
}

// (2^f - 1) / f for |f| <= 1/2, highest power first: the polynomial of least error, 2e-9.
inline constexpr float kPowersOfTwo[] = {1.5353362e-4f,  1.3398875e-3f, 9.61843692e-3f,
                                         5.55033237e-2f, 0.240226477f,  0.693147182f};

// The kernel exp(-max(t, 0)) of tiles: `exp_of_minus` in double. In float it is 2^-u, u = t log2(e),
// with a third fewer products. That rounds log2(e) and u, as t itself was rounded: beside a diagonal of
// one it is an error of t exp(-t) 7e-8, at most 3e-8, but a relative one of 4e-6 where t is 60.
template <class V>
KW_INLINE V kernel_of(V t) {
  if constexpr (sizeof(Number<V>) == 8) {
    return exp_of_minus(t);
  } else {
    using Whole = Lanes<std::int32_t, sizeof(V)>;
    constexpr float shift = 1.5f * (1 << 23);  // beside it the last bits are whole numbers
    t = most(least(t, splat<V>(Exponential<float>::most)), V{});
    const V u = t * splat<V>(1.44269504f), large = splat<V>(shift);
    const V shifted = large - u;  // its last bits are -round(u)
    const V f = (large - shifted) - u;
    V e = splat<V>(kPowersOfTwo[0]);
    repeat<5>([&](Size i) KW_AT_ONCE { e = e * f + splat<V>(kPowersOfTwo[i + 1]); });
    e = e * f + splat<V>(1.0f);
    return (V)((Whole)e + ((Whole)shifted << Exponential<float>::mantissa_bits));
  }
}

// T = exp(-max(T, 0))
template <class T>
void exp_of_minus_rows(Matrix<T> values) {
  using V = Lanes<T>;
  for (Size i = 0; i < values.rows; ++i) {
    T* const row = values.row(i);
    Size j = 0;
    for (; j + kLanes<V> <= values.columns; j += kLanes<V>)
      store<V>(row + j, exp_of_minus(load<V>(row + j)));
    if (j < values.columns)
      store_part<V>(row + j, exp_of_minus(load_part<V>(row + j, values.columns - j)),
                    values.columns - j);
  }
}

}  // namespace kw::KW_ARCH
