// Plain views of arrays that somebody else owns. Nothing below the binding checks their bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#define KW_INLINE [[gnu::always_inline]] inline
#define KW_AT_ONCE __attribute__((always_inline))  // the same, of a lambda

namespace kw {

using Size = std::ptrdiff_t;

template <class T>
struct Vector {
  T* data;
  Size size;

  KW_INLINE T& operator[](Size i) const { return data[i]; }
};

using Values = Vector<const double>;
using Indices = Vector<const std::int64_t>;
using Word = std::uint16_t;  // a number of 0 to 1 in fixed point: kUnit is one
inline constexpr double kUnit = 65535;

// A matrix whose rows are contiguous and lie `stride` numbers apart.
template <class T>
struct Matrix {
  using Entry = std::remove_const_t<T>;

  T* data;
  Size rows, columns, stride;

  KW_INLINE T* row(Size i) const { return data + i * stride; }
  KW_INLINE T& at(Size i, Size j) const { return data[i * stride + j]; }
  KW_INLINE Matrix part(Size i, Size j, Size n_rows, Size n_columns) const {
    return {data + i * stride + j, n_rows, n_columns, stride};
  }
};

// The bounds of a problem. Where it has kinks, its objective has kink'|b| as well, and zero counts
// as a third bound; else `kink` is empty.
struct Bounds {
  Values lo, hi, kink{nullptr, 0};

  KW_INLINE bool kinked() const { return kink.size > 0; }
  // The slopes of kink_i |b_i| where b_i rises, and where it falls.
  KW_INLINE double rising(Size i, double b) const { return b >= 0 ? kink[i] : -kink[i]; }
  KW_INLINE double falling(Size i, double b) const { return b > 0 ? kink[i] : -kink[i]; }
};

// The largest sums over a row that `centred_rows` finds.
struct RowSizes {
  double scaled, plain;
};

// The least gradient of what can rise and the largest of what can fall.
struct Reach {
  double least, most;
};

// What tells how good a solution is.
struct Certificate {
  double nu, objective, gap, violation;
};

// How a solver ended; the values are those of the Python side.
enum class End : int { converged = 0, out_of_steps = 1, stuck = 2, unfinished = 10, not_a_number = 11 };

struct Steps {
  double violation;
  std::int64_t count;
  End end;
};

// The one-vs-one machines of classes whose rows follow each other: those of class c are
// [starts[c], starts[c + 1]). Row r of `dual` and `gradient` has, for a row of the matrix, the entry of
// its machine against the r-th of the other classes. The other arrays have an entry per machine.
struct Pairs {
  Indices starts;
  Values costs;
  Matrix<double> dual, gradient;
  Matrix<double> certificates;  // the numbers of a `Certificate`
  Vector<std::int64_t> steps, ends, vectors;  // the last counts support vectors
  bool warm;  // whether `dual` has the starts, feasible or not; else they are zeros
  double tol;
  std::int64_t max_steps;
  double most_swept;        // row entries that one machine may sweep
  double most_swept_by_all;  // and those of a call, after which it returns
};

// Lines between knots, several of them side by side: those of line j lie from stops[j] to stops[j + 1].
struct Lines {
  Values knots, heights;
  Indices stops;
  Values sizes;  // what the heights of each line are divided by
};

struct Epochs {
  std::int64_t count;
  bool converged;
};

}  // namespace kw
