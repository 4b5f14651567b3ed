// Points of a box with one sum: starts, projection and the certificate of a solution. The problem is
//
//     min 1/2 b'Kb - p'b + kink'|b|   s.t.   sum b = total,   lo <= b <= hi
#pragma once

#include <cmath>
#include <limits>

#include "lanes.hpp"
#include "workspace.hpp"

namespace kw::KW_ARCH {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

KW_INLINE double clip(double value, double lo, double hi) {
  value = value > lo ? value : lo;
  return value < hi ? value : hi;
}

KW_INLINE double sum(Values values) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (Size i = 0; i < values.size; ++i) total += values[i];
  return total;
}

// Solve sum clip(b - shift, lo, hi) = total: Newton on a piecewise line, in a bracket.
inline double find_shift(Values b, Values lo, Values hi, double total, double rounding,
                         double scale) {
  constexpr int turns = 200;  // halvings of a bracket that leave nothing of it
  double left = -kInfinity, right = kInfinity, shift = 0, width = scale;
  for (int turn = 0; turn < turns; ++turn) {
    double found = 0, inside = 0;  // the sum, and how many of its terms move with the shift
#pragma omp simd reduction(+ : found, inside)
    for (Size i = 0; i < b.size; ++i) {
      const double value = b[i] - shift;
      found += clip(value, lo[i], hi[i]);
      inside += (value > lo[i]) & (value < hi[i]) ? 1.0 : 0.0;
    }
    if (std::fabs(found - total) <= rounding) break;
    (found > total ? left : right) = shift;
    double aim = shift + (found - total) / inside;
    const bool bracketed = left > -kInfinity && right < kInfinity;
    if (bracketed && (turn % 3 == 2 || !(left < aim && aim < right))) {
      aim = 0.5 * (left + right);
    } else if (!std::isfinite(aim) || aim == shift) {
      aim = shift + (found > total ? width : -width);
      width *= 2;
    }
    if (aim == shift) break;
    shift = aim;
  }
  return shift;
}

struct Sums {
  double total, size;
};

// out = clip(b - shift, lo, hi). Return its sum and the sum of its absolute values.
inline Sums clip_all(Values b, double shift, Values lo, Values hi, double* out) {
  double total = 0, size = 0;
#pragma omp simd reduction(+ : total, size)
  for (Size i = 0; i < b.size; ++i) {
    const double value = clip(b[i] - shift, lo[i], hi[i]);
    out[i] = value;
    total += value;
    size += std::fabs(value);
  }
  return {total, size};
}

// out = the nearest point of the box whose sum is total. Return whether there is one.
inline bool project_to_sum(Values b, Values lo, Values hi, double total, Vector<double> out) {
  Sums found = clip_all(b, 0, lo, hi, out.data);
  const double scale = 1 + found.size + std::fabs(total), rounding = 1e-12 * scale;
  if (sum(lo) > total + rounding || sum(hi) < total - rounding) return false;
  // What differs by rounding alone is not shifted: that would take every row off its bound.
  if (std::fabs(found.total - total) > rounding)
    found = clip_all(b, find_shift(b, lo, hi, total, 1e-3 * rounding, scale), lo, hi, out.data);
  const double rest = total - found.total;
  Size widest = -1;
  double room = std::fabs(rest);
  for (Size i = 0; i < out.size; ++i) {
    const double above = hi[i] - out[i], below = out[i] - lo[i];
    const double here = above < below ? above : below;
    if (here > room) {
      widest = i;
      room = here;
    }
  }
  if (widest >= 0) out[widest] += rest;
  return true;
}

// Make a point feasible by moving its non-zeros alone where that can be. Return whether it is.
inline bool repair(Values b, Values lo, Values hi, double total, Vector<double> out,
                   Workspace& work) {
  const Size n = b.size;
  const Borrowed borrowed(work);
  double *const clipped = work.take<double>(n), *const low = work.take<double>(n),
               *const high = work.take<double>(n);
  clip_all(b, 0, lo, hi, clipped);
  double least = 0, most = 0;
#pragma omp simd reduction(+ : least, most)
  for (Size i = 0; i < n; ++i) {
    low[i] = clipped[i] != 0 ? lo[i] : 0;
    high[i] = clipped[i] != 0 ? hi[i] : 0;
    least += low[i];
    most += high[i];
  }
  if (!(least <= total && total <= most)) return project_to_sum(b, lo, hi, total, out);
  return project_to_sum({clipped, n}, {low, n}, {high, n}, total, out);
}

