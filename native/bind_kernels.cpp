// Kernels, and blocks of matrices, for Python.
#include "binding.hpp"

namespace kw {

namespace {

template <class S, class T>
void define_rows(nb::module_& m) {
  m.def(
      "scaled_rows",
      [](Grid<const S> X, Line<const double> centre, Line<const double> root, Grid<T> out) {
        const auto x = view(X, "X");
        const auto c = view(centre, "centre", x.columns), r = view(root, "root", x.columns);
        const auto o = view(out, "out", x.rows, x.columns + 2);
        return unlocked([&] { return row_leaves<S, T>().scaled_rows(x, c, r, o); });
      },
      array("X"), array("centre"), array("root"), array("out"));
  m.def(
      "shifted_rows",
      [](Grid<const S> X, Line<const double> centre, Line<const double> scales, Grid<T> out) {
        const auto x = view(X, "X");
        const auto c = view(centre, "centre", x.columns), s = view(scales, "scales", x.columns);
        const auto o = view(out, "out", x.rows, x.columns + 1);
        return unlocked([&] { return row_leaves<S, T>().shifted_rows(x, c, s, o); });
      },
      array("X"), array("centre"), array("scales"), array("out"));
  m.def(
      "centred_rows",
      [](Grid<const S> X, Line<const double> centre, Line<const double> scales, bool squares,
         Grid<T> out) {
        const auto x = view(X, "X");
        const auto c = view(centre, "centre", x.columns), s = view(scales, "scales", x.columns);
        const auto o = view(out, "out");
        expect(o.rows == x.rows && o.columns >= x.columns, "out", "have room for the rows of X");
        const auto found =
            unlocked([&] { return row_leaves<S, T>().centred_rows(x, c, s, squares, o); });
        return std::make_tuple(found.scaled, found.plain);
      },
      array("X"), array("centre"), array("scales"), nb::arg("squares"), array("out"));
}

// Check what `exp_tiles` takes.
template <class T>
void expect_tiles(Matrix<const T> left, Matrix<const T> other, Matrix<T> out, Size first, Size last,
                  Size stop) {
  expect(left.columns == other.columns, "left", "have as many columns as other");
  expect(out.columns == other.rows, "out", "have a column for each row of other");
  expect(0 <= first && first <= last && last <= out.rows && last <= left.rows, "first and last",
         "be rows of left and out");
  expect(stop == 0 || (last <= stop && stop <= out.rows && stop <= out.columns), "stop",
         "be zero, or between last and the size of out");
}

template <class T>
void define_matrices(nb::module_& m) {
  m.def(
      "exp_of_minus_rows",
      [](Grid<T> values) {
        const auto v = view(values, "values");
        unlocked([&] { leaves<T>().exp_of_minus_rows(v); });
      },
      array("values"));
  m.def(
      "transpose",
      [](Grid<const T> source, Grid<T> target) {
        const auto s = view(source, "source");
        const auto t = view(target, "target", s.columns, s.rows);
        unlocked([&] { leaves<T>().transpose(s, t); });
      },
      array("source"), array("target"));
  m.def(
      "other_side",
      [](Grid<const T> left, Grid<T> right) {
        const auto l = view(left, "left");
        expect(l.columns >= 2, "left", "have at least two columns");
        const auto r = view(right, "right", l.columns, l.rows);
        unlocked([&] { leaves<T>().other_side(l, r); });
      },
      array("left"), array("right"));
  m.def(
      "gauss",
      [](Grid<const T> left, Grid<const T> other, Grid<T> out, Size first, Size last, Size stop) {
        const auto l = view(left, "left"), o = view(other, "other");
        const auto k = view(out, "out");
        expect(l.columns >= 2, "left", "have at least two columns");
        expect_tiles(l, o, k, first, last, stop);
        unlocked([&] {
          leaves<T>().gauss(l, o, {nullptr, 0}, false, k, first, last, stop, workspace());
        });
      },
      array("left"), array("other"), array("out"), nb::arg("first"), nb::arg("last"),
      nb::arg("stop"));
  m.def(
      "laplace",
      [](Grid<const T> left, Grid<const T> other, Line<const double> weights, bool far, Grid<T> out,
         Size first, Size last, Size stop) {
        const auto l = view(left, "left"), o = view(other, "other");
        const auto w = view(weights, "weights");
        const auto k = view(out, "out");
        expect(w.size < l.columns, "left", "have a column more than there are categories");
        expect_tiles(l, o, k, first, last, stop);
        unlocked(
            [&] { leaves<T>().laplace(l, o, w, far, k, first, last, stop, workspace()); });
      },
      array("left"), array("other"), array("weights"), nb::arg("far"), array("out"),
      nb::arg("first"), nb::arg("last"), nb::arg("stop"));
  m.def(
      "l1_distances",
      [](Grid<const T> left, Grid<const T> right, Grid<T> out) {
        const auto l = view(left, "left"), r = view(right, "right");
        const Size categories = r.rows - l.columns;
        expect(0 <= categories && categories < l.columns, "right",
               "have a row for each column of left, and another one for each category");
        const auto o = view(out, "out", l.rows, r.columns);
        unlocked([&] { leaves<T>().l1_distances(l, r, o, workspace()); });
      },
      array("left"), array("right"), array("out"));
  m.def(
      "contract",
      [](Grid<const T> K, Size start, Grid<const T> left, Grid<const T> right, Size d,
         Size categories, bool squares, Line<double> mixed, Line<double> ends) {
        const auto l = view(left, "left"), r = view(right, "right", l.columns, l.rows);
        const auto k = view(K, "K");
        expect(0 <= d && d < l.columns, "d", "be less than the columns of left");
        expect(0 <= categories && categories <= d, "categories", "be at most d");
        expect(0 <= start && start + k.columns == l.rows && k.rows <= k.columns, "K",
               "have the columns from start on, and not more rows");
        const auto f = view(mixed, "mixed", d), e = view(ends, "ends", l.rows);
        unlocked([&] {
          leaves<T>().contract(k, start, l, r, d, categories, squares, f, e, workspace());
        });
      },
      array("K"), nb::arg("start"), array("left"), array("right"), nb::arg("d"),
      nb::arg("categories"), nb::arg("squares"), array("mixed"), array("ends"));
  m.def(
      "whole_terms",
      [](Grid<const T> rows, Size categories, bool squares, Line<const double> mixed,
         Line<const double> ends, Line<double> out) {
        const auto x = view(rows, "rows");
        const auto o = view(out, "out");
        expect(o.size <= x.columns, "rows", "have at least as many columns as out has entries");
        expect(0 <= categories && categories <= o.size, "categories", "be at most those of out");
        const auto f = view(mixed, "mixed", o.size), e = view(ends, "ends", x.rows);
        unlocked([&] { leaves<T>().whole_terms(x, categories, squares, f, e, o); });
      },
      array("rows"), nb::arg("categories"), nb::arg("squares"), array("mixed"), array("ends"),
      array("out"));
}

template <class S, class T>
void define_gather(nb::module_& m) {
  m.def(
      "gather",
      [](Grid<const S> K, Line<const std::int64_t> rows, Line<const std::int64_t> columns,
         Grid<T> out) {
        const auto k = view(K, "K");
        const auto r = indices(rows, "rows", k.rows), c = indices(columns, "columns", k.columns);
        const auto o = view(out, "out", r.size, c.size);
        unlocked([&] {
          if constexpr (sizeof(S) == sizeof(T))
            leaves<S>().gather(k, r, c, o);
          else
            leaves<S>().gather_wide(k, r, c, o);
        });
      },
      array("K"), array("rows"), array("columns"), array("out"));
}

}  // namespace

void define_kernels(nb::module_& m) {
  define_rows<float, float>(m);
  define_rows<float, double>(m);
  define_rows<double, float>(m);
  define_rows<double, double>(m);
  define_matrices<float>(m);
  define_matrices<double>(m);
  define_gather<float, float>(m);
  define_gather<float, double>(m);
  define_gather<double, double>(m);
}

}  // namespace kw
