// Second-order SMO (Fan, Chen, Lin 2005) on a stored matrix:
//
//     min 1/2 b'Kb - p'b + kink'|b|   s.t.   sum b = const,   lo <= b <= hi
//
// Each step raises b_i and lowers b_j by t: i has the least gradient of those that can rise, j the
// largest gain (g_j - g_i)^2 / (K_ii + K_jj - 2 K_ij) of those that can fall. It stops when the
// largest gradient of what can fall is within tol of the least of what can rise. At a kink the two
// gradients of a variable differ, and a step that meets one ends there.
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

// out += sum_r change[r] K[rows[r]]. The sum is made apart: changes that cancel must not take bits of
// out with them.
template <class Rows>
void add_rows(Rows K, Indices rows, Values change, Vector<double> out) {
  using T = typename Rows::Entry;
  using V = std::conditional_t<sizeof(T) == 4, Doubles, Lanes<double>>;
  constexpr Size together = 8, lanes = kLanes<V>, width = 1024;  // a piece that stays in cache
  alignas(64) double sums[width];
  for (Size start = 0; start < out.size; start += width) {
    const Size size = std::min(width, out.size - start);
    std::fill_n(sums, size, 0.0);
    Size r = 0;
    for (; r + together <= rows.size; r += together) {
      const T* row[together];
      V by[together];
      for (Size a = 0; a < together; ++a) {
        row[a] = K.row(rows[r + a]) + start;
        by[a] = splat<V>(change[r + a]);
      }
      Size j = 0;
      for (; j + lanes <= size; j += lanes) {
        V total = load<V>(sums + j);
#pragma GCC unroll 8
        for (Size a = 0; a < together; ++a) total = total + by[a] * load_wide<V>(row[a] + j);
        store<V>(sums + j, total);
      }
      for (; j < size; ++j)
        for (Size a = 0; a < together; ++a) sums[j] += change[r + a] * double(row[a][j]);
    }
    for (; r < rows.size; ++r) {
      const T* const row = K.row(rows[r]) + start;
      const double by = change[r];
#pragma omp simd
      for (Size j = 0; j < size; ++j) sums[j] += by * double(row[j]);
    }
    for (Size j = 0; j < size; ++j) out.data[start + j] += sums[j];
  }
}

// The variables of a solve. Gradients are in the type of the matrix: `up` of what can rise, `down`
// of what can fall, kNever where it cannot. They are padded to pairs of vectors, and include the
// slope of the kink.
template <class T>
struct SmoState {
  Size n;
  double *b, *lo, *hi, *kink;  // the last is null where no variable has one
  T *up, *down, *diagonal;
  bool equal_diagonal;

  static constexpr Size padding = 2 * 64 / sizeof(T);

