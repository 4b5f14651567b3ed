// L1 distances by tiles, of numbers and of categories.
//
//     |x - z| = 2 max(x, z) - x - z      a number: two instructions instead of three
//     w if x != z, else 0                a category: whole codes, which float32 holds up to 2^24
//
// Sides of d numbers and c categories: left has rows (a, sum of a, codes), right has columns
// (b, sum of b, codes, weights of the categories), where a and b are scaled by their weights, codes
// are not, and each line of weights holds one number. So c is what right has more than left.
#pragma once

#include "exp_tiles.hpp"

namespace kw::KW_ARCH {

inline constexpr Size kSummedFeatures = 32;  // per partial sum: one over hundreds would round too much

struct AddMaximum {
  template <class V>
  KW_INLINE V operator()(V total, V x, V z) const {
    return total + most(x, z);
  }
};

// Copy the columns of right from j on to a panel, line by line, zeros behind the last: lines that
// follow each other do not push each other from the cache.
template <class T>
void pack_columns(Matrix<const T> right, Size lines, Size j, T* panel) {
  using V = Lanes<T>;
  for (Size k = 0; k < lines; ++k)
    for (int v = 0; v < kTileVectors; ++v)
      store<V>(panel + k * Tile<T>::width + v * kLanes<V>,
               load_up_to<V>(right.row(k) + j + v * kLanes<V>, right.columns - j - v * kLanes<V>));
}

struct AddDifference {
  template <class V>
  KW_INLINE V operator()(V total, V x, V z) const {
    return total + size_of(x - z);
  }
};

// tile = sums over d features by parts of kSummedFeatures.
template <class T, class Add>
KW_INLINE void sum_by_parts(const T* const (&left)[kTileRows], const T* panel, Size d, Tile<T>& tile,
                            Add add) {
  sum_tile<T>(left, panel, std::min(d, kSummedFeatures), tile, add);
  for (Size k = kSummedFeatures; k < d; k += kSummedFeatures) {
    const T* starts[kTileRows];
    for (int a = 0; a < kTileRows; ++a) starts[a] = left[a] + k;
    Tile<T> part;
    sum_tile<T>(starts, panel + k * Tile<T>::width, std::min(kSummedFeatures, d - k), part, add);
#pragma GCC unroll 8
    for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) tile.sums[a][v] += part.sums[a][v];
  }
}

// tile[a][v] += sum_k weights_k where the codes left[a][k] and panel[k][v] differ, from feature d + 1
// on.
template <class T>
void add_mismatches(const Factors<T>& factors, Tile<T>& tile) {
  using V = Lanes<T>;
  for (Size k = 0; k < factors.weights.size; ++k) {
    const Size line = factors.d + 1 + k;
    const V weight = splat<V>(T(factors.weights[k]));
    for (int v = 0; v < kTileVectors; ++v) {
      const V column = load<V>(factors.panel + line * Tile<T>::width + v * kLanes<V>);
#pragma GCC unroll 8
      for (int a = 0; a < kTileRows; ++a)
        tile.sums[a][v] += select(equal(splat<V>(factors.left[a][line]), column), V{}, weight);
    }
  }
}

// Tiles of rows (x, sum of x, codes), for `exp_tiles`; careful are those of far rows, whose sums are
// made from the differences, and those with categories.
struct Laplace {
  static constexpr Size after_lines = 0;

  template <class T>
  KW_INLINE static bool is_careful(const Factors<T>& factors) {
    return factors.far || factors.weights.size > 0;
  }

  template <class T>
  KW_INLINE static void distances(const Factors<T>& factors, Tile<T>& tile) {
    using V = Lanes<T>;
    const Size d = factors.d;
    sum_by_parts<T>(factors.left, factors.panel, d, tile, AddMaximum{});
    V sums[kTileVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v)
      sums[v] = load<V>(factors.panel + d * Tile<T>::width + v * kLanes<V>);
#pragma GCC unroll 8
    for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) {
        const V maxima = tile.sums[a][v];
        const V distance = (maxima - splat<V>(factors.left[a][d])) + (maxima - sums[v]);
        tile.sums[a][v] = most(distance, V{});  // whatever rounding says
      }
  }

  template <class T>
  static void careful_distances(const Factors<T>& factors, Size, bool, Tile<T>& tile) {
    if (factors.far)
      sum_by_parts<T>(factors.left, factors.panel, factors.d, tile, AddDifference{});
    else
      distances(factors, tile);
    add_mismatches(factors, tile);
  }
};

// Write the distances of some rows to the columns of a panel.
template <class T>
void l1_tile(const Factors<T>& factors, Size rows, Size columns, T* out, Size stride) {
  using V = Lanes<T>;
  Tile<T> tile;
  Laplace::careful_distances(factors, rows, true, tile);
  if (rows == kTileRows && columns >= Tile<T>::width) {
#pragma GCC unroll 8
    for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v)
        store<V>(out + a * stride + v * kLanes<V>, tile.sums[a][v]);
    return;
  }
  for (int v = 0; v < kTileVectors && v * kLanes<V> < columns; ++v)
    for (Size a = 0; a < rows; ++a)
      store_up_to<V>(out + a * stride + v * kLanes<V>, tile.sums[a][v], columns - v * kLanes<V>);
}

// out[i, j] = sum_k |a_ik - b_kj| + sum of the weights of the categories whose codes differ
template <class T>
void l1_distances(Matrix<const T> left, Matrix<const T> right, Matrix<T> out, Workspace& work) {
  if (out.columns == 0) return;
  const Borrowed borrowed(work);
  const Size categories = right.rows - left.columns;
  T* const panel = work.take<T>(left.columns * Tile<T>::width);
  double* const weights = work.take<double>(categories);
  for (Size k = 0; k < categories; ++k) weights[k] = double(right.at(left.columns + k, 0));
  Factors<T> factors{{}, panel, left.columns - 1 - categories, {weights, categories}, false};
  for (Size j = 0; j < out.columns; j += Tile<T>::width) {
    pack_columns(right, left.columns, j, panel);
    for (Size i = 0; i < out.rows; i += kTileRows) {
      const Size rows = std::min<Size>(kTileRows, out.rows - i);
      for (Size a = 0; a < kTileRows; ++a) factors.left[a] = left.row(i + std::min(a, rows - 1));
      l1_tile(factors, rows, out.columns - j, out.row(i) + j, out.stride);
    }
  }
}

}  // namespace kw::KW_ARCH
