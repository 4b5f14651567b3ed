// The square of a kernel between the rows of a working set, stored as words or, where those are too
// coarse, in double.
//
// Words are fixed point: K_ij = round(65535 k(x_i, x_j)), an error of at most 8e-6. A quarter of the
// memory of doubles is nearly a quarter of the time of a step, which waits for memory. The error does
// not reach the solution: only the changes of a round go through the square, and the next round
// starts from a gradient that was made without it.
#pragma once

#include "fused.hpp"
#include "stored.hpp"

namespace kw::KW_ARCH {

// Write the part of the rows [first, last) that stands before the diagonal across it.
template <class S>
void mirror_square(Matrix<S> K, Size first, Size last) {
  constexpr Size side = 16 / sizeof(S), line = 64 / sizeof(S);  // what `flip` exchanges; a cache line
  using V = Lanes<S, 16>;
  for (Size i = first; i < last; i += line) {
    const Size end = std::min(i + line, last);
    for (Size j = 0; j < i; j += side)
      for (Size a = i; a < end; a += side) {
        if (j + side <= i && a + side <= end)
          flip<V>(K.row(a) + j, K.stride, K.row(j) + a, K.stride);
        else
          for (Size r = a; r < std::min(a + side, end); ++r)
            for (Size c = j; c < std::min(j + side, i); ++c) K.at(c, r) = K.at(r, c);
      }
    for (Size a = i; a < end; ++a)
      for (Size c = i; c < a; ++c) K.at(c, a) = K.at(a, c);
  }
}

// Store the first `left` kernel values of a vector.
KW_INLINE void store_entries(double* target, Lanes<double> lanes, Size left) {
  store_up_to(target, lanes, left);
}
template <class V>
KW_INLINE void store_entries(Word* target, V lanes, Size left) {
  using T = Number<V>;
  const V up = lanes * splat<V>(T(kUnit)) + splat<V>(T(0.5));
  if constexpr (sizeof(Number<V>) == 8)
    store_words(target, narrow<V>(up), left);
  else
    store_words(target, up, left);
}

// Write the rows [first, last) of the square of the rows `which`, up to the column `last`, and what
// stands before the diagonal across it. The rows before are there already.
template <class Kind, class T, class S>
void fill_square_of(Matrix<const T> rows, Values weights, Indices which, Size first, Size last,
                    Matrix<S> K, Workspace& work) {
  using V = Lanes<T>;
  constexpr Size width = Tile<T>::width, lanes = kLanes<V>;
  const Borrowed borrowed(work);
  Groups<Kind, T> groups(rows, weights, work);
  for (Size i = first; i < last; i += groups.most_rows()) {
    const Size count = std::min(groups.most_rows(), last - i);
    groups.pack(which.data + i, count);
    for (Size j = 0; j < i + count; j += width) {
      const Size some = std::min(width, last - j);
      const Size before = std::max<Size>(0, j - i) / kTileRows;  // groups that end before the panel
      groups.meet(which.data + j, some, before, [&](Size g, const Tile<T>& tile) {
        const Size at = i + g * kTileRows;
        for (Size a = 0; a < kTileRows && at + a < i + count; ++a)
          for (Size v = 0; v < kTileVectors && v * lanes < some; ++v)
            store_entries(K.row(at + a) + j + v * lanes, tile.sums[a][v], some - v * lanes);
      });
    }
  }
  mirror_square(K, first, last);
}

template <class T, class S>
void fill_square(bool squared, Matrix<const T> rows, Values weights, Indices which, Size first,
                 Size last, Matrix<S> K, Workspace& work) {
  if (squared)
    fill_square_of<Squared, T, S>(rows, weights, which, first, last, K, work);
  else
    fill_square_of<Absolute, T, S>(rows, weights, which, first, last, K, work);
}

#if defined(__SSSE3__) && !defined(__AVX512F__)
// For each byte of a mask, where the bytes of the words lie that it keeps.
struct KeptWords {
  alignas(16) std::uint8_t bytes[256][16];

