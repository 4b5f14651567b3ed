// Second-order SMO (Fan, Chen, Lin 2005) on a stored matrix:
//
//     min 1/2 b'Kb - p'b   s.t.   sum b = const,   lo <= b <= hi
//
// Each step raises b_i and lowers b_j by t: i has the least gradient of those that can rise, j the
// largest gain (g_j - g_i)^2 / (K_ii + K_jj - 2 K_ij) of those that can fall. It stops when the
// largest gradient of what can fall is within tol of the least of what can rise.
#pragma once

#include <limits>

#include "blocks.hpp"
#include "box.hpp"
#include "workspace.hpp"

namespace kw::KW_ARCH {

// The gradient of what cannot move. It absorbs every change, and never wins a comparison.
inline constexpr double kNever = 1e30;
// LIBSVM's curvature for pairs that have none: equal rows, or an indefinite kernel.
inline constexpr double kLeastCurvature = 1e-12;
inline constexpr Size kPrefetch = 1024;   // bytes that rows of K are fetched ahead
inline constexpr Size kShortRows = 500;   // below, vectors of 32 bytes win: they fold faster

// out += sum_r change[r] K[rows[r]], some rows at a time, so that out is read and written seldom.
template <class T>
void add_rows(Matrix<const T> K, Indices rows, Values change, Vector<double> out) {
  using V = std::conditional_t<sizeof(T) == 4, Doubles, Lanes<double>>;
  constexpr Size together = 8, lanes = kLanes<V>, piece = 1024;  // of out, which stay in cache
  double* const target = out.data;
  for (Size start = 0; start < out.size; start += piece) {
    const Size stop = std::min(start + piece, out.size);
    Size r = 0;
    for (; r + together <= rows.size; r += together) {
      const T* row[together];
      V by[together];
      for (Size a = 0; a < together; ++a) {
        row[a] = K.row(rows[r + a]);
        by[a] = splat<V>(change[r + a]);
      }
      Size j = start;
      for (; j + lanes <= stop; j += lanes) {
        V total = load<V>(target + j);
#pragma GCC unroll 8
        for (Size a = 0; a < together; ++a) total = total + by[a] * load_wide<V>(row[a] + j);
        store<V>(target + j, total);
      }
      for (; j < stop; ++j)
        for (Size a = 0; a < together; ++a) target[j] += change[r + a] * double(row[a][j]);
    }
    for (; r < rows.size; ++r) {
      const T* const row = K.row(rows[r]);
      const double by = change[r];
#pragma omp simd
      for (Size j = start; j < stop; ++j) target[j] += by * double(row[j]);
    }
  }
}

// The variables of a solve. Gradients are in the type of the matrix: `up` of what can rise, `down`
// of what can fall, kNever where it cannot. They are padded to pairs of vectors.
template <class T>
struct SmoState {
  Size n;
  double *b, *lo, *hi;
  T *up, *down, *diagonal;
  bool equal_diagonal;

  static constexpr Size padding = 2 * 64 / sizeof(T);

  // Take over some variables; 32 numbers apart lest the arrays lie 4096 bytes from each other.
  SmoState(Indices some, const T* diag, const double* point,
           const double* gradient, const double* low, const double* high, Workspace& work)
      : n(some.size),
        b(work.take<double>(n)),
        lo(work.take<double>(n)),
        hi(work.take<double>(n)),
        up(work.take<T>(n + padding + 64)),
        down(work.take<T>(n + padding + 128)),
        diagonal(work.take<T>(n + padding)),
        equal_diagonal(true) {
    for (Size k = 0; k < n; ++k) {
      const Size i = some[k];
      b[k] = point[i];
      lo[k] = low[i];
      hi[k] = high[i];
      diagonal[k] = diag[i];
      equal_diagonal = equal_diagonal && diag[i] == diag[some[0]];
      settle(k, T(gradient[i]));
    }
    for (Size k = n; k < n + padding; ++k) {
      up[k] = T(kNever);
      down[k] = T(-kNever);
      diagonal[k] = 0;
    }
  }

  // Write the gradient of a variable to where it can move.
  KW_INLINE void settle(Size k, T gradient) {
    up[k] = b[k] < hi[k] ? gradient : T(kNever);
    down[k] = b[k] > lo[k] ? gradient : T(-kNever);
  }

