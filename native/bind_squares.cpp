// Kernels that are used where they are made, and squares of working sets, for Python.
#include "binding.hpp"

namespace kw {

namespace {

// The weights of the categories among the columns of rows.
Values category_weights(const Line<const double>& weights, bool squared, Size n_columns) {
  const Values found = view(weights, "weights");
  expect(!squared || found.size == 0, "weights", "be empty: squared distances have no categories");
  expect(n_columns >= (squared ? 2 : 1) + found.size, "rows", "have a column for each part");
  return found;
}

template <class T>
void define_fused(nb::module_& m) {
  m.def(
      "add_products",
      [](bool squared, Grid<const T> rows, Line<const double> weights,
         Line<const std::int64_t> left, Line<const double> change,
         Line<const std::int64_t> columns, Line<double> out) {
        const auto x = view(rows, "rows");
        const auto u = category_weights(weights, squared, x.columns);
        const auto l = indices(left, "left", x.rows), c = indices(columns, "columns", x.rows);
        const auto by = view(change, "change", l.size);
        const auto o = view(out, "out", x.rows);
        unlocked([&] { leaves<T>().add_products(squared, x, u, l, by, c, o, workspace()); });
      },
      nb::arg("squared"), array("rows"), array("weights"), array("left"), array("change"),
      array("columns"), array("out"));
}

void define_mutual(nb::module_& m) {
  m.def(
      "add_mutual_products",
      [](bool squared, Grid<const double> rows, Line<const double> weights,
         Line<const std::int64_t> which, Line<const double> change, Size first, Size last,
         Line<double> out) {
        const auto x = view(rows, "rows");
        const auto u = category_weights(weights, squared, x.columns);
        const auto w = indices(which, "which", x.rows);
        const auto by = view(change, "change", w.size);
        const auto o = view(out, "out", x.rows);
        expect(0 <= first && first <= last && last <= w.size, "first and last", "be of `which`");
        unlocked([&] {
          table->add_mutual_products(squared, x, u, w, by, first, last, o, workspace());
        });
      },
      nb::arg("squared"), array("rows"), array("weights"), array("which"), array("change"),
      nb::arg("first"), nb::arg("last"), array("out"));
}

template <class S>
const SquareLeaves<S>& square_leaves() {
  if constexpr (sizeof(S) == sizeof(Word))
    return table->word_squares;
  else
    return table->double_squares;
}

template <class T, class S>
void define_fill(nb::module_& m) {
  m.def(
      "fill_square",
      [](bool squared, Grid<const T> rows, Line<const double> weights,
         Line<const std::int64_t> which, Size first, Size last, Grid<S> K) {
        const auto x = view(rows, "rows");
        const auto u = category_weights(weights, squared, x.columns);
        const auto w = indices(which, "which", x.rows);
        const auto k = view(K, "K", w.size, w.size);
        expect(0 <= first && first <= last && last <= w.size, "first and last", "be rows of K");
        unlocked([&] {
          if constexpr (sizeof(T) == 4)
            square_leaves<S>().fill_by_singles(squared, x, u, w, first, last, k, workspace());
          else
            square_leaves<S>().fill_by_doubles(squared, x, u, w, first, last, k, workspace());
        });
      },
      nb::arg("squared"), array("rows"), array("weights"), array("which"), nb::arg("first"),
      nb::arg("last"), array("K"));
}

template <class S>
void define_square(nb::module_& m) {
  m.def(
      "squeeze_square",
      [](Grid<S> K, Line<const std::int64_t> kept) {
        const auto k = view(K, "K");
        expect(k.rows == k.columns, "K", "be square");
        const auto which = indices(kept, "kept", k.rows);
        bool ascends = true;
        for (Size i = 1; i < which.size; ++i) ascends = ascends & (which[i - 1] < which[i]);
        expect(ascends, "kept", "ascend");
        unlocked([&] { square_leaves<S>().squeeze(k, which, workspace()); });
      },
      array("K"), array("kept"));
  m.def(
      "solve_square",
      [](Grid<const S> K, Line<double> b, Line<double> g, Line<const double> lo,
         Line<const double> hi, double tol, std::int64_t max_steps, double most_swept,
         Line<const double> kink) {
        const Box box(lo, hi, kink);
        const auto k = view(K, "K", box.n, box.n);
        const auto x = view(b, "b", box.n), slopes = view(g, "g", box.n);
        const auto done = unlocked([&] {
          return square_leaves<S>().solve(k, x, slopes, box, tol, max_steps, most_swept,
                                          workspace());
        });
        return std::make_tuple(done.violation, done.count, static_cast<int>(done.end));
      },
      array("K"), array("b"), array("g"), array("lo"), array("hi"), nb::arg("tol"),
      nb::arg("max_steps"), nb::arg("most_swept"), kink_or_none());
}

}  // namespace

void define_squares(nb::module_& m) {
  define_fused<float>(m);
  define_fused<double>(m);
  define_mutual(m);
  define_fill<float, Word>(m);
  define_fill<double, Word>(m);
  define_fill<double, double>(m);
  define_square<Word>(m);
  define_square<double>(m);
}

}  // namespace kw
