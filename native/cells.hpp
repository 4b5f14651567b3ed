// Decisions of the cells of a tree: for each row the sum over the vectors of its cell of coefficient
// times kernel, exp(-distance), by tiles that are used where they are made.
#pragma once

#include <cmath>

#include "fused.hpp"

namespace kw::KW_ARCH {

inline constexpr Size kDecidedRows = 256;  // rows of a cell that are prepared at a time

// Write a row as `Groups` reads it: numbers around a centre and scaled, what the row contributes
// alone, and codes of categories. Return its size, |a|^2 or the sum of |a|.
template <class Kind, class S, class T>
double prepare(const S* row, const S* centre, const CellKernel& kernel, T* out) {
  constexpr bool squares = Kind::after_lines > 0;
  const Size d = kernel.factors.size;
  double alone = 0, size = 0;
  for (Size k = 0; k < d; ++k) {
    const Size j = kernel.columns[k];
    const T a = T((double(row[j]) - double(centre[j])) * kernel.factors[k]);
    out[k] = a;
    alone += squares ? double(a) * a : double(a);
    size += squares ? double(a) * a : std::abs(double(a));
  }
  out[d] = T(alone);
  for (Size k = 0; k < kernel.weights.size; ++k) out[d + 1 + k] = T(row[kernel.columns[d + k]]);
  return size;
}

// One cell: its vectors, packed, and their coefficients, output by output.
template <class Kind, class T, class S>
class CellTiles {
 public:
  CellTiles(const CellKernel& kernel, Matrix<const S> stored, Vector<const std::int32_t> vectors,
            Matrix<const S> coef, Workspace& work)
      : kernel_(kernel),
        coef_(coef),
        n_(vectors.size),
        centre_(stored.row(vectors[n_ / 2])),
        lines_(kernel.factors.size + 1 + kernel.weights.size + Kind::after_lines),
        all_(work.take<T>((n_ + kDecidedRows) * lines_)),
        places_(work.take<std::int64_t>(n_ + kDecidedRows)),
        groups_({all_, n_ + kDecidedRows, lines_, lines_}, kernel.weights, work),
        most_(groups_.most_rows()),
        by_(work.take<T>(most_ * coef.columns)),
        used_(work.take<bool>(most_ / kTileRows * coef.columns)),
        sums_(work.take<double>(kDecidedRows * coef.columns)) {
    for (Size i = 0; i < n_ + kDecidedRows; ++i) places_[i] = i;
    for (Size i = 0; i < n_; ++i)
      longest_ = std::max(longest_, size_of_row(stored.row(vectors[i]), i));
  }

  // The largest size of a vector, and that of a row.
  double longest() const { return longest_; }
  double size_of(const S* row) { return size_of_row(row, n_); }

  void decide(Matrix<const S> X, Indices rows, Matrix<double> out) {
    constexpr Size width = Tile<T>::width;
    for (Size first = 0; first < rows.size; first += kDecidedRows) {
      const Size count = std::min(kDecidedRows, rows.size - first);
      for (Size i = 0; i < count; ++i) size_of_row(X.row(rows[first + i]), n_ + i);
      std::fill_n(sums_, kDecidedRows * coef_.columns, 0.0);
      for (Size i = 0; i < n_; i += most_) {
        if (first == 0 || n_ > most_) pack(i, std::min(most_, n_ - i));
        for (Size j = 0; j < count; j += width)
          groups_.meet(places_ + n_ + j, std::min(width, count - j), 0,
                       [&](Size g, const Tile<T>& tile) { add(g, tile, j); });
      }
      for (Size i = 0; i < count; ++i)
        for (Size c = 0; c < coef_.columns; ++c)
          out.at(rows[first + i], c) += sums_[c * kDecidedRows + i];
    }
  }

 private:
  double size_of_row(const S* row, Size place) {
    return prepare<Kind>(row, centre_, kernel_, all_ + place * lines_);
  }

