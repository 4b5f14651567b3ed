// Blocks of a matrix: copies by index, exchanged columns, and rows for columns.
#pragma once

#include <algorithm>

#include "lanes.hpp"

namespace kw::KW_ARCH {

// Columns that follow each other: `first` and those after it become the columns from `to` on.
struct Run {
  Size first, to, size;
};

// Split columns into runs; return how many, or -1 if they are more than `most`.
KW_INLINE Size find_runs(Indices columns, Run* runs, Size most) {
  Size count = 0;
  for (Size j = 0; j < columns.size; ++j) {
    if (j > 0 && columns[j] == columns[j - 1] + 1) {
      ++runs[count - 1].size;
      continue;
    }
    if (count == most) return -1;
    runs[count++] = {columns[j], j, 1};
  }
  return count;
}

// out[i, j] = K[rows[i], columns[j]]; where columns lie in a few runs, run by run. K is a matrix, or
// something else that has rows.
template <class T, class Rows>
void gather(Rows K, Indices rows, Indices columns, Matrix<T> out) {
  constexpr Size most_runs = 64, shortest = 16;  // runs, and columns of a run on average
  Run runs[most_runs];
  const Size n_runs = find_runs(columns, runs, std::min(most_runs, columns.size / shortest));
  const std::int64_t* const from = columns.data;
  for (Size i = 0; i < rows.size; ++i) {
    const auto* const source = K.row(rows[i]);
    T* const target = out.row(i);
    for (Size r = 0; r < n_runs; ++r)
      for (Size k = 0; k < runs[r].size; ++k)
        target[runs[r].to + k] = static_cast<T>(source[runs[r].first + k]);
    if (n_runs >= 0) continue;
    Size j = 0;
    for (; j + 8 <= columns.size; j += 8)
      for (Size k = j; k < j + 8; ++k) target[k] = static_cast<T>(source[from[k]]);
    for (; j < columns.size; ++j) target[j] = static_cast<T>(source[from[j]]);
  }
}

// Exchange the columns a with the columns b, pair by pair, in all rows of K.
template <class T>
void swap_columns(Matrix<T> K, Indices a, Indices b) {
  for (Size i = 0; i < K.rows; ++i) {
    T* const row = K.row(i);
    for (Size k = 0; k < a.size; ++k) {
      const T kept = row[a[k]];
      row[a[k]] = row[b[k]];
      row[b[k]] = kept;
    }
  }
}

// One exchange of `flip`: of two rows whose numbers differ in one bit, the halves of the lanes
// that this bit tells apart change places.
template <int bit, class V, std::size_t... lane>
KW_INLINE void exchange_halves(V& a, V& b, std::index_sequence<lane...>) {
  constexpr int count = sizeof...(lane);
  const V low = __builtin_shufflevector(
      a, b, ((lane & bit) ? count + static_cast<int>(lane) - bit : static_cast<int>(lane))...);
  b = __builtin_shufflevector(
      a, b, ((lane & bit) ? count + static_cast<int>(lane) : static_cast<int>(lane) + bit)...);
  a = low;
}

template <int bit, class V>
KW_INLINE void exchange_all(V* rows) {
  constexpr Size count = kLanes<V>;
  if constexpr (bit > 0) {
    repeat<count>([&](Size step) KW_AT_ONCE {
      if (!(step & bit))
        exchange_halves<bit>(rows[step], rows[step + bit], std::make_index_sequence<count>{});
    });
    exchange_all<bit / 2>(rows);
  }
}

// Copy a square tile to the target, rows as columns: after an exchange for every bit of a lane's
// number rows have become columns, and nothing has left the registers.
template <class V>
KW_INLINE void flip(const Number<V>* source, Size stride, Number<V>* target, Size target_stride) {
  constexpr Size side = kLanes<V>;
  V rows[side];
  // A loop around this would keep a pointer for each row, more than there are registers.
  __asm__("" : "+r"(source), "+r"(target));
  repeat<side>([&](Size k) KW_AT_ONCE {
    rows[k] = load<V>(source);
    source += stride;
  });
  exchange_all<static_cast<int>(side / 2)>(rows);
  repeat<side>([&](Size k) KW_AT_ONCE {
    store<V>(target, rows[k]);
    target += target_stride;
  });
}

// target = source', tile by tile.
template <class T>
void transpose(Matrix<const T> source, Matrix<T> target) {
  constexpr Size side = kLanes<Lanes<T>>, line = 64 / sizeof(T);
  const Size n = source.rows, m = source.columns;
  for (Size j = 0; j < m; j += side) {
    for (Size b = j + side; b < std::min(j + 2 * side, m); ++b)
      for (Size i = 0; i < n; i += line) await_store(target.row(b) + i);
    for (Size i = 0; i < n; i += side) {
      if (i + side <= n && j + side <= m) {
        flip<Lanes<T>>(source.row(i) + j, source.stride, target.row(j) + i, target.stride);
      } else {
        for (Size a = i; a < std::min(i + side, n); ++a)
          for (Size b = j; b < std::min(j + side, m); ++b) target.at(b, a) = source.at(a, b);
      }
    }
  }
}

}  // namespace kw::KW_ARCH
