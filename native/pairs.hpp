// The one-vs-one machines of several classes on one matrix, whose rows are sorted by class. That of
// the classes a < b has the rows of both, y = +1 on those of a and -1 on those of b:
//
//     min 1/2 b'Kb - y'b   s.t.   sum b = 0,   0 <= y_i b_i <= C_i
//
// Its matrix is four blocks of K. Most machines end before they have read a third of its rows, so a
// row is copied when it is first read.
#pragma once

#include "stored.hpp"

namespace kw::KW_ARCH {

// Rows of a machine: those from `first` on, and from `second` on.
template <class T>
class PairRows {
 public:
  using Entry = T;

  PairRows(Matrix<const T> K, Size first, Size n_first, Size second, Size n_second, Workspace& work)
      : K_(K),
        first_(first),
        n_first_(n_first),
        second_(second),
        n_second_(n_second),
        stride_((n_first + n_second + line - 1) / line * line),
        copies_(work.take<const T*>(n_first + n_second)),
        free_(work.take<T*>(1)) {
    std::fill_n(copies_, n_first + n_second, nullptr);
    *free_ = work.take<T>((n_first + n_second) * stride_);
  }

  KW_INLINE const T* row(Size i) const { return copies_[i] != nullptr ? copies_[i] : copy(i); }
  KW_INLINE T at(Size i, Size j) const { return K_.at(place(i), place(j)); }

 private:
  static constexpr Size line = 64 / sizeof(T);  // so that copies are aligned

  KW_INLINE Size place(Size i) const { return i < n_first_ ? first_ + i : second_ + i - n_first_; }

  const T* copy(Size i) const {
    const T* const source = K_.row(place(i));
    T* const target = *free_;
    std::copy_n(source + first_, n_first_, target);
    std::copy_n(source + second_, n_second_, target + n_first_);
    *free_ += stride_;
    return copies_[i] = target;
  }

  Matrix<const T> K_;
  Size first_, n_first_, second_, n_second_, stride_;
  const T** copies_;
  T** free_;
};

// Both sides of a machine in an array that has a column per row of the matrix.
struct Sides {
  double *first, *second;
  Size n_first, n_second;

  void read(double* out) const {
    std::copy_n(first, n_first, out);
    std::copy_n(second, n_second, out + n_first);
  }
  void write(const double* from) const {
    std::copy_n(from, n_first, first);
    std::copy_n(from + n_first, n_second, second);
  }
};

// Solve the machine of the classes a < b; return about how many row entries it swept.
template <class T>
double solve_pair(Matrix<const T> K, const Pairs& pairs, Size a, Size b, Size machine,
                  Workspace& work) {
  const Borrowed borrowed(work);
  const Size first = pairs.starts[a], n_first = pairs.starts[a + 1] - first;
  const Size second = pairs.starts[b], n_second = pairs.starts[b + 1] - second;
  const Size n = n_first + n_second;
  double *const point = work.take<double>(n), *const slopes = work.take<double>(n),
               *const p = work.take<double>(n), *const lo = work.take<double>(n),
               *const hi = work.take<double>(n);
  for (Size i = 0; i < n; ++i) {
    const bool is_first = i < n_first;
    const double cost = pairs.costs[is_first ? first + i : second + i - n_first];
    p[i] = is_first ? 1 : -1;
    lo[i] = is_first ? 0 : -cost;
    hi[i] = is_first ? cost : 0;
    point[i] = 0;
  }
  const Vector<double> beta{point, n}, gradient{slopes, n};
  const Bounds box{{lo, n}, {hi, n}};
  const Sides dual{pairs.dual.row(b - 1) + first, pairs.dual.row(a) + second, n_first, n_second};
  if (pairs.warm) {
    dual.read(slopes);
    repair({slopes, n}, box.lo, box.hi, 0, beta, work);
  }
  const PairRows<T> rows(K, first, n_first, second, n_second, work);
  Certificate found{0, 0, 0, 0};
  const Steps done = solve_stored(rows, beta, gradient, {p, n}, box, false, pairs.tol,
                                  pairs.max_steps, pairs.most_swept, 0, found, work);
  if (done.end == End::out_of_steps)
    found = certify({point, n}, {slopes, n}, {p, n}, box, 0, work);
  dual.write(point);
  const Sides own{pairs.gradient.row(b - 1) + first, pairs.gradient.row(a) + second, n_first,
                  n_second};
  own.write(slopes);
  double* const certificate = pairs.certificates.row(machine);
  certificate[0] = found.nu;
  certificate[1] = found.objective;
  certificate[2] = found.gap;
  certificate[3] = found.violation;
  pairs.steps[machine] = done.count;
  pairs.ends[machine] = static_cast<std::int64_t>(done.end);
  pairs.vectors[machine] = n - std::count(point, point + n, 0.0);
  return double(n) * double(n) + double(done.count) * double(n + kStepEntries);
}

// Solve the machines [first, last), in the order (0, 1), (0, 2), ..., until they have swept enough;
// return the next one.
template <class T>
Size solve_pairs(Matrix<const T> K, const Pairs& pairs, Size first, Size last, Workspace& work) {
  const Size n_classes = pairs.starts.size - 1;
  double swept = 0;
  Size machine = 0;
  for (Size a = 0; a < n_classes; ++a) {
    for (Size b = a + 1; b < n_classes; ++b, ++machine) {
      if (machine < first) continue;
      if (machine == last || swept > pairs.most_swept_by_all) return machine;
      swept += solve_pair(K, pairs, a, b, machine, work);
    }
  }
  return machine;
}

}  // namespace kw::KW_ARCH