  // Count the variables that a step may still pick (LIBSVM's shrinking).
  Size count_movable() const {
    using V = Lanes<T>;
    V low = splat<V>(T(kNever)), high = splat<V>(T(-kNever));
    for (Size k = 0; k < n; k += kLanes<V>) {
      low = least(load<V>(up + k), low);
      high = most(load<V>(down + k), high);
    }
    const T lowest = least_of(low), highest = most_of(high);
    Size found = 0;
    for (Size k = 0; k < n; ++k) found += (up[k] < highest) | (down[k] > lowest);
    return found;
  }
};

// Where the gradient is least among what can rise, and how far the largest among what can fall is
// above that.
template <class T>
struct Worst {
  Size place;
  T violation;
};

template <class V>
class Extrema {
 public:
  using T = Number<V>;

  KW_INLINE void look(V up, V down, V place) {
    const auto lower = less(up, low_);
    low_at_ = select(lower, place, low_at_);
    low_ = least(up, low_);
    high_ = most(down, high_);
  }

  // Take in the lanes of another.
  KW_INLINE void join(const Extrema& other) {
    // Of equal ones the least place wins, whatever the width of a vector.
    const auto lower = less(other.low_, low_), earlier = less(other.low_at_, low_at_);
    const auto equal = Operations<V>::equal(other.low_, low_);
    low_at_ = select(equal, select(earlier, other.low_at_, low_at_),
                     select(lower, other.low_at_, low_at_));
    low_ = least(other.low_, low_);
    high_ = most(other.high_, high_);
  }

  KW_INLINE Worst<T> worst() const {
    const T lowest = least_of(low_);
    return {place_of(low_, lowest, low_at_), most_of(high_) - lowest};
  }

 private:
  V low_ = splat<V>(T(kNever)), high_ = splat<V>(T(-kNever)), low_at_{};
};

// One pass over the gradients. With `moves`, t (K_i - K_j) is added to them.
template <class V, bool moves>
Worst<Number<V>> pass(const Number<V>* Ki, const Number<V>* Kj, Number<V> t, Number<V>* up,
                      Number<V>* down, Size n) {
  using T = Number<V>;
  constexpr Size lanes = kLanes<V>, ahead = kPrefetch / sizeof(T);
  const V change = splat<V>(t), width = splat<V>(T(2 * lanes));
  Extrema<V> even, odd;
  V here = lane_numbers<V>();
  Size k = 0;
  const auto half = [&](Extrema<V>& found, Size at, V rows, V place) {
    V rising = load<V>(up + at), falling = load<V>(down + at);
    if constexpr (moves) {
      rising = rising + change * rows;
      falling = falling + change * rows;
      store<V>(up + at, rising);
      store<V>(down + at, falling);
    }
    found.look(rising, falling, place);
  };
  for (; k + 2 * lanes <= n; k += 2 * lanes) {
    V first{}, second{};
    if constexpr (moves) {
      for (Size line = 0; line < 2 * lanes; line += 64 / Size(sizeof(T))) {
        await_load(Ki + k + line + ahead);
        await_load(Kj + k + line + ahead);
      }
      first = load<V>(Ki + k) - load<V>(Kj + k);
      second = load<V>(Ki + k + lanes) - load<V>(Kj + k + lanes);
    }
    half(even, k, first, here);
    half(odd, k + lanes, second, here + splat<V>(T(lanes)));
    here = here + width;
  }
  for (; k < n; k += lanes) {
    V rows{};
    if constexpr (moves)
      rows = load_up_to<V>(Ki + k, n - k) - load_up_to<V>(Kj + k, n - k);
    half(even, k, rows, here);
    here = here + splat<V>(T(lanes));
  }
  even.join(odd);
  return even.worst();
}

// The best partner so far in each lane. Two ratios are compared by products: a division takes longer
// than all the rest.
template <class V>
struct Partner {
  using T = Number<V>;
  V top{}, bottom = splat<V>(T(1)), place{};

