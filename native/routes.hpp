// Ways of rows through a tree. A node compares the projection of a row with its threshold: up to the
// threshold the row goes to the first child, and above it, or where it is not a number, to the second.
#pragma once

#include <algorithm>

#include "rows.hpp"

namespace kw::KW_ARCH {

// Never inlined: growing a tree and going through it must round alike.
template <class T>
[[gnu::noinline]] double projection(const T* row, const double* direction, Size d) {
  Total total;
  by_feature(d, [&](Size k, auto like) { total.add(read(row + k, like) * read(direction + k, like)); });
  return total.whole();
}

inline constexpr Size kRowsAhead = 16;  // rows between one that is fetched and one that is read

// Call with i and direction' x_i for some rows, which lie anywhere in a table that no cache holds.
template <class T, class Call>
KW_INLINE void by_projection(Matrix<const T> X, Indices rows, Values direction, Call call) {
  for (Size i = 0; i < rows.size; ++i) {
    const T* const ahead = X.row(rows[std::min(i + kRowsAhead, rows.size - 1)]);
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + X.columns - 1);
    call(i, projection(X.row(rows[i]), direction.data, X.columns));
  }
}

// out_i = direction' x_i
template <class T>
void project_rows(Matrix<const T> X, Indices rows, Values direction, Vector<double> out) {
  by_projection(X, rows, direction, [&](Size i, double product) { out[i] = product; });
}

// Write the rows whose projection is at most a threshold from the front on, in their order, and the
// others from the back on, so that they come last to first. Return the number of the former.
template <class T>
Size divide_rows(Matrix<const T> X, Indices rows, Values direction, double threshold,
                 Vector<std::int64_t> out) {
  Size below = 0, above = rows.size;
  by_projection(X, rows, direction, [&](Size i, double product) {
    const bool first = product <= threshold;
    out[first ? below : above - 1] = rows[i];
    below += first;
    above -= !first;
  });
  return below;
}

// out_i = the leaf of row i; a negative child -1 - q is leaf q
template <class T>
void route_rows(Matrix<const T> X, Matrix<const double> directions, const Tree& tree,
                Vector<std::int64_t> out) {
  for (Size i = 0; i < X.rows; ++i) {
    std::int64_t node = tree.levels.size > 0 ? 0 : -1;
    while (node >= 0) {
      const double* const direction = directions.row(tree.levels[node]);
      const bool first = projection(X.row(i), direction, X.columns) <= tree.thresholds[node];
      node = tree.children.at(node, first ? 0 : 1);
    }
    out[i] = -1 - node;
  }
}

}  // namespace kw::KW_ARCH