  void pack(Size first, Size count) {
    groups_.pack(places_ + first, count);
    for (Size c = 0; c < coef_.columns; ++c)
      for (Size g = 0; g * kTileRows < count; ++g) {
        bool any = false;
        for (Size a = g * kTileRows; a < (g + 1) * kTileRows; ++a) {
          const T value = a < count ? T(coef_.at(first + a, c)) : T(0);
          by_[c * most_ + a] = value;
          any = any || value != 0;
        }
        used_[c * (most_ / kTileRows) + g] = any;
      }
  }

  // Most rows are vectors of few of many machines, so that most groups have nothing to add.
  KW_INLINE void add(Size g, const Tile<T>& tile, Size j) {
    for (Size c = 0; c < coef_.columns; ++c)
      if (used_[c * (most_ / kTileRows) + g])
        add_tile<T>(tile, by_ + c * most_ + g * kTileRows, sums_ + c * kDecidedRows + j);
  }

  const CellKernel& kernel_;
  Matrix<const S> coef_;
  Size n_;
  const S* centre_;
  Size lines_;
  T* all_;
  std::int64_t* places_;
  Groups<Kind, T> groups_;
  Size most_;
  T* by_;
  bool* used_;
  double* sums_;
  double longest_ = 0;
};

// Decide the rows of one cell: in float those that are short enough for it, and the others in double.
// Return whether all of them, and the vectors, are finite.
template <class Kind, class S>
bool decide_cell(const CellKernel& kernel, Matrix<const S> X, Indices rows, Matrix<const S> stored,
                 Vector<const std::int32_t> vectors, Matrix<const S> coef, Matrix<double> out,
                 Workspace& work) {
  const Borrowed borrowed(work);
  std::int64_t* const order = work.take<std::int64_t>(rows.size);
  Size n_short = 0, n_long = 0;  // the first and the last rows of the order
  if constexpr (sizeof(S) == 4) {
    CellTiles<Kind, S, S> tiles(kernel, stored, vectors, coef, work);
    const double reach = tiles.longest() <= kernel.reach ? kernel.reach : -1.0;
    for (Size i = 0; i < rows.size; ++i) {
      const bool fits = tiles.size_of(X.row(rows[i])) <= reach;
      order[fits ? n_short++ : rows.size - ++n_long] = rows[i];
    }
    tiles.decide(X, {order, n_short}, out);
  } else {
    n_long = rows.size;
    std::copy_n(rows.data, rows.size, order);
  }
  if (n_long == 0) return true;
  CellTiles<Kind, double, S> tiles(kernel, stored, vectors, coef, work);
  bool finite = std::isfinite(tiles.longest());
  const Indices others{order + n_short, n_long};
  for (Size i = 0; i < n_long; ++i) finite = finite && std::isfinite(tiles.size_of(X.row(others[i])));
  if (!finite) return false;
  tiles.decide(X, others, out);
  return true;
}

// out_i += sum_v coef_v k(x_i, z_v) over the vectors v of the cell of row i. Return whether all rows
// were finite; cells with others are left alone.
template <class S>
bool decide_cells(bool squared, const CellKernel& kernel, Matrix<const S> X, Matrix<const S> stored,
                  const CellRows& cells, Matrix<const S> coef, Matrix<double> out, Workspace& work) {
  const auto decide = squared ? decide_cell<Squared, S> : decide_cell<Absolute, S>;
  bool fine = true;
  for (Size c = 0; c + 1 < cells.row_stops.size; ++c) {
    const Size row = cells.row_stops[c], vector = cells.vector_stops[c];
    const Indices rows{cells.rows.data + row, cells.row_stops[c + 1] - row};
    const Vector<const std::int32_t> vectors{cells.vectors.data + vector,
                                             cells.vector_stops[c + 1] - vector};
    if (rows.size == 0 || vectors.size == 0) continue;
    const auto own = coef.part(vector, 0, vectors.size, coef.columns);
    fine = decide(kernel, X, rows, stored, vectors, own, out, work) && fine;
  }
  return fine;
}

}  // namespace kw::KW_ARCH
