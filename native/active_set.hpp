// Leaves of the active-set method, which solves for all free variables at once.
#pragma once

#include <cmath>
#include <limits>

#include "box.hpp"
#include "smo.hpp"

namespace kw::KW_ARCH {

// Write the system H K H d = -H g of the free variables, with H the centring, to block and slope.
// In the direction that H K H loses it gets what keeps it definite; the ridge is relative.
inline void newton_system(Matrix<const double> K, Values gradient, Indices free, double ridge,
                          Matrix<double> block, Vector<double> slope, Workspace& work) {
  const Size m = free.size;
  const Borrowed borrowed(work);
  double* const means = work.take<double>(m);
  gather<double>(K, free, free, block);
  double size = 0, total = 0, mean = 0, largest = 0;
  for (Size a = 0; a < m; ++a) {
    means[a] = sum({block.row(a), m}) / double(m);
    total += means[a] / double(m);
    size += block.at(a, a) / double(m);
    mean += gradient[free[a]] / double(m);
  }
  for (Size a = 0; a < m; ++a) {
    double* const row = block.row(a);
    const double own = total + size / double(m) - means[a];
    for (Size c = 0; c < m; ++c) row[c] += own - means[c];
    largest = row[a] > largest ? row[a] : largest;
    slope[a] = mean - gradient[free[a]];
  }
  for (Size a = 0; a < m; ++a) block.at(a, a) += ridge * largest;
}

// Take the mean away, so that the step keeps the sum.
inline void centre(Vector<double> step) {
  const double mean = sum({step.data, step.size}) / double(step.size);
  for (Size a = 0; a < step.size; ++a) step[a] -= mean;
}

// Go as far along the step as the bounds let; return how far that was, of a whole step. b and the
// gradient move in place.
inline double walk(Matrix<const double> K, Vector<double> b, Values lo, Values hi,
                   Vector<double> gradient, Indices free, Values step, Workspace& work) {
  const Borrowed borrowed(work);
  double* const change = work.take<double>(free.size);
  double length = kInfinity;
  for (Size a = 0; a < free.size; ++a) {
    if (step[a] == 0) continue;
    const Size i = free[a];
    const double own = ((step[a] > 0 ? hi[i] : lo[i]) - b[i]) / step[a];
    length = own < length ? own : length;
  }
  const double part = length < 1 ? length : 1;
  for (Size a = 0; a < free.size; ++a) {
    const Size i = free[a];
    const double moved = clip(b[i] + part * step[a], lo[i], hi[i]);
    change[a] = moved - b[i];
    b[i] = moved;
  }
  add_rows(K, free, {change, free.size}, gradient);
  return length;
}

// Write by how much each bound holds a variable back; return the largest free residual.
inline double residuals(Values b, Values lo, Values hi, Values gradient, Vector<const bool> free,
                        Vector<double> held) {
  // A bool as a number: loops that choose by bytes are not vectorised.
  const auto* const is_free = reinterpret_cast<const std::uint8_t*>(free.data);
  double total = 0, count = 0;
#pragma omp simd reduction(+ : total, count)
  for (Size i = 0; i < b.size; ++i) {
    total += double(is_free[i]) * gradient[i];
    count += double(is_free[i]);
  }
  const double nu = -total / (count > 0 ? count : 1);
  double largest = 0;
#pragma omp simd reduction(max : largest)
  for (Size i = 0; i < b.size; ++i) {
    const double residual = gradient[i] + nu, own = double(is_free[i]) * std::fabs(residual);
    const double if_high = b[i] >= hi[i] ? residual : 0.0;
    const double if_low = hi[i] > lo[i] ? -residual : if_high;
    held[i] = b[i] <= lo[i] ? if_low : if_high;
    largest = own > largest ? own : largest;
  }
  return largest;
}

}  // namespace kw::KW_ARCH
