// The Gaussian kernel by tiles: exp(-|x - z|^2) from rows (x, |x|^2, 1) that are scaled already.
//
//     |x - z|^2 = |x|^2 + |z|^2 - 2 x.z
//
// Of far rows that are close together this leaves mostly rounding. Where |x|^2 + |z|^2 > kFar and
// the distance is below kClose, beyond which nothing is left of the error in exp(-t), a tile is
// made of the differences x - z instead. A distance that is rounding alone may exceed kClose by
// kRounding times |x|^2 + |z|^2.
#pragma once

#include "exp_tiles.hpp"

namespace kw::KW_ARCH {

inline constexpr double kClose = 8;
template <class T>
inline constexpr T kFar = sizeof(T) == 4 ? 64 : 1e7;
template <class T>
inline constexpr T kRounding = sizeof(T) == 4 ? 0 : 1e-14;  // rows in float are never that far
template <class T>  // of a row of such a pair, as sqrt(kFar/2) - sqrt(kClose)
inline constexpr T kLeastSquare = sizeof(T) == 4 ? 7.9 : 4.9e6;

// |x|^2 + |z|^2 - 2 x.z, in an order that is the same for (x, z) and (z, x).
template <class V>
KW_INLINE V squared_distances(Number<V> square, V squares, V dots) {
  const V both = splat<V>(square) + squares;
  return both - dots * splat<V>(2);
}

// The lanes whose distance t is mostly rounding, as those where the result is below kClose.
template <class V>
KW_INLINE V if_far(V both, V t) {
  const V certain = t - both * splat<V>(kRounding<Number<V>>);
  return select(less(splat<V>(kFar<Number<V>>), both), certain, splat<V>(kClose));
}

// Return whether any distance of a tile is mostly rounding.
template <class T>
bool is_blurred(const Factors<T>& factors, Size rows, const Tile<T>& tile) {
  using V = Lanes<T>;
  const Size d = factors.d;
  for (Size a = 0; a < rows; ++a) {
    const T square = factors.left[a][d];
    if (!(square > kLeastSquare<T>)) continue;
    for (int v = 0; v < kTileVectors; ++v) {
      const V squares = load<V>(factors.panel + d * Tile<T>::width + v * kLanes<V>);
      const V t = squared_distances<V>(square, squares, tile.sums[a][v]);
      if (any_less(if_far(splat<V>(square) + squares, t), splat<V>(kClose))) return true;
    }
  }
  return false;
}

// Tiles of rows (x, |x|^2, 1), for `exp_tiles`; careful are those of far rows.
struct Gauss {
  static constexpr Size after_lines = 1;

  template <class T>
  KW_INLINE static bool is_careful(const Factors<T>& factors) {
    bool found = false;
    for (Size a = 0; a < kTileRows; ++a)
      found = found || factors.left[a][factors.d] > kLeastSquare<T>;
    return found;
  }

  template <class T>
  KW_INLINE static void distances(const Factors<T>& factors, Tile<T>& tile) {
    using V = Lanes<T>;
    const Size d = factors.d;
    sum_tile<T>(factors.left, factors.panel, d, tile, AddProduct{});
    V squares[kTileVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v)
      squares[v] = load<V>(factors.panel + d * Tile<T>::width + v * kLanes<V>);
#pragma GCC unroll 8
    for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v)
        tile.sums[a][v] = squared_distances<V>(factors.left[a][d], squares[v], tile.sums[a][v]);
  }

  template <class T>
  static void careful_distances(const Factors<T>& factors, Size rows, bool careful, Tile<T>& tile) {
    using V = Lanes<T>;
    const Size d = factors.d;
    Tile<T> sharp;
    sum_tile<T>(factors.left, factors.panel, d, tile, AddProduct{});
    const bool blurred = careful && is_blurred<T>(factors, rows, tile);
    if (blurred) sum_tile<T>(factors.left, factors.panel, d, sharp, AddSquare{});
    for (int v = 0; v < kTileVectors; ++v) {
      const V squares = load<V>(factors.panel + d * Tile<T>::width + v * kLanes<V>);
      for (Size a = 0; a < rows; ++a) {
        const T square = factors.left[a][d];
        const V t = squared_distances<V>(square, squares, tile.sums[a][v]);
        // Each lane for itself: this is symmetric, too.
        const auto unclear = less(if_far(splat<V>(square) + squares, t), splat<V>(kClose));
        tile.sums[a][v] = blurred ? select(unclear, sharp.sums[a][v], t) : t;
      }
    }
  }
};

}  // namespace kw::KW_ARCH
