// The machine of squared slack on a kernel matrix in memory: a hard margin on K + diag(1 / cost).
//
//   min 1/2 b'(K + diag(1 / cost)) b - y'b   s.t.   sum b = 0,   b_i y_i >= 0
//
// A code y_i of zero leaves a row out. Trees of cells solve thousands of these on a thousand rows
// each, so that what Python does around a solve would take a tenth of it and hold up other threads.
#pragma once

#include <algorithm>
#include <cmath>

#include "stored.hpp"

namespace kw::KW_ARCH {

// Solve from zero, or with `warm` from b made feasible; b becomes the solution. The diagonal of K is
// overwritten by `diag` plus the ridge.
template <class T>
RidgeMachine solve_ridge_machine(Matrix<T> K, Values diag, Values y, Values cost, bool warm,
                                 double tol, std::int64_t max_steps, double most_swept,
                                 Vector<double> b, Workspace& work) {
  const Size n = b.size;
  const Borrowed borrowed(work);
  double *const start = work.take<double>(n), *const slopes = work.take<double>(n),
               *const lo = work.take<double>(n), *const hi = work.take<double>(n);
  RidgeMachine out{{kInfinity, 0, End::unfinished}, {0, 0, 0, 0}, 0, 0, 0};
  for (Size i = 0; i < n; ++i) {
    K.at(i, i) = T(diag[i] + 1 / cost[i]);
    out.kernel_size = std::max(out.kernel_size, double(std::abs(K.at(i, i))));
    lo[i] = y[i] < 0 ? -kInfinity : 0;
    hi[i] = y[i] > 0 ? kInfinity : 0;
    start[i] = b[i];
    b[i] = 0;
  }
  const Values low{lo, n}, high{hi, n};
  if (warm) repair({start, n}, low, high, 0, b, work);
  out.steps = solve_stored(Matrix<const T>{K.data, n, n, K.stride}, b, {slopes, n}, y, low, high,
                           false, tol, max_steps, most_swept, 0, out.certificate, work);
  double squares = 0;
  for (Size i = 0; i < n; ++i) {
    squares += b[i] * b[i];
    out.n_vectors += b[i] != 0;
  }
  out.length = std::sqrt(squares);
  return out;
}

}  // namespace kw::KW_ARCH
