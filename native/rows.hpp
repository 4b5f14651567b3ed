// Rows as the tiles want them: centred, scaled, and with what each row contributes alone.
#pragma once

#include <cmath>

#include "blocks.hpp"

namespace kw::KW_ARCH {

// Go through the features of a row, by vectors of doubles and one by one at the end.
// `each(k, lanes)` gets the place and something of the type to compute in.
template <class Each>
KW_INLINE void by_feature(Size d, Each each) {
  Size k = 0;
  for (; k + kLanes<Doubles> <= d; k += kLanes<Doubles>) each(k, Doubles{});
  for (; k < d; ++k) each(k, 0.0);
}

// Read and write numbers of the type of `like`: one double, or a vector of them.
template <class T>
KW_INLINE double read(const T* source, double) {
  return double(*source);
}
template <class T>
KW_INLINE Doubles read(const T* source, Doubles) {
  return load_wide<Doubles>(source);
}
template <class T>
KW_INLINE double write(T* target, double value) {
  *target = T(value);
  return double(*target);
}
template <class T>
KW_INLINE Doubles write(T* target, Doubles value) {
  if constexpr (std::is_same_v<T, double>) {
    store<Doubles>(target, value);
    return value;
  } else {
    const auto written = narrow<Doubles>(value);
    store<Lanes<T, sizeof(Doubles) / 2>>(target, written);
    return widen<Doubles>(written);
  }
}
KW_INLINE double without_tiny(double value, double least) {
  return std::fabs(value) < least ? 0.0 : value;
}
KW_INLINE Doubles without_tiny(Doubles value, double least) {
  return select(less(size_of(value), splat<Doubles>(least)), Doubles{}, value);
}

// A sum of doubles and of vectors of them.
struct Total {
  double single = 0;
  Doubles lanes{};
  KW_INLINE void add(double value) { single += value; }
  KW_INLINE void add(Doubles value) { lanes = lanes + value; }
  KW_INLINE double whole() const { return single + sum_of(lanes); }
};

KW_INLINE double size_of(double value) { return std::fabs(value); }

// out_i = (a, |a|^2, 1) with a = (x_i - centre) * root. Return the largest |a|^2, or NaN.
//
// What is so small that its square is nothing becomes zero: features that hardly weigh would make
// sums of subnormal numbers, with which a processor is many times slower.
template <class S, class T>
double scaled_rows(Matrix<const S> X, Values centre, Values root, Matrix<T> out) {
  constexpr double least = sizeof(T) == 4 ? 1e-15 : 1e-140;
  const Size d = X.columns;
  double largest = 0;
  for (Size i = 0; i < X.rows; ++i) {
    const S* const x = X.row(i);
    T* const row = out.row(i);
    Total squares;
    by_feature(d, [&](Size k, auto like) {
      const auto a = (read(x + k, like) - read(centre.data + k, like)) * read(root.data + k, like);
      const auto written = write(row + k, without_tiny(a, least));
      squares.add(written * written);  // of what is written: a row has no distance from itself
    });
    const double total = squares.whole();
    row[d] = T(total);
    row[d + 1] = 1;
    if (std::isnan(total)) return total;
    largest = std::max(largest, total);
  }
  return largest;
}

// right = columns (-2 b, 1, |b|^2) of the rows (b, |b|^2, 1), so that left @ right is |a - b|^2.
template <class T>
void other_side(Matrix<const T> left, Matrix<T> right) {
  const Size d = left.columns - 2;
  transpose<T>(left, right);
  for (Size k = 0; k < d; ++k)
    for (Size j = 0; j < right.columns; ++j) right.at(k, j) *= -2;
  for (Size j = 0; j < right.columns; ++j) std::swap(right.at(d, j), right.at(d + 1, j));
}

// out_i = (a, sum of a) with a = (x_i - centre) * scales. Return the largest sum of |a|, or NaN.
// What is too small to count becomes zero, as above.
template <class S, class T>
double shifted_rows(Matrix<const S> X, Values centre, Values scales, Matrix<T> out) {
  constexpr double least = sizeof(T) == 4 ? 1e-30 : 1e-280;
  const Size d = X.columns;
  double largest = 0;
  for (Size i = 0; i < X.rows; ++i) {
    const S* const x = X.row(i);
    T* const row = out.row(i);
    Total values, sizes;
    by_feature(d, [&](Size k, auto like) {
      const auto a = (read(x + k, like) - read(centre.data + k, like)) * read(scales.data + k, like);
      const auto written = write(row + k, without_tiny(a, least));
      values.add(written);
      sizes.add(size_of(written));
    });
    row[d] = T(values.whole());
    const double size = sizes.whole();
    if (std::isnan(size)) return size;
    largest = std::max(largest, size);
  }
  return largest;
}

// The first columns of out = X - centre. Return the largest sum over a row of scales * a^2, or of
// scales * |a|, and the largest sum of a^2; NaN where there is one.
template <class S, class T>
RowSizes centred_rows(Matrix<const S> X, Values centre, Values scales, bool squares,
                      Matrix<T> out) {
  RowSizes largest{0, 0};
  for (Size i = 0; i < X.rows; ++i) {
    const S* const x = X.row(i);
    T* const row = out.row(i);
    Total scaled, plain;
    by_feature(X.columns, [&](Size k, auto like) {
      const auto a = read(x + k, like) - read(centre.data + k, like), square = a * a;
      write(row + k, a);
      scaled.add(read(scales.data + k, like) * (squares ? square : size_of(a)));
      plain.add(square);
    });
    const double total = plain.whole();
    if (std::isnan(total)) return {total, total};
    largest.scaled = std::max(largest.scaled, scaled.whole());
    largest.plain = std::max(largest.plain, total);
  }
  return largest;
}

}  // namespace kw::KW_ARCH
