// From arrays of Python to views: a wrong type is a TypeError, a wrong layout a ValueError, and
// nothing is ever copied.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>

#include "views.hpp"

namespace kw {

namespace nb = nanobind;

template <class T, int dimensions>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<dimensions>, nb::device::cpu>;
template <class T>
using Line = Array<T, 1>;
template <class T>
using Grid = Array<T, 2>;

inline void expect(bool holds, const char* name, const char* what) {
  if (!holds) throw nb::value_error((std::string(name) + " must " + what + ".").c_str());
}

template <class A>
void expect_aligned(const A& array, const char* name) {
  using T = typename A::Scalar;
  expect(reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) == 0, name, "be aligned");
}

template <class T>
Vector<T> view(const Line<T>& array, const char* name) {
  const Size n = static_cast<Size>(array.shape(0));
  expect(n <= 1 || array.stride(0) == 1, name, "be contiguous");
  expect_aligned(array, name);
  return {array.data(), n};
}

template <class T>
Vector<T> view(const Line<T>& array, const char* name, Size size) {
  const Vector<T> found = view(array, name);
  if (found.size != size) {
    const std::string text = "have " + std::to_string(size) + " entries, not " +
                             std::to_string(found.size);
    expect(false, name, text.c_str());
  }
  return found;
}

template <class T>
Matrix<T> view(const Grid<T>& array, const char* name) {
  const Size rows = static_cast<Size>(array.shape(0)), columns = static_cast<Size>(array.shape(1));
  const bool empty = rows == 0 || columns == 0;
  expect(empty || columns == 1 || array.stride(1) == 1, name, "have contiguous rows");
  expect(empty || rows == 1 || array.stride(0) >= columns, name, "have rows one after the other");
  expect_aligned(array, name);
  return {array.data(), rows, columns, rows > 1 ? static_cast<Size>(array.stride(0)) : columns};
}

template <class T>
Matrix<T> view(const Grid<T>& array, const char* name, Size rows, Size columns) {
  const Matrix<T> found = view(array, name);
  if (found.rows != rows || found.columns != columns) {
    const std::string text = "have shape (" + std::to_string(rows) + ", " +
                             std::to_string(columns) + "), not (" + std::to_string(found.rows) +
                             ", " + std::to_string(found.columns) + ")";
    expect(false, name, text.c_str());
  }
  return found;
}

// Indices below a limit.
inline Indices indices(const Line<const std::int64_t>& array, const char* name, Size limit) {
  const Indices found = view(array, name);
  bool inside = true;
  for (Size k = 0; k < found.size; ++k) inside = inside & (found[k] >= 0) & (found[k] < limit);
  expect(inside, name, "hold indices within range");
  return found;
}

}  // namespace kw
