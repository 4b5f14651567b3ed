// Values on the lines between knots, column by column.
#pragma once

#include "views.hpp"

namespace kw::KW_ARCH {

// The last of n ascending knots that is not above x; the first where all are. Without branches: which
// half a number lies in cannot be foretold.
KW_INLINE Size last_up_to(const double* knots, Size n, double x) {
  const double* base = knots;
  while (n > 1) {
    const Size half = n / 2;
    base = base[half] <= x ? base + half : base;
    n -= half;
  }
  return base - knots;
}

// The height at x, which stays that of the end beyond both ends.
KW_INLINE double height_at(const double* knots, const double* heights, Size n, double x) {
  const Size i = last_up_to(knots, n, x);
  if (i == n - 1 || x <= knots[i]) return heights[i];
  const double slope = (heights[i + 1] - heights[i]) / (knots[i + 1] - knots[i]);
  return slope * (x - knots[i]) + heights[i];
}

// out_ij = the height of column j at X_ic, divided by its size, where c = columns[j] and the knots of
// column j are those from stops[j] to stops[j + 1]. A column without knots stays what it is.
template <class T>
void heights_on_lines(Matrix<const double> X, Indices columns, const Lines& lines, Matrix<T> out) {
  constexpr Size kRows = 256;  // rows at a time, whose values stay in the cache for all columns
  for (Size start = 0; start < X.rows; start += kRows) {
    const Size stop = start + kRows < X.rows ? start + kRows : X.rows;
    for (Size j = 0; j < columns.size; ++j) {
      const Size first = lines.stops[j], n = lines.stops[j + 1] - first;
      const double* const knots = lines.knots.data + first;
      const double* const heights = lines.heights.data + first;
      for (Size i = start; i < stop; ++i) {
        const double x = X.at(i, columns[j]);
        const double y = n > 0 ? height_at(knots, heights, n, x) / lines.sizes[j] : x;
        out.at(i, j) = static_cast<T>(y);
      }
    }
  }
}

}  // namespace kw::KW_ARCH
