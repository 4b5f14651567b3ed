// Landmarks and lines of the parts of a model, for Python.
#include "binding.hpp"

namespace kw {

namespace {

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

}  // namespace

void define_parts(nb::module_& m) {
  define_landmarks(m);
  define_lines<float>(m);
  define_lines<double>(m);
}

}  // namespace kw
