// Counts, one-hot products and landmarks of the parts of a model, for Python.
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

}  // namespace

void define_parts(nb::module_& m) {
  define_one_hot(m);
  define_landmarks(m);
}

}  // namespace kw
