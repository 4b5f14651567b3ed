// Distances between rows and landmarks, feature by feature: |x - z|, but at most one limit per
// feature. Without a limit that is a number's distance; codes of categories are whole numbers, so
// that with the limit one it is 0 for equal and 1 for different categories.
#pragma once

#include <algorithm>

#include "lanes.hpp"
#include "workspace.hpp"

namespace kw::KW_ARCH {

inline constexpr int kLimited = 4;        // features that share the reading of a weight
inline constexpr Size kLimitedRows = 64;  // rows that stay in the first cache, per sum in float

KW_INLINE Lanes<float> limited_gap(float x, Lanes<float> z, float limit) {
  using V = Lanes<float>;
  return least(size_of(splat<V>(x) - z), splat<V>(limit));
}

// out[i, j] = sum_k scales[k] min(|left[i, k] - right[k, j]|, limits[k])
inline void limited_distances(Matrix<const float> left, Matrix<const float> right,
                              Vector<const float> scales, Vector<const float> limits,
                              Matrix<float> out) {
  using V = Lanes<float>;
  constexpr int rows = 4;
  const Size d = left.columns;
  for (Size i = 0; i < left.rows; i += rows)
    for (Size j = 0; j < right.columns; j += kLanes<V>) {
      const Size there = right.columns - j;
      V sums[rows] = {};
      const float* x[rows];
      for (int a = 0; a < rows; ++a) x[a] = left.row(std::min<Size>(i + a, left.rows - 1));
      for (Size k = 0; k < d; ++k) {
        const V z = load_up_to<V>(right.row(k) + j, there);
#pragma GCC unroll 4
        for (int a = 0; a < rows; ++a)
          sums[a] = sums[a] + splat<V>(scales[k]) * limited_gap(x[a][k], z, limits[k]);
      }
      for (int a = 0; a < rows && i + a < left.rows; ++a)
        store_up_to<V>(out.row(i + a) + j, sums[a], there);
    }
}

// out[k] += sum_ij S[i, j] min(|left[i, k] - right[k, j]|, limits[k])
inline void limited_contraction(Matrix<const float> S, Matrix<const float> left,
                                Matrix<const float> right, Vector<const float> limits,
                                Vector<double> out) {
  using V = Lanes<float>;
  const Size d = left.columns;
  for (Size start = 0; start < left.rows; start += kLimitedRows)
    for (Size k = 0; k < d; k += kLimited) {
      const Size stop = std::min(start + kLimitedRows, left.rows);
      const int count = static_cast<int>(std::min<Size>(kLimited, d - k));
      for (Size j = 0; j < right.columns; j += kLanes<V>) {
        const Size there = right.columns - j;
        V z[kLimited], sums[kLimited] = {};
        float limit[kLimited];
        for (int a = 0; a < kLimited; ++a) {
          const Size feature = k + std::min(a, count - 1);
          z[a] = load_up_to<V>(right.row(feature) + j, there);
          limit[a] = limits[feature];
        }
        for (Size i = start; i < stop; ++i) {
          const V weight = load_up_to<V>(S.row(i) + j, there);
          const float* const x = left.row(i) + k;
#pragma GCC unroll 4
          for (int a = 0; a < kLimited; ++a)
            sums[a] = sums[a] + weight * limited_gap(x[a < count ? a : 0], z[a], limit[a]);
        }
        for (int a = 0; a < count; ++a) out[k + a] += double(sum_of(sums[a]));
      }
    }
}

}  // namespace kw::KW_ARCH
