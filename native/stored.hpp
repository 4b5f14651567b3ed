// Solves on a kernel matrix in memory, from start to end.
//
// Fixed variables (lo = hi) never enter a step; once a copy of the block without them, and without
// those that stay at their bounds, costs less than sweeping them did, the solve goes on in a copy.
#pragma once

#include "smo.hpp"

namespace kw::KW_ARCH {

inline constexpr Size kStepEntries = 256;      // row entries that a step is worth beside its sweep
inline constexpr int kRounds = 12;             // looks at all rows; what needs more is a hard problem
inline constexpr double kWorthCopying = 0.6;   // part of the rows that may be left for a copy to pay
inline constexpr Size kFewestSteps = 50;       // between two looks at what is left

// Return whether a copy of the block that is left pays, with as many steps to come as were made. To
// copy an entry takes as long as three in a step; then all gradients have to be brought up to date.
KW_INLINE bool copy_pays(Size n, Size left, std::int64_t steps) {
  const double all = double(n), some = double(left);
  return some < kWorthCopying * all && double(steps) * (all - some) > 3 * some * some + all * some / 2;
}

struct Made {
  std::int64_t steps;
  End end;
};

// Run SMO until it ends, or a copy of what is left pays, or about `most_swept` entries are swept.
template <class V, class Rows>
Made run_until_small(Rows block, SmoState<Number<V>>& state, double tol, std::int64_t most_steps,
                     double most_swept) {
  Smo<V, Rows> smo(block, state);
  const Size m = state.n, between = std::max(kFewestSteps, m / 8);
  Made made{0, End::out_of_steps};
  while (made.end == End::out_of_steps && made.steps < most_steps &&
         double(made.steps) * double(m + kStepEntries) < most_swept) {
    const std::int64_t limit = std::min<std::int64_t>(between, most_steps - made.steps);
    made.end = smo.run(Number<V>(tol), limit, made.steps);
    if (made.end == End::out_of_steps && copy_pays(m, state.count_movable(), made.steps)) break;
  }
  return made;
}

// Run SMO for a number of steps.
template <class V>
Made run_steps(Matrix<const Number<V>> block, SmoState<Number<V>>& state, double tol,
               std::int64_t limit) {
  Smo<V, Matrix<const Number<V>>> smo(block, state);
  Made made{0, End::out_of_steps};
  made.end = smo.run(Number<V>(tol), limit, made.steps);
  return made;
}

// Call with vectors of the width that suits so many variables.
template <class T, class Call>
KW_INLINE Made with_width(Size n, Call call) {
  if constexpr (kBytes == 64) {
    if (n < kShortRows) return call(Lanes<T, 32>{});
  }
  return call(Lanes<T>{});
}

template <class Rows>
Matrix<const typename Rows::Entry> square_block(Rows K, Indices some, Workspace& work) {
  using T = typename Rows::Entry;
  const Matrix<T> block{work.take<T>(some.size * some.size), some.size, some.size, some.size};
  gather<T>(K, some, some, block);
  return {block.data, block.rows, block.columns, block.stride};
}

// Bring variables back to b, and add K times their change to the gradient.
template <class Rows>
void put_back(Rows K, const SmoState<typename Rows::Entry>& state, Indices some, Vector<double> b,
              Vector<double> gradient, Workspace& work) {
  const Borrowed borrowed(work);
  std::int64_t* const moved = work.take<std::int64_t>(some.size);
  double* const change = work.take<double>(some.size);
  Size found = 0;
  for (Size k = 0; k < some.size; ++k) {
    const Size i = some[k];
    if (state.b[k] == b[i]) continue;
    moved[found] = i;
    change[found++] = state.b[k] - b[i];
    b[i] = state.b[k];
  }
  add_rows(K, {moved, found}, {change, found}, gradient);
}

// Make at most `limit` steps on some variables; b and the gradient of all rows move in place. The
// rows of `some` are among the leading rows of K; without a copy they are all of them, in order.
template <class T>
Steps solve_some(Matrix<const T> K, Vector<const T> diag, Vector<double> b, Vector<double> gradient,
                 const Bounds& box, Indices some, bool copies, double tol, std::int64_t limit,
                 Workspace& work) {
  const Borrowed borrowed(work);
  SmoState<T> state(some, diag.data, b.data, gradient.data, box, work);
  const Matrix<const T> block = copies ? square_block(K, some, work) : K;
  const Made made = with_width<T>(
      some.size, [&]<class V>(V) { return run_steps<V>(block, state, tol, limit); });
  put_back(K, state, some, b, gradient, work);
  return {0, made.steps, made.end};
}

// The first lines of a solve: g = K b - p, or as it is known.
template <class Rows>
void start_gradient(Rows K, Values b, Vector<double> g, Values p, Workspace& work) {
  const Borrowed borrowed(work);
  std::int64_t* const support = work.take<std::int64_t>(b.size);
  double* const values = work.take<double>(b.size);
  Size found = 0;
  for (Size i = 0; i < b.size; ++i) {
    g[i] = -p[i];
    if (b[i] == 0) continue;
    support[found] = i;
    values[found++] = b[i];
  }
  add_rows(K, {support, found}, {values, found}, g);
}

// Write the variables that a step may still pick (LIBSVM's shrinking); return how many.
KW_INLINE Size movable(Values b, Values g, const Bounds& box, Reach found, std::int64_t* out) {
  const Values lo = box.lo, hi = box.hi;
  Size count = 0;
  for (Size i = 0; i < b.size; ++i) {
    out[count] = i;
    const double up = box.kinked() ? g[i] + box.rising(i, b[i]) : g[i];
    const double down = box.kinked() ? g[i] + box.falling(i, b[i]) : g[i];
    count += ((b[i] < hi[i]) & (up < found.most)) | ((b[i] > lo[i]) & (down > found.least));
  }
  return count;
}

KW_INLINE bool has_nan(Values g) {
  double difference = 0;
#pragma omp simd reduction(+ : difference)
  for (Size i = 0; i < g.size; ++i) difference += std::isnan(g[i]) ? 1.0 : 0.0;
  return difference > 0;
}

// Solve from a feasible b, which moves in place; `total` is its sum. g becomes the gradient K b - p;
// with `known` it is that of the start already. About `most_swept` row entries are swept at most:
// between two calls the caller looks for Ctrl-C. Where the solve converges, `certificate` is written.
//
// Returns the largest of g minus its least over what can move, the steps, and how it ended.
template <class Rows>
Steps solve_stored(Rows K, Vector<double> b, Vector<double> g, Values p, const Bounds& box,
                   bool known, double tol, std::int64_t max_steps, double most_swept, double total,
                   Certificate& certificate, Workspace& work) {
  using T = typename Rows::Entry;
  const Size n = b.size;
  const Borrowed borrowed(work);
  T* const diag = work.take<T>(n);
  std::int64_t *const all = work.take<std::int64_t>(n), *const left = work.take<std::int64_t>(n + 1);
  for (Size i = 0; i < n; ++i) {
    diag[i] = K.at(i, i);
    all[i] = i;
  }
  const Values point{b.data, n}, gradient{g.data, n};
  if (!known) start_gradient(K, point, g, p, work);
  Steps done{kInfinity, 0, End::unfinished};
  double swept = 0;
  Made made{0, End::converged};
  for (int turn = 0;; ++turn) {
    const Reach found = reach(point, gradient, box);
    done.violation = found.most - found.least;
    if (std::isnan(done.violation) || has_nan(gradient)) {
      done.end = End::not_a_number;
    } else if (!(done.violation > tol)) {
      snap(b, box);
      certificate = certify(point, gradient, p, box, total, work);
      done.end = End::converged;
    } else if (done.count >= max_steps) {
      done.end = End::out_of_steps;
    } else if (swept < most_swept && turn < kRounds && (turn == 0 || made.steps > 0)) {
      const Borrowed of_this_round(work);
      Indices some{all, n};
      if (turn > 0 && made.end == End::out_of_steps)
        some = {left, movable(point, gradient, box, found, left)};
      const bool copies = double(some.size) < kWorthCopying * double(n);
      if (!copies) some = {all, n};
      SmoState<T> state(some, diag, b.data, g.data, box, work);
      const auto run = [&](auto block) {
        return with_width<T>(some.size, [&]<class V>(V) {
          return run_until_small<V>(block, state, 0.9 * tol, max_steps - done.count,
                                    most_swept - swept);
        });
      };
      made = copies ? run(square_block(K, some, work)) : run(K);
      done.count += made.steps;
      swept += double(made.steps) * double(some.size + kStepEntries);
      put_back(K, state, some, b, g, work);
      continue;
    }
    return done;
  }
}

}  // namespace kw::KW_ARCH
