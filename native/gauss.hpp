// The Gaussian kernel by tiles: exp(-|x - z|^2) from rows (x, |x|^2, 1) that are scaled already.
//
//     |x - z|^2 = |x|^2 + |z|^2 - 2 x.z
//
// Of far rows that are close together this leaves mostly rounding. Where |x|^2 + |z|^2 > kFar and
// the distance is below kClose, beyond which nothing is left of the error in exp(-t), a tile is
// made of the differences x - z instead. A distance that is rounding alone may exceed kClose by
// kRounding times |x|^2 + |z|^2.
#pragma once

#include "tiles.hpp"
#include "workspace.hpp"

namespace kw::KW_ARCH {

inline constexpr double kClose = 8;
template <class T>
inline constexpr T kFar = sizeof(T) == 4 ? 64 : 1e7;
template <class T>
inline constexpr T kRounding = sizeof(T) == 4 ? 0 : 1e-14;  // rows in float are never that far
template <class T>  // of a row of such a pair, as sqrt(kFar/2) - sqrt(kClose)
inline constexpr T kLeastSquare = sizeof(T) == 4 ? 7.9 : 4.9e6;

inline constexpr Size kBlockRows = 128;         // a block of rows stays in the second-level cache
inline constexpr Size kPanelBytes = 1 << 19;    // of the columns that are packed at a time
inline constexpr Size kMostPanels = 16;         // more would not fit beside the block made of them

// What a tile is made of: the left rows with their squares behind them, and a packed panel.
template <class T>
struct Factors {
  const T* left[kTileRows];
  const T* panel;
  Size d;
};

// Write rows as the columns of panels: lines of their features, then one of their squares; zeros
// stand behind the last row.
template <class T>
void pack_panels(Matrix<const T> rows, Size first, Size stop, T* panels) {
  constexpr Size side = kLanes<Lanes<T>>, width = Tile<T>::width;
  const Size lines = rows.columns - 1;
  for (Size j = first; j < stop; j += width, panels += lines * width) {
    for (Size v = 0; v < width; v += side) {
      const Size whole = j + v + side <= rows.rows ? lines - lines % side : 0;
      for (Size k = 0; k < whole; k += side)
        flip<Lanes<T>>(rows.row(j + v) + k, rows.stride, panels + k * width + v, width);
      for (Size k = whole; k < lines; ++k)
        for (Size a = v; a < v + side; ++a)
          panels[k * width + a] = j + a < rows.rows ? rows.at(j + a, k) : T(0);
    }
  }
}

// |x|^2 + |z|^2 - 2 x.z, in an order that is the same for (x, z) and (z, x).
template <class V>
KW_INLINE V distances(Number<V> square, V squares, V dots) {
  const V both = splat<V>(square) + squares;
  return both - dots * splat<V>(2);
}

// Write a whole tile of rows that are not far.
template <class T>
KW_INLINE void gauss_tile(const Factors<T>& factors, T* out, Size stride) {
  using V = Lanes<T>;
  const Size d = factors.d;
  Tile<T> tile;
  sum_tile<T>(factors.left, factors.panel, d, tile, AddProduct{});
  V squares[kTileVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kTileVectors; ++v)
    squares[v] = load<V>(factors.panel + d * Tile<T>::width + v * kLanes<V>);
#pragma GCC unroll 8
  for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v)
      store<V>(out + a * stride + v * kLanes<V>,
               exp_of_minus(distances<V>(factors.left[a][d], squares[v], tile.sums[a][v])));
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
      const V t = distances<V>(square, squares, tile.sums[a][v]);
      if (any_less(if_far(splat<V>(square) + squares, t), splat<V>(kClose))) return true;
    }
  }
  return false;
}

// Write a tile at the edge of the matrix (of `rows` rows and `columns` columns), or of far rows.
template <class T>
void careful_tile(const Factors<T>& factors, Size rows, Size columns, bool has_far, T* out,
                  Size stride) {
  using V = Lanes<T>;
  const Size d = factors.d;
  Tile<T> tile, sharp;
  sum_tile<T>(factors.left, factors.panel, d, tile, AddProduct{});
  const bool blurred = has_far && is_blurred<T>(factors, rows, tile);
  if (blurred) sum_tile<T>(factors.left, factors.panel, d, sharp, AddSquare{});
  for (int v = 0; v < kTileVectors && v * kLanes<V> < columns; ++v) {
    const V squares = load<V>(factors.panel + d * Tile<T>::width + v * kLanes<V>);
    for (Size a = 0; a < rows; ++a) {
      const T square = factors.left[a][d];
      V t = distances<V>(square, squares, tile.sums[a][v]);
      if (blurred) {  // each lane for itself: this is symmetric, too
        const auto unclear = less(if_far(splat<V>(square) + squares, t), splat<V>(kClose));
        t = select(unclear, sharp.sums[a][v], t);
      }
      store_up_to<V>(out + a * stride + v * kLanes<V>, exp_of_minus(t), columns - v * kLanes<V>);
    }
  }
}

