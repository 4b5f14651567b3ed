// Kernels exp(-distance) written to a matrix by tiles. What a kind of distance is, `Gauss` or
// `Laplace`, it says by
//
//     after_lines                       numbers at the end of a row that no panel has
//     is_careful(factors)               whether the distances of these rows must be made carefully
//     distances(factors, tile)          those of a tile, quickly
//     careful_distances(factors, rows, careful, tile)
#pragma once

#include <numeric>

#include "tiles.hpp"
#include "workspace.hpp"

namespace kw::KW_ARCH {

inline constexpr Size kBlockRows = 144;      // a block of rows stays in the second-level cache
inline constexpr Size kPanelBytes = 1 << 19; // of the columns that are multiplied at a time
inline constexpr Size kMostPanels = 16;      // more would not fit beside the block made of them
inline constexpr Size kPackedBytes = 1 << 23; // up to which all columns are packed once

// What a tile is made of: left rows, and a packed panel. Of each row d numbers are features; the next
// one is what the row contributes alone, then there are the codes of categories, whose weights are
// given. `far` tells that rows may be far from the centre.
template <class T>
struct Factors {
  const T* left[kTileRows];
  const T* panel;
  Size d;
  Values weights;
  bool far;
};

// Write rows as the columns of panels: `lines` lines of their numbers; zeros stand behind the last
// row.
template <class T>
void pack_panels(Matrix<const T> rows, Size lines, Size first, Size stop, T* panels) {
  constexpr Size side = kLanes<Lanes<T>>, width = Tile<T>::width;
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

// Write a whole tile.
template <class Kind, class T>
KW_INLINE void write_tile(const Factors<T>& factors, T* out, Size stride) {
  using V = Lanes<T>;
  Tile<T> tile;
  Kind::distances(factors, tile);
#pragma GCC unroll 8
  for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v)
      store<V>(out + a * stride + v * kLanes<V>, kernel_of(tile.sums[a][v]));
}

// Write a tile at the edge of the matrix (of `rows` rows and `columns` columns), or a careful one.
template <class Kind, class T>
void write_part(const Factors<T>& factors, Size rows, Size columns, bool careful, T* out,
                Size stride) {
  using V = Lanes<T>;
  Tile<T> tile;
  Kind::careful_distances(factors, rows, careful, tile);
  for (int v = 0; v < kTileVectors && v * kLanes<V> < columns; ++v)
    for (Size a = 0; a < rows; ++a)
      store_up_to<V>(out + a * stride + v * kLanes<V>, kernel_of(tile.sums[a][v]),
                     columns - v * kLanes<V>);
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

// Have the memory of the next tile brought to the cache.
template <class T>
KW_INLINE void await_tile(T* next, Size rows, Size stride) {
  for (Size a = 0; a < rows; ++a)
    for (Size v = 0; v < Tile<T>::width; v += 64 / Size(sizeof(T)))
      await_store(next + a * stride + v);
}

// The columns of a matrix as panels: those from `column` on, all of them or as many as are packed at
// a time.
template <class T>
struct Panels {
  T* data;
  Size column, size;  // the first column, and the numbers of a panel
  bool all;
};

// Write a block of rows from a column on. As many panels are multiplied at a time as stay in the
// second-level cache together with what is made of them.
template <class Kind, class T>
void exp_block(Matrix<const T> left, Matrix<const T> other, Factors<T> factors, Matrix<T> out,
               Size first, Size last, Size column, Size mirrored, Panels<T> panels, Size n_panels) {
  constexpr Size width = Tile<T>::width;
  const Size m = other.rows, lines = left.columns - Kind::after_lines;
  for (Size start = column; start < m; start += n_panels * width) {
    const Size stop = std::min(start + n_panels * width, m);
    const T* packed = panels.data;
    if (panels.all)
      packed += (start - panels.column) / width * panels.size;
    else
      pack_panels(other, lines, start, stop, panels.data);
    for (Size i = first; i < last; i += kTileRows) {
      const Size rows = std::min<Size>(kTileRows, last - i);
      for (Size a = 0; a < kTileRows; ++a) factors.left[a] = left.row(i + std::min(a, rows - 1));
      const bool careful = Kind::is_careful(factors);
      // Tiles below the diagonal are written across it.
      const Size skipped = mirrored > 0 ? std::max<Size>(0, i - start) / width : 0;
      factors.panel = packed + skipped * panels.size;
      for (Size j = start + skipped * width; j < stop; j += width) {
        T* const target = out.row(i) + j;
        if (j + 2 * width <= m) await_tile(target + width, rows, out.stride);
        if (rows == kTileRows && !careful && j + width <= m)
          write_tile<Kind, T>(factors, target, out.stride);
        else
          write_part<Kind, T>(factors, rows, m - j, careful, target, out.stride);
        factors.panel += panels.size;
      }
    }
    if (mirrored > 0) mirror(out, first, last, start, std::min(stop, mirrored));
  }
}

// out[i, j] = exp(-distance of x_i and z_j) for first <= i < last.
//
// With `stop` zero, whole rows; else from the diagonal to the right, and what stands before the
// column `stop` is written across the diagonal as well.
template <class Kind, class T>
void exp_tiles(Matrix<const T> left, Matrix<const T> other, Values weights, bool far, Matrix<T> out,
               Size first, Size last, Size stop, Workspace& work) {
  constexpr Size width = Tile<T>::width, unit = std::lcm(Size(kTileRows), width);
  constexpr Size height = kBlockRows / unit * unit;  // blocks begin where panels do
  const Borrowed borrowed(work);
  const Size lines = left.columns - Kind::after_lines, m = other.rows;
  Panels<T> panels{nullptr, stop > 0 ? first : 0, lines * width, false};
  const Size bytes = panels.size * Size(sizeof(T)), all = (m - panels.column + width - 1) / width;
  const Size n_panels = std::clamp<Size>(kPanelBytes / bytes, 1, kMostPanels);
  panels.all = all * bytes <= kPackedBytes;
  panels.data = work.take<T>((panels.all ? all : n_panels) * panels.size);
  if (panels.all) pack_panels(other, lines, panels.column, m, panels.data);
  const Factors<T> factors{{}, panels.data, lines - 1 - weights.size, weights, far};
  for (Size start = first; start < last; start += height) {
    const Size end = std::min(start + height, last), column = stop > 0 ? start : 0;
    exp_block<Kind, T>(left, other, factors, out, start, end, column, stop, panels, n_panels);
  }
}

}  // namespace kw::KW_ARCH
