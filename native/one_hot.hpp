// Products with one-hot columns, which are stored as the places of their ones: row i of the matrix B
// has ones in the columns places[i, 0] < places[i, 1] < ..., one for each feature.
#pragma once

#include "lanes.hpp"
#include "workspace.hpp"

namespace kw::KW_ARCH {

using Places = Matrix<const std::int32_t>;

// Rows of a block, which is read feature by feature: what one feature reads or writes of a large matrix
// then stays in the first-level cache, and the places of the block in the second-level cache.
inline constexpr Size kOneHotRows = 512;

// out += B' diag(weights) B, on and above the diagonal: histograms of the features and their pairs.
inline void one_hot_gram(Places places, Values weights, Matrix<double> out) {
  for (Size first = 0; first < places.rows; first += kOneHotRows) {
    const Size last = std::min(first + kOneHotRows, places.rows);
    for (Size j = 0; j < places.columns; ++j) {
      for (Size i = first; i < last; ++i) {
        const std::int32_t* const row = places.row(i);
        double* const target = out.row(row[j]);
        const double weight = weights[i];
        for (Size k = j; k < places.columns; ++k) target[row[k]] += weight;
      }
    }
  }
}

// out += B' diag(weights) D for dense columns D
inline void one_hot_sums(Places places, Values weights, Matrix<const float> D, Matrix<double> out,
                         Workspace& work) {
  const Borrowed borrowed(work);
  double* const scaled = work.take<double>(D.columns);
  for (Size i = 0; i < places.rows; ++i) {
    const float* const dense = D.row(i);
    for (Size q = 0; q < D.columns; ++q) scaled[q] = weights[i] * double(dense[q]);
    for (Size j = 0; j < places.columns; ++j) {
      double* const target = out.row(places.at(i, j));
#pragma omp simd
      for (Size q = 0; q < D.columns; ++q) target[q] += scaled[q];
    }
  }
}

// out += B R
inline void one_hot_product(Places places, Matrix<const float> R, Matrix<float> out) {
  for (Size i = 0; i < places.rows; ++i) {
    float* const target = out.row(i);
    for (Size j = 0; j < places.columns; ++j) {
      const float* const source = R.row(places.at(i, j));
#pragma omp simd
      for (Size q = 0; q < out.columns; ++q) target[q] += source[q];
    }
  }
}

// out = diag(B Q B') for a symmetric Q, which is read on and above the diagonal
inline void one_hot_forms(Places places, Matrix<const double> Q, Vector<double> out) {
  for (Size first = 0; first < places.rows; first += kOneHotRows) {
    const Size last = std::min(first + kOneHotRows, places.rows);
    std::fill(out.data + first, out.data + last, 0.0);
    for (Size j = 0; j < places.columns; ++j) {
      for (Size i = first; i < last; ++i) {
        const std::int32_t* const row = places.row(i);
        const double* const source = Q.row(row[j]);
        double mixed = 0;
        for (Size k = j + 1; k < places.columns; ++k) mixed += source[row[k]];
        out[i] += source[row[j]] + 2 * mixed;
      }
    }
  }
}

}  // namespace kw::KW_ARCH
