// The Kernel Adatron: coordinate descent at a given multiplier of the sum.
#pragma once

#include <limits>

#include "box.hpp"

namespace kw::KW_ARCH {

// Sweep until the conditions of the problem at a multiplier hold within tol:
//
//     min 1/2 b'Kb - p'b + nu (sum b - total) + rho/2 (sum b - total)^2,   lo <= b <= hi
//
// The gradient g = K b - p goes along with b.
template <class T>
Epochs sweep(Matrix<const T> K, Vector<double> b, Vector<double> g, Values lo, Values hi,
             double total, double nu, double rho, double eta, double tol,
             std::int64_t max_epochs) {
  const Size n = b.size;
  const Values point{b.data, n}, gradient{g.data, n};
  double excess = sum(point) - total;
  const double step = eta / (1 + rho * eta);
  const auto violation = [&] {
    const Reach found = reach(point, gradient, {lo, hi});
    const double pull = nu + rho * excess, up = -(found.least + pull), down = found.most + pull;
    return up > down ? up : down;
  };
  for (std::int64_t epoch = 0; epoch < max_epochs; ++epoch) {
    if (violation() <= tol) return {epoch, true};
    for (Size i = 0; i < n; ++i) {
      const double moved = clip(b[i] - step * (g[i] + nu + rho * excess), lo[i], hi[i]);
      const double change = moved - b[i];
      if (change == 0) continue;
      b[i] = moved;
      excess += change;
      const T* const row = K.row(i);
      double* const slopes = g.data;
#pragma omp simd
      for (Size j = 0; j < n; ++j) slopes[j] += change * double(row[j]);
    }
    excess = sum(point) - total;
  }
  return {max_epochs, violation() <= tol};
}

// The Kernel Adatron as printed: sweep until the functional margin 1/2 (min z+ - max z-) is at
// least 1 - tol,
//
//     z_i = sum_j K_ij b_j;   b_i <- clip(b_i - eta (z_i - p_i), lo_i, hi_i)   for each i in order.
//
// The margin is that of the z that the sweep computes on its way; rows of p_i = 0 do not count.
template <class T>
Epochs sweep_to_margin(Matrix<const T> K, Vector<double> b, Values p, Values lo, Values hi,
                       double eta, double tol, std::int64_t max_epochs) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const Size n = b.size;
  const double* const coefficients = b.data;
  for (std::int64_t epoch = 1; epoch <= max_epochs; ++epoch) {
    double lowest = none, highest = -none;
    for (Size i = 0; i < n; ++i) {
      const T* const row = K.row(i);
      double z = 0;
#pragma omp simd reduction(+ : z)
      for (Size j = 0; j < n; ++j) z += double(row[j]) * coefficients[j];
      if (p[i] > 0 && z < lowest) lowest = z;
      if (p[i] < 0 && z > highest) highest = z;
      b[i] = clip(b[i] - eta * (z - p[i]), lo[i], hi[i]);
    }
    if (0.5 * (lowest - highest) >= 1 - tol) return {epoch, true};
  }
  return {max_epochs, false};
}

}  // namespace kw::KW_ARCH