// out = a feasible point with few non-zeros. Return whether there is one.
inline bool first_point(Values lo, Values hi, double total, Vector<double> out) {
  double rest = total;
  for (Size i = 0; i < out.size; ++i) {
    out[i] = clip(0, lo[i], hi[i]);
    rest -= out[i];
  }
  for (Size i = 0; i < out.size && rest != 0; ++i) {
    const double room = (rest > 0 ? hi[i] : lo[i]) - out[i];
    const double move = rest > 0 ? (room < rest ? room : rest) : (room > rest ? room : rest);
    out[i] += move;
    rest -= move;
  }
  return std::fabs(rest) <= 1e-12 * (1 + std::fabs(total));
}

// The same with kinks: a slope for each direction.
inline Reach reach_of_kinked(Values b, Values gradient, const Bounds& box) {
  double low = kInfinity, high = -kInfinity;
#pragma omp simd reduction(min : low) reduction(max : high)
  for (Size i = 0; i < b.size; ++i) {
    const double up = b[i] < box.hi[i] ? gradient[i] + box.rising(i, b[i]) : kInfinity;
    const double down = b[i] > box.lo[i] ? gradient[i] + box.falling(i, b[i]) : -kInfinity;
    low = up < low ? up : low;
    high = down > high ? down : high;
  }
  return {low, high};
}

// The least gradient of what can rise and the largest of what can fall.
inline Reach reach(Values b, Values gradient, const Bounds& box) {
  if (box.kinked()) return reach_of_kinked(b, gradient, box);
  using V = Lanes<double>;
  const Values lo = box.lo, hi = box.hi;
  V low = splat<V>(kInfinity), high = splat<V>(-kInfinity);
  const auto look = [&](V own, V slope, V lower, V upper) {
    low = least(select(less(own, upper), slope, splat<V>(kInfinity)), low);
    high = most(select(less(lower, own), slope, splat<V>(-kInfinity)), high);
  };
  Size i = 0;
  for (; i + kLanes<V> <= b.size; i += kLanes<V>)
    look(load<V>(b.data + i), load<V>(gradient.data + i), load<V>(lo.data + i),
         load<V>(hi.data + i));
  if (const Size left = b.size - i; left > 0)  // lanes behind the last can neither rise nor fall
    look(load_part<V>(b.data + i, left), load_part<V>(gradient.data + i, left),
         load_part<V>(lo.data + i, left), load_part<V>(hi.data + i, left));
  return {least_of(low), most_of(high)};
}

// The multiplier of the sum: minus the mean gradient of the free variables, or the middle of what
// the others allow.
inline double intercept(Values b, Values gradient, const Bounds& box) {
  const Values lo = box.lo, hi = box.hi;
  double total = 0, free = 0;
  if (box.kinked()) {
    for (Size i = 0; i < b.size; ++i)
      if (lo[i] < b[i] && b[i] < hi[i] && b[i] != 0) {
        total += gradient[i] + box.rising(i, b[i]);
        free += 1;
      }
  } else {
#pragma omp simd reduction(+ : total, free)
    for (Size i = 0; i < b.size; ++i) {
      const bool is_free = (lo[i] < b[i]) & (b[i] < hi[i]);
      total += is_free ? gradient[i] : 0.0;
      free += is_free ? 1.0 : 0.0;
    }
  }
  if (free > 0) return -total / free;
  const Reach found = reach(b, gradient, box);
  if (!std::isfinite(found.least)) return std::isfinite(found.most) ? -found.most : 0.0;
  return std::isfinite(found.most) ? -0.5 * (found.least + found.most) : -found.least;
}

// The largest residual that a bound does not hold.
inline double kkt_violation(Values b, Values residual, const Bounds& box) {
  const Reach found = reach(b, residual, box);
  const double worst = -found.least > found.most ? -found.least : found.most;
  return worst > 0 ? worst : 0;
}

// The least t >= 1 with t * scores - p + kink (at lo, - kink) of the right sign at infinite bounds.
inline double stretch(const double* scores, Values p, const Bounds& box) {
  const Values lo = box.lo, hi = box.hi;
  double t = 1;
  for (Size i = 0; i < p.size; ++i) {
    const double kink = box.kinked() ? box.kink[i] : 0;
    const bool short_up = std::isinf(hi[i]) && scores[i] < p[i] - kink;
    const bool short_down = std::isinf(lo[i]) && scores[i] > p[i] + kink;
    if ((short_up && scores[i] <= 0) || (short_down && scores[i] >= 0)) return kInfinity;
    if (short_up || short_down) {
      const double own = (short_up ? p[i] - kink : p[i] + kink) / scores[i];
      t = own > t ? own : t;
    }
  }
  return t;
}

