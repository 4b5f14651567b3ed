// Contractions of a symmetric matrix with the terms of a distance.
//
// Both kinds of terms, |x - z| = 2 max(x, z) - x - z and (x - z)^2 = x^2 + z^2 - 2 xz, take
//
//     mixed_k = sum_{i<j} s_ij f(x_ik, x_jk),  f = max or product,     ends_i = sum_j s_ij
//
// where s_ij is K_ij times the product of factors, which stand behind the d features in left (n, q)
// and right (q, n). The last of the d features may be categories, whose term is 1 where two codes
// differ and 0 where they do not, whatever the terms of the numbers are.
#pragma once

#include "tiles.hpp"
#include "workspace.hpp"

namespace kw::KW_ARCH {

inline constexpr Size kContractedRows = 128;       // what a panel has of them stays in the first cache
inline constexpr Size kChunk = 512 / kBytes;       // vectors of columns that are weighed at a time
inline constexpr int kMaxima = kTileRows == 8 ? 6 : 3;  // features whose columns stay in registers

// s times max(x, z), and s where x and z differ.
struct WeighMaximum {
  template <class V>
  KW_INLINE V operator()(V s, V x, V z) const {
    return s * most(x, z);
  }
};
struct WeighMismatch {
  template <class V>
  KW_INLINE V operator()(V s, V x, V z) const {
    return select(equal(x, z), V{}, s);
  }
};

template <class T>
struct Contraction {
  using V = Lanes<T>;
  static constexpr Size lanes = kLanes<V>, group = kTileVectors;

  Matrix<const T> left, right;
  Size numbers, d;  // the features from `numbers` to d are categories
  bool squares;
  double *mixed, *ends;
  T *S;         // panels of `group` vectors, one line per row
  T *panel;     // lines of q for each vector of columns
  T *row_sums;  // a vector per row of a block
  T *totals;    // the sum of each column of a block

  // Copy vectors of columns from j on, zeros behind the last.
  void pack(Size j, Size count) const {
    for (Size k = 0; k < right.rows; ++k)
      for (Size v = 0; v < count; ++v) {
        const Size column = j + v * lanes;
        store<V>(panel + (v * right.rows + k) * lanes,
                 load_up_to<V>(right.row(k) + column, right.columns - column));
      }
  }

  // Write s of `count` vectors of columns, the first of which is `column` in K.
  void weigh(Matrix<const T> K, Size start, Size column, Size count, Size rows) const {
    const Size q = left.columns;
    for (Size i = 0; i < rows; ++i) {
      const T* const own = left.row(start + i);
      V sum = load<V>(row_sums + i * lanes);
      for (Size v = 0; v < count; ++v) {
        const Size place = column + v * lanes;
        const T* const columns = panel + v * q * lanes;
        V weight = splat<V>(own[d]) * load<V>(columns + d * lanes);
        for (Size r = d + 1; r < q; ++r)
          weight = weight + splat<V>(own[r]) * load<V>(columns + r * lanes);
        V s = weight * load_up_to<V>(K.row(i) + place, K.columns - place);
        // Nothing is counted up to the diagonal.
        if (i >= place) s = select(less(splat<V>(T(i - place)), lane_numbers<V>()), s, V{});
        store<V>(S + ((v / group) * kContractedRows + i) * group * lanes + v % group * lanes, s);
        sum = sum + s;
        store<V>(totals + place, load<V>(totals + place) + s);
      }
      store<V>(row_sums + i * lanes, sum);
    }
  }

  // mixed_k += sum_v z_kv sum_i x_ik s_iv: the inner sums are a tile.
  void add_products(const T* weights, Size start, Size rows, const T* columns) const {
    const Size q = left.columns;
    for (Size k = 0; k < numbers; k += kTileRows) {
      const T* features[kTileRows];
      for (Size a = 0; a < kTileRows; ++a)
        features[a] = right.row(std::min(k + a, numbers - 1)) + start;
      Tile<T> tile;
      sum_tile<T>(features, weights, rows, tile, AddProduct{});
      for (Size a = 0; a < std::min<Size>(kTileRows, numbers - k); ++a) {
        V both{};
        for (Size v = 0; v < group; ++v)
          both = both + tile.sums[a][v] * load<V>(columns + (v * q + k + a) * lanes);
        mixed[k + a] += wide_sum(both);
      }
    }
  }

