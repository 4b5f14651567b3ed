// Counts, one-hot products, landmarks, lines, trees and cells of the parts of a model, for Python.
#include "binding.hpp"

namespace kw {

namespace {

using Rows = Grid<const std::int32_t>;

// Places of ones, ascending in each row and below a limit.
Matrix<const std::int32_t> places_below(const Rows& array, Size limit) {
  const auto found = view(array, "places");
  bool fine = true;
  for (Size i = 0; i < found.rows; ++i) {
    std::int32_t last = -1;
    for (Size j = 0; j < found.columns; ++j) {
      fine = fine & (found.at(i, j) > last);
      last = found.at(i, j);
    }
    fine = fine & (last < limit);
  }
  expect(fine, "places", "ascend in each row and be within range");
  return found;
}

void define_one_hot(nb::module_& m) {
  m.def(
      "one_hot_gram",
      [](Rows places, Line<const double> weights, Grid<double> out) {
        const auto o = view(out, "out", static_cast<Size>(out.shape(0)),
                            static_cast<Size>(out.shape(0)));
        const auto p = places_below(places, o.rows);
        const auto w = view(weights, "weights", p.rows);
        unlocked([&] { table->one_hot_gram(p, w, o); });
      },
      array("places"), array("weights"), array("out"));
  m.def(
      "one_hot_sums",
      [](Rows places, Line<const double> weights, Grid<const float> D, Grid<double> out) {
        const auto o = view(out, "out");
        const auto p = places_below(places, o.rows);
        const auto w = view(weights, "weights", p.rows);
        const auto d = view(D, "D", p.rows, o.columns);
        unlocked([&] { table->one_hot_sums(p, w, d, o, workspace()); });
      },
      array("places"), array("weights"), array("D"), array("out"));
  m.def(
      "one_hot_product",
      [](Rows places, Grid<const float> R, Grid<float> out) {
        const auto r = view(R, "R");
        const auto p = places_below(places, r.rows);
        const auto o = view(out, "out", p.rows, r.columns);
        unlocked([&] { table->one_hot_product(p, r, o); });
      },
      array("places"), array("R"), array("out"));
  m.def(
      "one_hot_forms",
      [](Rows places, Grid<const double> Q, Line<double> out) {
        const auto q = view(Q, "Q", static_cast<Size>(Q.shape(0)), static_cast<Size>(Q.shape(0)));
        const auto p = places_below(places, q.rows);
        const auto o = view(out, "out", p.rows);
        unlocked([&] { table->one_hot_forms(p, q, o); });
      },
      array("places"), array("Q"), array("out"));
}

void define_landmarks(nb::module_& m) {
  m.def(
      "limited_distances",
      [](Grid<const float> left, Grid<const float> right, Line<const float> scales,
         Line<const float> limits, Grid<float> out) {
        const auto l = view(left, "left");
        const auto r = view(right, "right", l.columns, static_cast<Size>(right.shape(1)));
        const auto s = view(scales, "scales", l.columns), t = view(limits, "limits", l.columns);
        const auto o = view(out, "out", l.rows, r.columns);
        unlocked([&] { table->limited_distances(l, r, s, t, o); });
      },
      array("left"), array("right"), array("scales"), array("limits"), array("out"));
  m.def(
      "limited_contraction",
      [](Grid<const float> S, Grid<const float> left, Grid<const float> right,
         Line<const float> limits, Line<double> out) {
        const auto l = view(left, "left");
        const auto r = view(right, "right", l.columns, static_cast<Size>(right.shape(1)));
        const auto s = view(S, "S", l.rows, r.columns);
        const auto t = view(limits, "limits", l.columns);
        const auto o = view(out, "out", l.columns);
        unlocked([&] { table->limited_contraction(s, l, r, t, o); });
      },
      array("S"), array("left"), array("right"), array("limits"), array("out"));
}

// Lines whose knots lie one after the other.
Lines checked_lines(const Line<const double>& knots, const Line<const double>& heights,
                    const Line<const std::int64_t>& stops, const Line<const double>& sizes) {
  const auto s = view(sizes, "sizes");
  const auto k = view(knots, "knots");
  const Lines lines{k, view(heights, "heights", k.size), view(stops, "stops", s.size + 1), s};
  bool fine = lines.stops[0] == 0 && lines.stops[s.size] == k.size;
  for (Size j = 0; j < s.size; ++j) fine = fine & (lines.stops[j] <= lines.stops[j + 1]);
  expect(fine, "stops", "ascend from zero to the number of knots");
  return lines;
}

template <class T>
void define_lines(nb::module_& m) {
  m.def(
      "heights_on_lines",
      [](Grid<const double> X, Line<const std::int64_t> columns, Line<const double> knots,
         Line<const double> heights, Line<const std::int64_t> stops, Line<const double> sizes,
         Grid<T> out) {
        const auto x = view(X, "X");
        const auto c = indices(columns, "columns", x.columns);
        const Lines lines = checked_lines(knots, heights, stops, sizes);
        expect(lines.sizes.size == c.size, "sizes", "have one entry per column");
        const auto o = view(out, "out", x.rows, c.size);
        unlocked([&] { leaves<T>().heights_on_lines(x, c, lines, o); });
      },
      array("X"), array("columns"), array("knots"), array("heights"), array("stops"),
      array("sizes"), array("out"));
}

// A tree whose nodes lead to later nodes or to leaves.
Tree checked_tree(const Line<const std::int64_t>& levels, const Line<const double>& thresholds,
                  const Grid<const std::int64_t>& children, Size n_directions) {
  const Indices own = indices(levels, "levels", n_directions);
  const Tree tree{own, view(thresholds, "thresholds", own.size),
                  view(children, "children", own.size, 2)};
  bool fine = true;
  for (Size node = 0; node < own.size; ++node)
    for (Size side = 0; side < 2; ++side) {
      const std::int64_t child = tree.children.at(node, side);
      fine = fine & (child < own.size) & (child < 0 || child > node);
    }
  expect(fine, "children", "be leaves or later nodes");
  return tree;
}

template <class T>
void define_routes(nb::module_& m) {
  m.def(
      "project_rows",
      [](Grid<const T> X, Line<const std::int64_t> rows, Line<const double> direction,
         Line<double> out) {
        const auto x = view(X, "X");
        const auto r = indices(rows, "rows", x.rows);
        const auto u = view(direction, "direction", x.columns);
        const auto o = view(out, "out", r.size);
        unlocked([&] { leaves<T>().project_rows(x, r, u, o); });
      },
      array("X"), array("rows"), array("direction"), array("out"));
  m.def(
      "divide_rows",
      [](Grid<const T> X, Line<const std::int64_t> rows, Line<const double> direction,
         double threshold, Line<std::int64_t> out) {
        const auto x = view(X, "X");
        const auto r = indices(rows, "rows", x.rows);
        const auto u = view(direction, "direction", x.columns);
        const auto o = view(out, "out", r.size);
        return unlocked([&] { return leaves<T>().divide_rows(x, r, u, threshold, o); });
      },
      array("X"), array("rows"), array("direction"), nb::arg("threshold"), array("out"));
  m.def(
      "route_rows",
      [](Grid<const T> X, Grid<const double> directions, Line<const std::int64_t> levels,
         Line<const double> thresholds, Grid<const std::int64_t> children,
         Line<std::int64_t> out) {
        const auto x = view(X, "X");
        const auto u = view(directions, "directions", static_cast<Size>(directions.shape(0)),
                            x.columns);
        const Tree tree = checked_tree(levels, thresholds, children, u.rows);
        const auto o = view(out, "out", x.rows);
        unlocked([&] { leaves<T>().route_rows(x, u, tree, o); });
      },
      array("X"), array("directions"), array("levels"), array("thresholds"), array("children"),
      array("out"));
}

// Stops of consecutive parts of so many entries.
Indices checked_stops(const Line<const std::int64_t>& stops, const char* name, Size size) {
  const Indices found = view(stops, name);
  bool fine = found.size > 0 && found[0] == 0 && found[found.size - 1] == size;
  for (Size c = 0; c + 1 < found.size; ++c) fine = fine & (found[c] <= found[c + 1]);
  expect(fine, name, "ascend from zero to the number of entries");
  return found;
}

template <class T>
void define_cells(nb::module_& m) {
  m.def(
      "decide_cells",
      [](bool squared, Line<const std::int64_t> columns, Line<const double> factors,
         Line<const double> weights, double reach, Grid<const T> X, Line<const std::int64_t> rows,
         Line<const std::int64_t> row_stops, Grid<const T> stored,
         Line<const std::int32_t> vectors, Line<const std::int64_t> vector_stops,
         Grid<const T> coef, Grid<double> out) {
        const auto x = view(X, "X");
        const auto z = view(stored, "stored", static_cast<Size>(stored.shape(0)), x.columns);
        const CellKernel kernel{indices(columns, "columns", x.columns), view(factors, "factors"),
                                view(weights, "weights"), reach};
        expect(kernel.factors.size + kernel.weights.size == kernel.columns.size, "columns",
               "have a factor or a weight each");
        expect(!squared || kernel.weights.size == 0, "weights",
               "be empty: squared distances have no categories");
        const auto v = view(vectors, "vectors");
        bool inside = true;
        for (Size i = 0; i < v.size; ++i) inside = inside & (v[i] >= 0) & (v[i] < z.rows);
        expect(inside, "vectors", "hold indices within range");
        const auto r = indices(rows, "rows", x.rows);
        const CellRows cells{r, checked_stops(row_stops, "row_stops", r.size), v,
                             checked_stops(vector_stops, "vector_stops", v.size)};
        expect(cells.row_stops.size == cells.vector_stops.size, "vector_stops",
               "have an entry for each of row_stops");
        const auto a = view(coef, "coef", v.size, static_cast<Size>(coef.shape(1)));
        const auto o = view(out, "out", x.rows, a.columns);
        return unlocked([&] {
          return leaves<T>().decide_cells(squared, kernel, x, z, cells, a, o, workspace());
        });
      },
      nb::arg("squared"), array("columns"), array("factors"), array("weights"), nb::arg("reach"),
      array("X"), array("rows"), array("row_stops"), array("stored"), array("vectors"),
      array("vector_stops"), array("coef"), array("out"));
}

}  // namespace

void define_parts(nb::module_& m) {
  define_one_hot(m);
  define_landmarks(m);
  define_lines<float>(m);
  define_lines<double>(m);
  define_routes<float>(m);
  define_routes<double>(m);
  define_cells<float>(m);
  define_cells<double>(m);
}

}  // namespace kw
