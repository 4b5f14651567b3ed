// L1 distances by tiles, of numbers and of categories.
//
//     |x - z| = 2 max(x, z) - x - z      a number: two instructions instead of three
//     w if x != z, else 0                a category: whole codes, which float32 holds up to 2^24
//
// Sides of d numbers and c categories: left has rows (a, sum of a, codes), right has columns
// (b, sum of b, codes, weights of the categories), where a and b are scaled by their weights, codes
// are not, and each line of weights holds one number. So c is what right has more than left.
#pragma once

#include "tiles.hpp"
#include "workspace.hpp"

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
void pack_columns(Matrix<const T> right, Size j, T* panel) {
  using V = Lanes<T>;
  for (Size k = 0; k < right.rows; ++k)
    for (int v = 0; v < kTileVectors; ++v)
      store<V>(panel + k * Tile<T>::width + v * kLanes<V>,
               load_up_to<V>(right.row(k) + j + v * kLanes<V>, right.columns - j - v * kLanes<V>));
}

// tile[a][v] += sum_k weights_k where the codes left[a][k] and panel[k][v] differ. The lines of the
// weights follow those of the codes.
template <class T>
KW_INLINE void add_mismatches(const T* const (&left)[kTileRows], const T* panel, Size categories,
                              Tile<T>& tile) {
  using V = Lanes<T>;
  for (Size k = 0; k < categories; ++k) {
    const T* const codes = panel + k * Tile<T>::width;
    const V weight = splat<V>(codes[categories * Tile<T>::width]);
    for (int v = 0; v < kTileVectors; ++v) {
      const V column = load<V>(codes + v * kLanes<V>);
#pragma GCC unroll 8
      for (int a = 0; a < kTileRows; ++a)
        tile.sums[a][v] += select(equal(splat<V>(left[a][k]), column), V{}, weight);
    }
  }
}

// Write the distances of some rows to the columns of a panel.
template <class T>
void l1_tile(Matrix<const T> left, Size i, const T* panel, Size categories, Matrix<T> out, Size j) {
  using V = Lanes<T>;
  const Size d = left.columns - 1 - categories, rows = std::min<Size>(kTileRows, left.rows - i);
  Tile<T> total{}, part;
  const T* starts[kTileRows];
  for (Size a = 0; a < kTileRows; ++a) starts[a] = left.row(i + std::min(a, rows - 1));
  for (Size k = 0; k < d; k += kSummedFeatures) {
    const Size count = std::min(kSummedFeatures, d - k);
    sum_tile<T>(starts, panel + k * Tile<T>::width, count, part, AddMaximum{});
    for (int a = 0; a < kTileRows; ++a) {
      starts[a] += count;
      for (int v = 0; v < kTileVectors; ++v) total.sums[a][v] += part.sums[a][v];
    }
  }
  Tile<T> mismatches{};
  const T* codes[kTileRows];
  for (int a = 0; a < kTileRows; ++a) codes[a] = starts[a] + 1;
  add_mismatches(codes, panel + (d + 1) * Tile<T>::width, categories, mismatches);
  for (int v = 0; v < kTileVectors && j + v * kLanes<V> < out.columns; ++v) {
    const V sums = load<V>(panel + d * Tile<T>::width + v * kLanes<V>);
    for (Size a = 0; a < rows; ++a) {
      const V maxima = total.sums[a][v];
      const V distance = (maxima - splat<V>(*starts[a])) + (maxima - sums);
      // A distance is not negative, whatever rounding says.
      store_up_to<V>(out.row(i + a) + j + v * kLanes<V>,
                     most(distance, V{}) + mismatches.sums[a][v], out.columns - j - v * kLanes<V>);
    }
  }
}

// out[i, j] = sum_k |a_ik - b_kj| + sum of the weights of the categories whose codes differ
template <class T>
void l1_distances(Matrix<const T> left, Matrix<const T> right, Matrix<T> out, Workspace& work) {
  const Borrowed borrowed(work);
  T* const panel = work.take<T>(right.rows * Tile<T>::width);
  const Size categories = right.rows - left.columns;
  for (Size j = 0; j < out.columns; j += Tile<T>::width) {
    pack_columns(right, j, panel);
    for (Size i = 0; i < out.rows; i += kTileRows) l1_tile(left, i, panel, categories, out, j);
  }
}

}  // namespace kw::KW_ARCH
