// L1 distances by tiles. A feature takes two instructions instead of three by
//
//     |x - z| = 2 max(x, z) - x - z
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

// Write the distances of some rows to the columns of a panel. Behind its d features each row and
// each column has their sum.
template <class T>
void l1_tile(Matrix<const T> left, Size i, const T* panel, Matrix<T> out, Size j) {
  using V = Lanes<T>;
  const Size d = left.columns - 1, rows = std::min<Size>(kTileRows, left.rows - i);
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
  for (int v = 0; v < kTileVectors && j + v * kLanes<V> < out.columns; ++v) {
    const V sums = load<V>(panel + d * Tile<T>::width + v * kLanes<V>);
    for (Size a = 0; a < rows; ++a) {
      const V maxima = total.sums[a][v];
      const V distance = (maxima - splat<V>(*starts[a])) + (maxima - sums);
      // A distance is not negative, whatever rounding says.
      store_up_to<V>(out.row(i + a) + j + v * kLanes<V>, most(distance, V{}),
                     out.columns - j - v * kLanes<V>);
    }
  }
}

// out[i, j] = sum_k |left[i, k] - right[k, j]|
template <class T>
void l1_distances(Matrix<const T> left, Matrix<const T> right, Matrix<T> out, Workspace& work) {
  const Borrowed borrowed(work);
  T* const panel = work.take<T>(right.rows * Tile<T>::width);
  for (Size j = 0; j < out.columns; j += Tile<T>::width) {
    pack_columns(right, j, panel);
    for (Size i = 0; i < out.rows; i += kTileRows) l1_tile(left, i, panel, out, j);
  }
}

}  // namespace kw::KW_ARCH