  // mixed_k += sum_iv weigh(s_iv, x_ik, z_kv) for k from `first` to `last`: the z of some features
  // stay in registers.
  template <class Weigh>
  void add_terms(Size first, Size last, const T* weights, Size start, Size rows, const T* columns,
                 Weigh weigh) const {
    const Size q = left.columns;
    for (Size k = first; k < last; k += kMaxima) {
      const T* features[kMaxima];
      V z[kMaxima][group], sums[kMaxima][group] = {};
#pragma GCC unroll 8
      for (int a = 0; a < kMaxima; ++a) {
        const Size feature = std::min<Size>(k + a, last - 1);
        features[a] = right.row(feature) + start;
#pragma GCC unroll 4
        for (Size v = 0; v < group; ++v) z[a][v] = load<V>(columns + (v * q + feature) * lanes);
      }
      for (Size i = 0; i < rows; ++i) {
        V s[group];
#pragma GCC unroll 4
        for (Size v = 0; v < group; ++v) s[v] = load<V>(weights + (i * group + v) * lanes);
#pragma GCC unroll 8
        for (int a = 0; a < kMaxima; ++a) {
          const V x = splat<V>(features[a][i]);
#pragma GCC unroll 4
          for (Size v = 0; v < group; ++v) sums[a][v] = sums[a][v] + weigh(s[v], x, z[a][v]);
        }
      }
#pragma GCC unroll 8
      for (int a = 0; a < kMaxima; ++a)
        if (k + a < last) mixed[k + a] += wide_sum(sums[a][0] + sums[a][1]);
    }
  }

  // The sum of all lanes in double.
  KW_INLINE static double wide_sum(V values) {
    T all[lanes];
    store<V>(all, values);
    Lanes<double> total{};
    for (Size k = 0; k < lanes; k += kLanes<Lanes<double>>) total = total + load_wide<Lanes<double>>(all + k);
    return sum_of(total);
  }

  // Contract at most kContractedRows rows; they and the columns of K are those from `start` on.
  void add_block(Matrix<const T> K, Size start) const {
    const Size n = right.columns, q = left.columns;
    std::fill_n(row_sums, K.rows * lanes, T(0));
    std::fill_n(totals, n - start + kChunk * lanes, T(0));
    for (Size j = start; j < n; j += kChunk * lanes) {
      const Size panels = (n - j + group * lanes - 1) / (group * lanes);
      const Size count = std::min(kChunk, panels * group);
      const Size rows = std::min(K.rows, j - start + count * lanes);
      pack(j, count);
      weigh(K, start, j - start, count, rows);
      for (Size v = 0; v < count; v += group) {
        const Size here = std::min(rows, j - start + (v + group) * lanes);  // the others are zeros
        const T* const weights = S + v * kContractedRows * lanes;
        const T* const columns = panel + v * q * lanes;
        if (squares)
          add_products(weights, start, here, columns);
        else
          add_terms(0, numbers, weights, start, here, columns, WeighMaximum{});
        add_terms(numbers, d, weights, start, here, columns, WeighMismatch{});
      }
    }
    for (Size i = 0; i < K.rows; ++i) ends[start + i] += wide_sum(load<V>(row_sums + i * lanes));
    for (Size j = start; j < n; ++j) ends[j] += double(totals[j - start]);
  }
};

// Add the contraction of some rows of K: they and the columns from `start` on, above the diagonal.
template <class T>
void contract(Matrix<const T> K, Size start, Matrix<const T> left, Matrix<const T> right, Size d,
              Size categories, bool squares, Vector<double> mixed, Vector<double> ends,
              Workspace& work) {
  using Sum = Contraction<T>;
  const Borrowed borrowed(work);
  const Sum sum{left,
                right,
                d - categories,
                d,
                squares,
                mixed.data,
                ends.data,
                work.take<T>(kChunk * Sum::lanes * kContractedRows),
                work.take<T>(kChunk * Sum::lanes * left.columns),
                work.take<T>(kContractedRows * Sum::lanes),
                work.take<T>(right.columns + kChunk * Sum::lanes)};
  for (Size row = 0; row < K.rows; row += kContractedRows) {
    const Size rows = std::min(kContractedRows, K.rows - row);
    sum.add_block(K.part(row, row, rows, K.columns - row), start + row);
  }
}

// out_k = sum_{i<j} s_ij term(x_ik, x_jk), put together from the contractions with its parts.
template <class T>
void whole_terms(Matrix<const T> rows, Size categories, bool squares, Values mixed, Values ends,
                 Vector<double> out) {
  const Size d = out.size - categories;
  for (Size k = 0; k < d; ++k) out[k] = squares ? -2 * mixed[k] : 2 * mixed[k];
  for (Size k = d; k < out.size; ++k) out[k] = mixed[k];
  for (Size i = 0; i < rows.rows; ++i) {
    const T* const x = rows.row(i);
    const double end = ends[i];
    if (squares)
      for (Size k = 0; k < d; ++k) out.data[k] += end * double(x[k]) * double(x[k]);
    else
      for (Size k = 0; k < d; ++k) out.data[k] -= end * double(x[k]);
  }
}

}  // namespace kw::KW_ARCH