  constexpr KeptWords() : bytes{} {
    for (int mask = 0; mask < 256; ++mask) {
      int found = 0;
      for (int word = 0; word < 8; ++word)
        for (int half = 0; half < 2; ++half)
          if (mask >> word & 1) bytes[mask][found++] = std::uint8_t(2 * word + half);
    }
  }
};
inline constexpr KeptWords kKeptWords;
#endif

// Move the kept columns of a row to the front of the target, which may be the row itself.
template <class S>
void squeeze_row(const S* row, Size n, Indices kept, const std::uint8_t* bits, S* target) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<S, Word>) {
    Size k = 0;
    for (; k + 16 <= n; k += 16) {
      std::uint16_t mask;
      std::memcpy(&mask, bits + k / 8, 2);
      const __m512i words = (__m512i)load_words<Lanes<float>>(row + k);
      const __m256i left = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(mask, words));
      std::memcpy(target, &left, 32);  // what stands there, up to k + 16, is read already
      target += std::popcount(mask);
    }
    for (; k < n; ++k)
      if (bits[k / 8] >> (k % 8) & 1) *target++ = row[k];
    return;
  }
#elif defined(__SSSE3__)
  if constexpr (std::is_same_v<S, Word>) {
    Size k = 0;
    for (; k + 8 <= n; k += 8) {
      const std::uint8_t mask = bits[k / 8];
      __m128i words, places;
      std::memcpy(&words, row + k, 16);
      std::memcpy(&places, kKeptWords.bytes[mask], 16);
      words = _mm_shuffle_epi8(words, places);
      std::memcpy(target, &words, 16);  // what stands there, up to k + 8, is read already
      target += std::popcount(mask);
    }
    for (; k < n; ++k)
      if (bits[k / 8] >> (k % 8) & 1) *target++ = row[k];
    return;
  }
#endif
  (void)n, (void)bits;
  for (Size k = 0; k < kept.size; ++k) target[k] = row[kept[k]];
}

// Keep some rows and columns of a square, in place. `kept` ascends.
template <class S>
void squeeze_square(Matrix<S> K, Indices kept, Workspace& work) {
  const Borrowed borrowed(work);
  const Size n_bytes = (K.columns + 15) / 16 * 2;
  std::uint8_t* const bits = work.take<std::uint8_t>(n_bytes);
  std::fill_n(bits, n_bytes, std::uint8_t(0));
  for (Size k = 0; k < kept.size; ++k)
    bits[kept[k] / 8] = std::uint8_t(bits[kept[k] / 8] | 1 << (kept[k] % 8));
  for (Size i = 0; i < kept.size; ++i)
    squeeze_row<S>(K.row(kept[i]), K.columns, kept, bits, K.row(i));
}

// SMO on a square from b and its gradient g, both of which move in place. It ends as
// `unfinished` where a square without what cannot move any more pays for its making: to squeeze takes
// an entry as long as two entries of a step.
template <class S>
Steps solve_square(Matrix<const S> K, Vector<double> b, Vector<double> g, const Bounds& box,
                   double tol, std::int64_t max_steps, double most_swept, Workspace& work) {
  using T = std::conditional_t<std::is_same_v<S, Word>, float, S>;
  using V = Lanes<T>;
  constexpr Size fewest_steps = 200;
  constexpr double worth_squeezing = 0.8;
  const Size m = b.size;
  const Borrowed borrowed(work);
  std::int64_t* const all = work.take<std::int64_t>(m);
  T* const diagonal = work.take<T>(m);
  for (Size i = 0; i < m; ++i) {
    all[i] = i;
    diagonal[i] = T(1 / Entries<S>::unit);
  }
  SmoState<T> state({all, m}, diagonal, b.data, g.data, box, work);
  Smo<V, Matrix<const S>> smo(K, state);
  const Size between = std::max(fewest_steps, m / 4);
  Steps done{0, 0, End::out_of_steps};
  while (done.end == End::out_of_steps && done.count < max_steps &&
         double(done.count) * double(m + kStepEntries) < most_swept) {
    const std::int64_t limit = std::min<std::int64_t>(between, max_steps - done.count);
    done.end = smo.run(T(tol), limit, done.count);
    if (done.end != End::out_of_steps) break;
    const double left = double(state.count_movable()), gone = double(m) - left;
    if (left < worth_squeezing * double(m) && double(done.count) * gone > 2 * left * left)
      done.end = End::unfinished;
  }
  done.violation = smo.violation();
  for (Size i = 0; i < m; ++i) {
    b[i] = state.b[i];
    g[i] = state.gradient(i);
  }
  return done;
}

}  // namespace kw::KW_ARCH
