// Sigmoids of decision values, one per row of F: for each, with z = a f + b,
//
//   min  sum_i w_i (log(1 + exp(z_i)) - t_i z_i) + precision / 2 (a - mean)^2
//
// over b, and over a unless it is fixed, by damped Newton steps.
#pragma once

#include <cmath>
#include <utility>

#include "tiles.hpp"
#include "workspace.hpp"

namespace kw::KW_ARCH {

// One sigmoid on the way, with its probabilities.
struct Sigmoid {
  const double *f, *t, *w;
  Size n;
  double slope, intercept, value, *p, *other;
  double slope_step, intercept_step;
};

// The loss at a slope and an intercept, without its penalty; p becomes the probabilities.
inline double sigmoid_loss(const Sigmoid& own, double slope, double intercept, double* p) {
  using V = Doubles;
  const V a = splat<V>(slope), b = splat<V>(intercept);
  for (Size i = 0; i < own.n; i += kLanes<V>) {
    const V z = a * load_up_to<V>(own.f + i, own.n - i) + b;
    store_up_to<V>(p + i, exp_of_minus(size_of(z)), own.n - i);
  }
  double even = 0, odd = 0;
  for (Size i = 0; i < own.n; ++i) {
    const double z = slope * own.f[i] + intercept, tail = p[i];
    (i % 2 ? odd : even) += own.w[i] * ((z > 0 ? z : 0.0) + std::log1p(tail) - own.t[i] * z);
    p[i] = (z >= 0 ? 1.0 : tail) / (1 + tail);
  }
  return even + odd;
}

// Find a step; returns the squared decrement. Written as a (f - c) + b' with c the mean of f under
// the weights q = w p (1 - p) of the Hessian, the Hessian is diagonal.
inline double sigmoid_step(Sigmoid& own, double mean, double precision, double tiny, bool fixed) {
  double total = 0, centre = 0, level = 0;
  for (Size i = 0; i < own.n; ++i) {
    const double q = own.w[i] * own.p[i] * (1 - own.p[i]);
    total += q;
    centre += q * own.f[i];
    level += own.w[i] * (own.p[i] - own.t[i]);
  }
  total += tiny;
  centre /= total;
  own.slope_step = 0;
  own.intercept_step = -level / total;
  if (fixed) return level * level / total;
  double steep = 0, curved = 0;
  for (Size i = 0; i < own.n; ++i) {
    const double away = own.f[i] - centre;
    steep += own.w[i] * (own.p[i] - own.t[i]) * away;
    curved += own.w[i] * own.p[i] * (1 - own.p[i]) * away * away;
  }
  steep += precision * (own.slope - mean);
  curved += precision + tiny;
  own.slope_step = -steep / curved;
  own.intercept_step -= own.slope_step * centre;
  return steep * steep / curved + level * level / total;
}

// F, T: one row per sigmoid; W: one row for each of them, or one for all. Slopes and intercepts go
// in as starts. The steps end for all sigmoids at once, when the squared decrement of each is at
// most `enough` times one plus its value.
inline void fit_sigmoids(Matrix<const double> F, Matrix<const double> T, Matrix<const double> W,
                         double mean, double precision, bool fixed, double enough,
                         std::int64_t max_steps, Vector<double> slope, Vector<double> intercept,
                         Workspace& work) {
  const Borrowed borrowed(work);
  const Size k = F.rows, n = F.columns;
  Sigmoid* const all = work.take<Sigmoid>(k);
  double tiny = 0;  // keeps the Hessian of a saturated sigmoid from being zero
  for (Size j = 0; j < W.rows; ++j)
    for (Size i = 0; i < n; ++i) tiny += 1e-12 * W.at(j, i);
  const auto penalty = [&](double a) {
    return fixed ? 0.0 : 0.5 * precision * (a - mean) * (a - mean);
  };
  for (Size j = 0; j < k; ++j) {
    double *const p = work.take<double>(n), *const other = work.take<double>(n);
    all[j] = {F.row(j), T.row(j), W.row(W.rows == 1 ? 0 : j), n, slope[j], intercept[j], 0, p, other,
              0, 0};
    all[j].value = sigmoid_loss(all[j], slope[j], intercept[j], p) + penalty(slope[j]);
  }
  for (std::int64_t step = 0; step < max_steps; ++step) {
    bool is_last = true;
    for (Size j = 0; j < k; ++j) {
      const double decrement = sigmoid_step(all[j], mean, precision, tiny, fixed);
      is_last = is_last & (decrement <= enough * (1 + all[j].value));
    }
    for (Size j = 0; j < k; ++j) {
      Sigmoid& own = all[j];
      double length = 1, a, b, value = 0;
      for (int halvings = 0; halvings < 40; ++halvings, length /= 2) {
        a = own.slope + length * own.slope_step;
        b = own.intercept + length * own.intercept_step;
        if (!is_last) value = sigmoid_loss(own, a, b, own.other) + penalty(a);
        if (is_last || !(value > own.value)) {
          own.slope = a;
          own.intercept = b;
          own.value = value;
          std::swap(own.p, own.other);
          break;
        }
      }
    }
    if (is_last) break;
  }
  for (Size j = 0; j < k; ++j) {
    slope[j] = all[j].slope;
    intercept[j] = all[j].intercept;
  }
}

}  // namespace kw::KW_ARCH