// The least of r x over lo <= x <= hi; where the bound that r points to is infinite, 0.
KW_INLINE double lowest(double r, double lo, double hi) {
  const double bound = r > 0 ? lo : hi;
  return r == 0 || std::isinf(bound) ? 0.0 : bound * r;
}

// The least of r x + kink |x| over lo <= x <= hi, which a bound or zero attains.
KW_INLINE double lowest_of_kinked(double r, double lo, double hi, double kink) {
  const double above = r + kink, below = r - kink;
  if (lo > 0 || hi < 0) return lowest(lo > 0 ? above : below, lo, hi);
  const double rising = lowest(above, 0, hi), falling = lowest(below, lo, 0);
  return rising < falling ? rising : falling;
}

// How far the objective is from its minimum, at most. For a positive semi-definite K, any x in the
// box, and r = t (K b + pull) - p,
//
//     objective(x) >= -1/2 t^2 b'Kb - t constant + sum_i min over x_i of r_i x_i + kink_i |x_i|
//
// where pull is A'nu and constant nu'c. t = 1 unless bounds are infinite: then it is the least that
// leaves those terms finite.
inline double duality_gap(Values b, Values gradient, Values pull, Values p, const Bounds& box,
                          double constant, Workspace& work) {
  const Values lo = box.lo, hi = box.hi;
  const Size n = p.size;
  const Borrowed borrowed(work);
  double* const scores = work.take<double>(n);
  for (Size i = 0; i < n; ++i) scores[i] = gradient[i] + p[i] + pull[i];
  const double t = stretch(scores, p, box);
  if (std::isinf(t)) return kInfinity;
  double least = 0, quadratic = 0, objective = 0;
#pragma omp simd reduction(+ : least, quadratic, objective)
  for (Size i = 0; i < n; ++i) {
    least += lowest(t * scores[i] - p[i], lo[i], hi[i]);
    quadratic += b[i] * (gradient[i] + p[i]);
    objective += 0.5 * b[i] * (gradient[i] - p[i]);
  }
  if (box.kinked()) {
    least = 0;
    for (Size i = 0; i < n; ++i) {
      least += lowest_of_kinked(t * scores[i] - p[i], lo[i], hi[i], box.kink[i]);
      objective += box.kink[i] * std::fabs(b[i]);
    }
  }
  const double gap = objective - (-0.5 * t * t * quadratic - t * constant + least);
  return gap > 0 || std::isnan(gap) ? gap : 0.0;
}

// Put what rounding left an ulp off its bound onto it, in place: it would pin the intercept.
inline void snap(Vector<double> b, const Bounds& box) {
  const Values lo = box.lo, hi = box.hi;
  double size = 0;
  for (Size i = 0; i < b.size; ++i) size = std::fabs(b[i]) > size ? std::fabs(b[i]) : size;
  const double rounding = 1e-14 * size;
  for (Size i = 0; i < b.size; ++i) {
    b[i] = b[i] - lo[i] <= rounding ? lo[i] : b[i];
    b[i] = hi[i] - b[i] <= rounding ? hi[i] : b[i];
  }
  for (Size i = 0; i < box.kink.size; ++i)
    b[i] = std::fabs(b[i]) <= rounding ? clip(0, lo[i], hi[i]) : b[i];
}

// 1/2 b'Kb - p'b + kink'|b| from the gradient K b - p.
inline double objective(Values b, Values gradient, Values p, Values kink) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (Size i = 0; i < b.size; ++i) total += b[i] * (gradient[i] - p[i]);
  double bent = 0;
  for (Size i = 0; i < kink.size; ++i) bent += kink[i] * std::fabs(b[i]);
  return 0.5 * total + bent;
}

// The multiplier, objective, gap and violation of a point of the box with sum b = total.
inline Certificate certify(Values b, Values gradient, Values p, const Bounds& box, double total,
                           Workspace& work) {
  const Size n = b.size;
  const Borrowed borrowed(work);
  const double nu = intercept(b, gradient, box);
  double* const pull = work.take<double>(n);
  for (Size i = 0; i < n; ++i) pull[i] = nu;
  const double gap = duality_gap(b, gradient, {pull, n}, p, box, nu * total, work);
  const Reach found = reach(b, gradient, box);
  const double up = -(found.least + nu), down = found.most + nu;
  const double worst = up > down ? up : down;
  return {nu, objective(b, gradient, p, box.kink), gap, worst > 0 ? worst : 0.0};
}

}  // namespace kw::KW_ARCH