  KW_INLINE void look(V gain, V curvature, V here) {
    const auto better = less(top * curvature, gain * bottom);
    top = select(better, gain, top);
    bottom = select(better, curvature, bottom);
    place = select(better, here, place);
  }
};

// Return which of those that can fall gains most with i. With `equal`, the diagonal is that of i.
template <class V, bool equal>
Size partner(const Number<V>* Ki, Number<V> slope, Number<V> own, const Number<V>* down,
             const Number<V>* diagonal, Size n) {
  using T = Number<V>;
  constexpr Size lanes = kLanes<V>;
  const V own_slope = splat<V>(slope), own_diagonal = splat<V>(own), ends = splat<V>(own + own);
  const V flat = splat<V>(T(kLeastCurvature)), two = splat<V>(T(2));
  Partner<V> even, odd;
  V here = lane_numbers<V>();
  const auto half = [&](Partner<V>& best, Size at, V row, V place) {
    const V rise = most(load<V>(down + at) - own_slope, V{});
    V both = ends;
    if constexpr (!equal) both = own_diagonal + load<V>(diagonal + at);
    best.look(rise * rise, most(both - two * row, flat), place);
  };
  Size k = 0;
  for (; k + 2 * lanes <= n; k += 2 * lanes) {
    half(even, k, load<V>(Ki + k), here);
    half(odd, k + lanes, load<V>(Ki + k + lanes), here + splat<V>(T(lanes)));
    here = here + splat<V>(T(2 * lanes));
  }
  for (; k < n; k += lanes) {
    half(even, k, load_up_to<V>(Ki + k, n - k), here);
    here = here + splat<V>(T(lanes));
  }
  const V ratio = even.top / even.bottom, other = odd.top / odd.bottom;
  const auto better = less(ratio, other), earlier = less(odd.place, even.place);
  const auto same = Operations<V>::equal(ratio, other);
  const V place = select(same, select(earlier, odd.place, even.place),
                         select(better, odd.place, even.place));
  const V best = most(ratio, other);
  return place_of(best, most_of(best), place);
}

// Steps on the leading rows and columns of K, as many as the state has variables.
template <class V>
class Smo {
 public:
  using T = Number<V>;

  Smo(Matrix<const T> K, SmoState<T>& state) : K_(K), state_(state) {
    worst_ = pass<V, false>(nullptr, nullptr, T(0), state.up, state.down, state.n);
  }

  // Make at most so many steps; count them.
  End run(T tol, std::int64_t limit, std::int64_t& steps) {
    for (std::int64_t step = 0;; ++step, ++steps) {
      if (worst_.violation <= tol) return End::converged;
      if (step == limit) return End::out_of_steps;
      if (!make_step()) return End::stuck;
    }
  }

 private:
  bool make_step() {
    SmoState<T>& s = state_;
    const Size i = worst_.place;
    if (i < 0) return false;
    const T* const Ki = K_.row(i);
    const T slope = s.up[i], own = s.diagonal[i];
    const Size j = s.equal_diagonal
                       ? partner<V, true>(Ki, slope, own, s.down, s.diagonal, s.n)
                       : partner<V, false>(Ki, slope, own, s.down, s.diagonal, s.n);
    if (j < 0 || !(s.down[j] - slope > 0)) return false;
    const T rise = s.down[j] - slope;
    const double curvature = double(own + s.diagonal[j] - 2 * Ki[j]);
    const double room_i = s.hi[i] - s.b[i], room_j = s.b[j] - s.lo[j];
    double by = double(rise) / (curvature > kLeastCurvature ? curvature : kLeastCurvature);
    by = room_i < by ? room_i : by;
    by = room_j < by ? room_j : by;
    // At a bound, land on it to the bit; else the two sums drift apart.
    const double new_i = by == room_i ? s.hi[i] : s.b[i] + by;
    const double new_j = by == room_j ? s.lo[j] : s.b[j] - by;
    if (new_i == s.b[i] && new_j == s.b[j]) return false;
    s.b[i] = new_i;
    s.b[j] = new_j;
    s.settle(i, slope);
    s.settle(j, s.down[j]);
    worst_ = pass<V, true>(Ki, K_.row(j), T(by), s.up, s.down, s.n);
    return true;
  }

  Matrix<const T> K_;
  SmoState<T>& state_;
  Worst<T> worst_;
};

}  // namespace kw::KW_ARCH