// Write the columns [start, stop) of the rows [first, last), from their diagonal on, across it.
template <class T>
void mirror(Matrix<T> out, Size first, Size last, Size start, Size stop) {
  constexpr Size side = kLanes<Lanes<T>>;
  const auto flip_part = [&](Size i, Size j, Size rows, Size columns) {
    const Matrix<const T> source{out.row(i) + j, rows, columns, out.stride};
    transpose<T>(source, out.part(j, i, columns, rows));
  };
  for (Size b = std::max(start, first); b < std::min(stop, last); b += side) {
    const Size end = std::min({b + side, stop, last});
    flip_part(first, b, b - first, end - b);
  }
  const Size beyond = std::max(start, last);
  if (beyond < stop) flip_part(first, beyond, last - first, stop - beyond);
}

// Write a block of rows from a column on. As much of the other rows as `panels` holds is packed and
// multiplied at a time, so that it and what is made of it stay in the second-level cache.
template <class T>
void gauss_block(Matrix<const T> left, Matrix<const T> other, Matrix<T> out, Size first, Size last,
                 Size column, Size mirrored, T* panels, Size n_panels) {
  constexpr Size width = Tile<T>::width;
  const Size d = left.columns - 2, m = other.rows, lines = d + 1;
  for (Size start = column; start < m; start += n_panels * width) {
    const Size stop = std::min(start + n_panels * width, m);
    pack_panels(other, start, stop, panels);
    for (Size i = first; i < last; i += kTileRows) {
      const Size rows = std::min<Size>(kTileRows, last - i);
      Factors<T> factors{{}, panels, d};
      bool has_far = false;
      for (Size a = 0; a < kTileRows; ++a) {
        factors.left[a] = left.row(i + std::min(a, rows - 1));
        has_far = has_far || factors.left[a][d] > kLeastSquare<T>;
      }
      // Tiles below the diagonal are written across it.
      const Size skipped = mirrored > 0 ? std::max<Size>(0, i - start) / width : 0;
      factors.panel += skipped * lines * width;
      for (Size j = start + skipped * width; j < stop; j += width) {
        T* const target = out.row(i) + j;
        if (j + 2 * width <= m)
          for (Size a = 0; a < rows; ++a)
            for (Size v = 0; v < width; v += 64 / Size(sizeof(T)))
              await_store(target + a * out.stride + width + v);
        if (rows == kTileRows && !has_far && j + width <= m)
          gauss_tile<T>(factors, target, out.stride);
        else
          careful_tile<T>(factors, rows, m - j, has_far, target, out.stride);
        factors.panel += lines * width;
      }
    }
    if (mirrored > 0) mirror(out, first, last, start, std::min(stop, mirrored));
  }
}

// out[i, j] = exp(-|x_i - z_j|^2) for first <= i < last, from rows (x, |x|^2, 1) of both.
//
// With `stop` zero, whole rows; else from the diagonal to the right, and what stands before the
// column `stop` is written across the diagonal as well.
template <class T>
void gauss(Matrix<const T> left, Matrix<const T> other, Matrix<T> out, Size first, Size last,
           Size stop, Workspace& work) {
  constexpr Size height = kBlockRows / kTileRows * kTileRows, width = Tile<T>::width;
  const Borrowed borrowed(work);
  const Size panel = (left.columns - 1) * width, panel_bytes = panel * Size(sizeof(T));
  const Size n_panels = std::clamp<Size>(kPanelBytes / panel_bytes, 1, kMostPanels);
  T* const panels = work.take<T>(n_panels * panel);
  for (Size start = first; start < last; start += height) {
    const Size end = std::min(start + height, last);
    gauss_block(left, other, out, start, end, stop > 0 ? start : 0, stop, panels, n_panels);
  }
}

}  // namespace kw::KW_ARCH
