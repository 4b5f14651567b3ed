// What the parts of the Python module share.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "table.hpp"

namespace kw {

extern const Table* table;  // of the level that was picked at import

// The work memory of this thread.
Workspace& workspace();

template <class T>
const MatrixLeaves<T>& leaves() {
  if constexpr (sizeof(T) == 4)
    return table->singles;
  else
    return table->doubles;
}

template <class S, class T>
const RowLeaves<S, T>& row_leaves() {
  if constexpr (sizeof(S) == 4 && sizeof(T) == 4)
    return table->rows_ff;
  else if constexpr (sizeof(S) == 4)
    return table->rows_fd;
  else if constexpr (sizeof(T) == 4)
    return table->rows_df;
  else
    return table->rows_dd;
}

// Run a leaf while other threads of Python run.
template <class Call>
auto unlocked(Call call) {
  const nb::gil_scoped_release release;
  return call();
}

// The name of an array argument, which is taken as it is or refused.
inline constexpr auto array(const char* name) { return nb::arg(name).noconvert(); }

// The vectors of a problem, all of one size; None is no kink.
struct Box : Bounds {
  Size n;
  Box(const Line<const double>& low, const Line<const double>& high)
      : n(static_cast<Size>(low.shape(0))) {
    lo = view(low, "lo");
    hi = view(high, "hi", n);
  }
  Box(const Line<const double>& low, const Line<const double>& high, const Line<const double>& bend)
      : Box(low, high) {
    if (bend.is_valid()) kink = view(bend, "kink", n);
  }
};

// The last argument of what knows kinks.
inline auto kink_or_none() { return nb::arg("kink").noconvert().none() = nb::none(); }

void define_kernels(nb::module_& m);
void define_solvers(nb::module_& m);
void define_features(nb::module_& m);
void define_parts(nb::module_& m);
void define_squares(nb::module_& m);

}  // namespace kw