  // Take over some variables; 32 numbers apart lest the arrays lie 4096 bytes from each other.
  SmoState(Indices some, const T* diag, const double* point,
           const double* gradient, const Bounds& box, Workspace& work)
      : n(some.size),
        b(work.take<double>(n)),
        lo(work.take<double>(n)),
        hi(work.take<double>(n)),
        kink(box.kinked() ? work.take<double>(n) : nullptr),
        up(work.take<T>(n + padding + 64)),
        down(work.take<T>(n + padding + 128)),
        diagonal(work.take<T>(n + padding)),
        equal_diagonal(true) {
    for (Size k = 0; k < n; ++k) {
      const Size i = some[k];
      b[k] = point[i];
      lo[k] = box.lo[i];
      hi[k] = box.hi[i];
      if (kink != nullptr) kink[k] = box.kink[i];
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
    up[k] = b[k] < hi[k] ? gradient + rising(k) : T(kNever);
    down[k] = b[k] > lo[k] ? gradient + falling(k) : T(-kNever);
  }

  // The gradient of a variable that can move, without the slope of the kink.
  KW_INLINE T gradient(Size k) const {
    return b[k] < hi[k] ? up[k] - rising(k) : down[k] - falling(k);
  }

  // The slopes of kink |b| where b rises, and where it falls.
  KW_INLINE T rising(Size k) const {
    return kink == nullptr ? T(0) : T(b[k] >= 0 ? kink[k] : -kink[k]);
  }
  KW_INLINE T falling(Size k) const {
    return kink == nullptr ? T(0) : T(b[k] > 0 ? kink[k] : -kink[k]);
  }

  // Where a step that raises, or lowers, a variable has to end.
  KW_INLINE double ceiling(Size k) const {
    return kink != nullptr && b[k] < 0 && hi[k] > 0 ? 0.0 : hi[k];
  }
  KW_INLINE double floor(Size k) const {
    return kink != nullptr && b[k] > 0 && lo[k] < 0 ? 0.0 : lo[k];
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

// Loops go through blocks of 128 bytes, in as many vectors as that takes: each is a chain of its own,
// so that several are under way at once, and blocks, and with them ties, are the same at every level.
template <class V>
inline constexpr Size kChains = 128 / sizeof(V);
template <class V>
inline constexpr Size kBlock = kChains<V>* kLanes<V>;

// Return the place of the lane, of all chains, whose value is this one; `blocks` tells in which block
// a lane met it. Of equal ones even lanes win over odd ones, then those whose number divided by two
// is even, and so on.
template <class V>
KW_INLINE Size place_of(const V (&values)[kChains<V>], Number<V> value,
                        const V (&blocks)[kChains<V>]) {
  constexpr Size lanes = kLanes<V>;
  std::uint32_t found = 0;
#pragma GCC unroll 8
  for (Size c = 0; c < kChains<V>; ++c)
    found |= Operations<V>::bits(Operations<V>::equal(values[c], splat<V>(value))) << (c * lanes);
  if (found == 0) return -1;
  if ((found & (found - 1)) != 0)
    for (const std::uint32_t half : {0x55555555u, 0x33333333u, 0x0f0f0f0fu, 0x00ff00ffu, 0x0000ffffu})
      found = (found & half) != 0 ? found & half : found;
  const Size lane = std::countr_zero(found);
  Number<V> all[kBlock<V>];
#pragma GCC unroll 8
  for (Size c = 0; c < kChains<V>; ++c) store<V>(all + c * lanes, blocks[c]);
  return static_cast<Size>(all[lane]) * kBlock<V> + lane;
}

// How entries of K are stored: in the type of the gradients, or as words, which are whole numbers of
// units. Differences of entries are exact, and two rows that are one in words count as half a unit
// apart.
template <class S>
struct Entries {
  static constexpr double unit = 1, least_curvature = kLeastCurvature;
  template <class V>
  KW_INLINE static V load_some(const S* row, Size left) {
    return load_up_to<V>(row, left);
  }
  template <class V>
  KW_INLINE static V as_numbers(V lanes) {
    return lanes;
  }
};
template <>
struct Entries<Word> {
  static constexpr double unit = 1 / kUnit, least_curvature = 1;
  template <class V>
  KW_INLINE static Lanes<std::int32_t, sizeof(V)> load_some(const Word* row, Size left) {
    if (left >= kLanes<V>) return load_words<V>(row);
    Word part[kLanes<V>] = {};
    std::memcpy(part, row, sizeof(Word) * static_cast<std::size_t>(left));
    return load_words<V>(part);
  }
  template <class V>
  KW_INLINE static V as_numbers(Lanes<std::int32_t, sizeof(V)> lanes) {
    return __builtin_convertvector(lanes, V);
  }
};

// One pass over the gradients. With `moves`, t (K_i - K_j) is added to them.
template <class V, bool moves, class S>
Worst<Number<V>> pass(const S* Ki, const S* Kj, Number<V> t, Number<V>* up, Number<V>* down,
                      Size n) {
  using T = Number<V>;
  using Row = Entries<S>;
  constexpr Size lanes = kLanes<V>, chains = kChains<V>, ahead = kPrefetch / sizeof(S);
  const V change = splat<V>(t);
  V low[chains], low_at[chains] = {}, high[2], block{};
  repeat<chains>([&](Size c) KW_AT_ONCE { low[c] = splat<V>(T(kNever)); });
  high[0] = high[1] = splat<V>(T(-kNever));
  const auto look = [&](Size c, Size at, Size left) KW_AT_ONCE {
    V rising = load<V>(up + at), falling = load<V>(down + at);
    if constexpr (moves) {
      const V rows = Row::template as_numbers<V>(Row::template load_some<V>(Ki + at, left) -
                                                 Row::template load_some<V>(Kj + at, left));
      rising = rising + change * rows;
      falling = falling + change * rows;
      store<V>(up + at, rising);
      store<V>(down + at, falling);
    }
    low_at[c] = select(less(rising, low[c]), block, low_at[c]);
    low[c] = least(rising, low[c]);
    high[c % 2] = most(falling, high[c % 2]);
  };
  Size k = 0;
  for (; k + kBlock<V> <= n; k += kBlock<V>) {
    if constexpr (moves)
      for (Size line = 0; line < kBlock<V>; line += 64 / Size(sizeof(S))) {
        await_load(Ki + k + line + ahead);
        await_load(Kj + k + line + ahead);
      }
    repeat<chains>([&](Size c) KW_AT_ONCE { look(c, k + c * lanes, lanes); });
    block = block + splat<V>(T(1));
  }
  repeat<chains>([&](Size c) KW_AT_ONCE {
    const Size at = k + c * lanes, left = n - at;
    if (left > 0) look(c, at, left);
  });
  V all = low[0];
  repeat<chains>([&](Size c) KW_AT_ONCE { all = least(low[c], all); });
  const T lowest = least_of(all);
  return {place_of<V>(low, lowest, low_at), most_of(most(high[0], high[1])) - lowest};
}

// Return which of those that can fall gains most with i. With `equal`, the diagonal is that of i.
// Two ratios are compared by products: a division takes longer than all the rest. Curvatures are
// halved throughout, to the bit, which saves a product.
template <class V, bool equal, class S>
Size partner(const S* Ki, Number<V> slope, Number<V> own, const Number<V>* down,
             const Number<V>* diagonal, Size n) {
  using T = Number<V>;
  using Row = Entries<S>;
  constexpr Size lanes = kLanes<V>, chains = kChains<V>;
  const V half = splat<V>(T(0.5)), half_own = splat<V>(T(0.5) * own);
  alignas(64) T own_slope[lanes];
  store<V>(own_slope, splat<V>(slope));
  V diagonals = splat<V>(own);
  const V flat = splat<V>(T(0.5 * Row::least_curvature));
  V top[chains] = {}, bottom[chains], best_at[chains] = {}, block{};
  repeat<chains>([&](Size c) KW_AT_ONCE { bottom[c] = splat<V>(T(1)); });
  const auto look = [&](Size c, Size at, Size left) KW_AT_ONCE {
    const V row = Row::template as_numbers<V>(Row::template load_some<V>(Ki + at, left));
    const V rise = most(load<V>(down + at) - load_anew<V>(own_slope), V{}), gain = rise * rise;
    if constexpr (!equal) diagonals = half * load<V>(diagonal + at) + half_own;
    const V curvature = most(diagonals - row, flat);
    const auto better = less(top[c] * curvature, gain * bottom[c]);
    top[c] = select(better, gain, top[c]);
    bottom[c] = select(better, curvature, bottom[c]);
    best_at[c] = select(better, block, best_at[c]);
  };
  Size k = 0;
  for (; k + kBlock<V> <= n; k += kBlock<V>) {
    repeat<chains>([&](Size c) KW_AT_ONCE { look(c, k + c * lanes, lanes); });
    block = block + splat<V>(T(1));
  }
  repeat<chains>([&](Size c) KW_AT_ONCE {
    const Size at = k + c * lanes, left = n - at;
    if (left > 0) look(c, at, left);
  });
  V ratio[chains], all{};
  repeat<chains>([&](Size c) KW_AT_ONCE {
    ratio[c] = top[c] / bottom[c];
    all = most(ratio[c], all);
  });
  return place_of<V>(ratio, most_of(all), best_at);
}

// Steps on the leading rows and columns of K, as many as the state has variables. Entries of K, and
// the diagonal of the state, are in units of what is stored.
template <class V, class Rows>
class Smo {
 public:
  using T = Number<V>;

  using S = std::remove_cvref_t<decltype(*std::declval<Rows&>().row(0))>;

  Smo(Rows K, SmoState<T>& state) : K_(K), state_(state) {
    worst_ = pass<V, false, S>(nullptr, nullptr, T(0), state.up, state.down, state.n);
  }

  T violation() const { return worst_.violation; }

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
    const S* const Ki = K_.row(i);
    const T slope = s.up[i], own = s.diagonal[i];
    const Size j = s.equal_diagonal
                       ? partner<V, true>(Ki, slope, own, s.down, s.diagonal, s.n)
                       : partner<V, false>(Ki, slope, own, s.down, s.diagonal, s.n);
    if (j < 0 || !(s.down[j] - slope > 0)) return false;
    const T rise = s.down[j] - slope;
    const double curvature = double(own + s.diagonal[j]) - 2 * double(Ki[j]);
    const double top = s.ceiling(i), bottom = s.floor(j);
    const double room_i = top - s.b[i], room_j = s.b[j] - bottom;
    constexpr double flat = Entries<S>::least_curvature, unit = Entries<S>::unit;
    double by = double(rise) / (unit * (curvature > flat ? curvature : flat));
    by = room_i < by ? room_i : by;
    by = room_j < by ? room_j : by;
    // At a bound, land on it to the bit; else the two sums drift apart.
    const double new_i = by == room_i ? top : s.b[i] + by;
    const double new_j = by == room_j ? bottom : s.b[j] - by;
    if (new_i == s.b[i] && new_j == s.b[j]) return false;
    const T own_i = slope - s.rising(i), own_j = s.down[j] - s.falling(j);
    s.b[i] = new_i;
    s.b[j] = new_j;
    s.settle(i, own_i);
    s.settle(j, own_j);
    worst_ = pass<V, true, S>(Ki, K_.row(j), T(unit * by), s.up, s.down, s.n);
    return true;
  }

  Rows K_;
  SmoState<T>& state_;
  Worst<T> worst_;
};

}  // namespace kw::KW_ARCH
