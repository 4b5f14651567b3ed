// The energy distance between classes, feature by feature, from sorted values.
#pragma once

#include "lanes.hpp"
#include "workspace.hpp"

namespace kw::KW_ARCH {

// out[k, 0] = int sum_c factors[c] (F_c - F)^2 dx and out[k, 1] = int F (1 - F) dx, with F_c the
// distribution function of class c and F of all rows. order[k] sorts the values Xt[k].
inline void squared_gaps(Matrix<const double> Xt, Matrix<const std::int64_t> order,
                         Indices classes, Values weights,
                         Values factors, Matrix<double> out, Workspace& work) {
  const Size n = weights.size, n_classes = factors.size;
  const Borrowed borrowed(work);
  const Size padded = n_classes + n_classes % 2;  // an empty class more counts nothing
  double *const share = work.take<double>(padded), *const passed = work.take<double>(padded),
               *const own_factors = work.take<double>(padded);
  for (Size c = 0; c < padded; ++c) {
    share[c] = 0;
    own_factors[c] = c < n_classes ? factors[c] : 0;
  }
  double total = 0;
  for (Size i = 0; i < n; ++i) share[classes[i]] += weights[i];
  for (Size c = 0; c < n_classes; ++c) {
    total += share[c];
    share[c] = 1 / share[c];
  }
  const double whole = 1 / total;
  for (Size k = 0; k < Xt.rows; ++k) {
    const double* const x = Xt.row(k);
    const std::int64_t* const o = order.row(k);
    double passed_all = 0, between = 0, within = 0;  // weights up to here: exact counts
    for (Size c = 0; c < padded; ++c) passed[c] = 0;
    for (Size t = 0; t + 1 < n; ++t) {
      passed[classes[o[t]]] += weights[o[t]];
      passed_all += weights[o[t]];
      const double F = passed_all * whole, step = x[o[t + 1]] - x[o[t]];
      double even = 0, odd = 0;
      for (Size c = 0; c < padded; c += 2) {
        const double first = passed[c] * share[c] - F, second = passed[c + 1] * share[c + 1] - F;
        even += own_factors[c] * first * first;
        odd += own_factors[c + 1] * second * second;
        KW_ONE_BY_ONE;
      }
      between += (even + odd) * step;
      within += F * (1 - F) * step;
    }
    out.at(k, 0) = between;
    out.at(k, 1) = within;
  }
}

}  // namespace kw::KW_ARCH
