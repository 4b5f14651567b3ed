// Solvers for Python.
#include "binding.hpp"

namespace kw {

namespace {

// Where the rows of each class start, and the last class ends.
Indices class_starts(const Line<const std::int64_t>& array, Size n) {
  const Indices starts = view(array, "starts");
  expect(starts.size >= 2 && starts[0] == 0 && starts[starts.size - 1] == n, "starts",
         "go from zero to the number of rows");
  bool ascend = true;
  for (Size c = 1; c < starts.size; ++c) ascend = ascend & (starts[c - 1] <= starts[c]);
  expect(ascend, "starts", "ascend");
  return starts;
}

template <class T>
void define_steps(nb::module_& m) {
  m.def(
      "swap_columns",
      [](Grid<T> K, Line<const std::int64_t> a, Line<const std::int64_t> b) {
        const auto k = view(K, "K");
        const auto x = indices(a, "a", k.columns), y = indices(b, "b", k.columns);
        expect(x.size == y.size, "a and b", "have as many entries");
        unlocked([&] { leaves<T>().swap_columns(k, x, y); });
      },
      array("K"), array("a"), array("b"));
  m.def(
      "add_rows",
      [](Grid<const T> K, Line<const std::int64_t> rows, Line<const double> change,
         Line<double> out) {
        const auto k = view(K, "K");
        const auto r = indices(rows, "rows", k.rows);
        const auto c = view(change, "change", r.size);
        const auto o = view(out, "out", k.columns);
        unlocked([&] { leaves<T>().add_rows(k, r, c, o); });
      },
      array("K"), array("rows"), array("change"), array("out"));
  m.def(
      "solve_some",
      [](Grid<const T> K, Line<const T> diag, Line<double> b, Line<double> gradient,
         Line<const double> lo, Line<const double> hi, Line<const std::int64_t> some, bool copies,
         double tol, std::int64_t limit, Line<const double> kink) {
        const auto k = view(K, "K");
        const Box box(lo, hi, kink);
        expect(k.columns == box.n, "K", "have a column for each variable");
        const auto d = view(diag, "diag", box.n);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        const auto s = indices(some, "some", std::min(k.rows, box.n));
        const auto made = unlocked([&] {
          return leaves<T>().solve_some(k, d, x, g, box, s, copies, tol, limit,
                                        workspace());
        });
        return std::make_tuple(made.count, static_cast<int>(made.end));
      },
      array("K"), array("diag"), array("b"), array("gradient"), array("lo"), array("hi"),
      array("some"), nb::arg("copies"), nb::arg("tol"), nb::arg("limit"), kink_or_none());
  m.def(
      "solve_stored",
      [](Grid<const T> K, Line<double> b, Line<double> g, Line<const double> p,
         Line<const double> lo, Line<const double> hi, bool known, double tol,
         std::int64_t max_steps, double most_swept, double total, Line<double> certificate,
         Line<const double> kink) {
        const Box box(lo, hi, kink);
        const auto k = view(K, "K", box.n, box.n);
        const auto x = view(b, "b", box.n), slopes = view(g, "g", box.n);
        const auto linear = view(p, "p", box.n);
        const auto out = view(certificate, "certificate", 4);
        Certificate found{out[0], out[1], out[2], out[3]};
        const auto done = unlocked([&] {
          return leaves<T>().solve_stored(k, x, slopes, linear, box, known, tol,
                                          max_steps, most_swept, total, found, workspace());
        });
        out[0] = found.nu;
        out[1] = found.objective;
        out[2] = found.gap;
        out[3] = found.violation;
        return std::make_tuple(done.violation, done.count, static_cast<int>(done.end));
      },
      array("K"), array("b"), array("g"), array("p"), array("lo"), array("hi"), nb::arg("known"),
      nb::arg("tol"), nb::arg("max_steps"), nb::arg("most_swept"), nb::arg("total"),
      array("certificate"), kink_or_none());
  m.def(
      "solve_pairs",
      [](Grid<const T> K, Line<const std::int64_t> starts, Line<const double> costs,
         Grid<double> dual, Grid<double> gradient, Grid<double> certificates,
         Line<std::int64_t> steps, Line<std::int64_t> ends, Line<std::int64_t> vectors, bool warm,
         double tol, std::int64_t max_steps, double most_swept, double most_swept_by_all, Size first,
         Size last) {
        const auto k = view(K, "K");
        expect(k.rows == k.columns, "K", "be square");
        const auto at = class_starts(starts, k.rows);
        const Size n_classes = at.size - 1, n_machines = n_classes * (n_classes - 1) / 2;
        expect(0 <= first && first <= last && last <= n_machines, "first and last",
               "be machines in order");
        const Pairs pairs{at,
                          view(costs, "costs", k.rows),
                          view(dual, "dual", n_classes - 1, k.rows),
                          view(gradient, "gradient", n_classes - 1, k.rows),
                          view(certificates, "certificates", n_machines, 4),
                          view(steps, "steps", n_machines),
                          view(ends, "ends", n_machines),
                          view(vectors, "vectors", n_machines),
                          warm,
                          tol,
                          max_steps,
                          most_swept,
                          most_swept_by_all};
        return unlocked([&] { return leaves<T>().solve_pairs(k, pairs, first, last, workspace()); });
      },
      array("K"), array("starts"), array("costs"), array("dual"), array("gradient"),
      array("certificates"), array("steps"), array("ends"), array("vectors"), nb::arg("warm"),
      nb::arg("tol"), nb::arg("max_steps"), nb::arg("most_swept"), nb::arg("most_swept_by_all"),
      nb::arg("first"), nb::arg("last"));
  m.def(
      "sweep",
      [](Grid<const T> K, Line<double> b, Line<double> g, Line<const double> lo,
         Line<const double> hi, double total, double nu, double rho, double eta, double tol,
         std::int64_t max_epochs) {
        const Box box(lo, hi);
        const auto k = view(K, "K", box.n, box.n);
        const auto x = view(b, "b", box.n), slopes = view(g, "g", box.n);
        const auto done = unlocked([&] {
          return leaves<T>().sweep(k, x, slopes, box.lo, box.hi, total, nu, rho, eta, tol,
                                   max_epochs);
        });
        return std::make_tuple(done.count, done.converged);
      },
      array("K"), array("b"), array("g"), array("lo"), array("hi"), nb::arg("total"), nb::arg("nu"),
      nb::arg("rho"), nb::arg("eta"), nb::arg("tol"), nb::arg("max_epochs"));
  m.def(
      "sweep_to_margin",
      [](Grid<const T> K, Line<double> b, Line<const double> p, Line<const double> lo,
         Line<const double> hi, double eta, double tol, std::int64_t max_epochs) {
        const Box box(lo, hi);
        const auto k = view(K, "K", box.n, box.n);
        const auto x = view(b, "b", box.n);
        const auto targets = view(p, "p", box.n);
        const auto done = unlocked([&] {
          return leaves<T>().sweep_to_margin(k, x, targets, box.lo, box.hi, eta, tol, max_epochs);
        });
        return std::make_tuple(done.count, done.converged);
      },
      array("K"), array("b"), array("p"), array("lo"), array("hi"), nb::arg("eta"), nb::arg("tol"),
      nb::arg("max_epochs"));
}

void define_box(nb::module_& m) {
  m.def(
      "project_to_sum",
      [](Line<const double> b, Line<const double> lo, Line<const double> hi, double total,
         Line<double> out) {
        const Box box(lo, hi);
        const auto x = view(b, "b", box.n);
        const auto o = view(out, "out", box.n);
        return unlocked([&] { return table->project_to_sum(x, box.lo, box.hi, total, o); });
      },
      array("b"), array("lo"), array("hi"), nb::arg("total"), array("out"));
  m.def(
      "repair",
      [](Line<const double> b, Line<const double> lo, Line<const double> hi, double total,
         Line<double> out) {
        const Box box(lo, hi);
        const auto x = view(b, "b", box.n);
        const auto o = view(out, "out", box.n);
        return unlocked([&] { return table->repair(x, box.lo, box.hi, total, o, workspace()); });
      },
      array("b"), array("lo"), array("hi"), nb::arg("total"), array("out"));
  m.def(
      "first_point",
      [](Line<const double> lo, Line<const double> hi, double total, Line<double> out) {
        const Box box(lo, hi);
        const auto o = view(out, "out", box.n);
        return unlocked([&] { return table->first_point(box.lo, box.hi, total, o); });
      },
      array("lo"), array("hi"), nb::arg("total"), array("out"));
  m.def(
      "reach",
      [](Line<const double> b, Line<const double> gradient, Line<const double> lo,
         Line<const double> hi, Line<const double> kink) {
        const Box box(lo, hi, kink);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        const auto found = unlocked([&] { return table->reach(x, g, box); });
        return std::make_tuple(found.least, found.most);
      },
      array("b"), array("gradient"), array("lo"), array("hi"), kink_or_none());
  m.def(
      "intercept",
      [](Line<const double> b, Line<const double> gradient, Line<const double> lo,
         Line<const double> hi, Line<const double> kink) {
        const Box box(lo, hi, kink);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        return unlocked([&] { return table->intercept(x, g, box); });
      },
      array("b"), array("gradient"), array("lo"), array("hi"), kink_or_none());
  m.def(
      "kkt_violation",
      [](Line<const double> b, Line<const double> residual, Line<const double> lo,
         Line<const double> hi, Line<const double> kink) {
        const Box box(lo, hi, kink);
        const auto x = view(b, "b", box.n), r = view(residual, "residual", box.n);
        return unlocked([&] { return table->kkt_violation(x, r, box); });
      },
      array("b"), array("residual"), array("lo"), array("hi"), kink_or_none());
  m.def(
      "duality_gap",
      [](Line<const double> b, Line<const double> gradient, Line<const double> pull,
         Line<const double> p, Line<const double> lo, Line<const double> hi, double constant,
         Line<const double> kink) {
        const Box box(lo, hi, kink);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        const auto a = view(pull, "pull", box.n), linear = view(p, "p", box.n);
        return unlocked([&] {
          return table->duality_gap(x, g, a, linear, box, constant, workspace());
        });
      },
      array("b"), array("gradient"), array("pull"), array("p"), array("lo"), array("hi"),
      nb::arg("constant"), kink_or_none());
  m.def(
      "snap",
      [](Line<double> b, Line<const double> lo, Line<const double> hi, Line<const double> kink) {
        const Box box(lo, hi, kink);
        const auto x = view(b, "b", box.n);
        unlocked([&] { table->snap(x, box); });
      },
      array("b"), array("lo"), array("hi"), kink_or_none());
  m.def(
      "certify",
      [](Line<const double> b, Line<const double> gradient, Line<const double> p,
         Line<const double> lo, Line<const double> hi, double total, Line<const double> kink) {
        const Box box(lo, hi, kink);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        const auto linear = view(p, "p", box.n);
        const auto found = unlocked(
            [&] { return table->certify(x, g, linear, box, total, workspace()); });
        return std::make_tuple(found.nu, found.objective, found.gap, found.violation);
      },
      array("b"), array("gradient"), array("p"), array("lo"), array("hi"), nb::arg("total"),
      kink_or_none());
}

void define_active_set(nb::module_& m) {
  m.def(
      "newton_system",
      [](Grid<const double> K, Line<const double> gradient, Line<const std::int64_t> free,
         double ridge, Grid<double> block, Line<double> slope) {
        const auto k = view(K, "K");
        expect(k.rows == k.columns, "K", "be square");
        const auto g = view(gradient, "gradient", k.rows);
        const auto f = indices(free, "free", k.rows);
        const auto o = view(block, "block", f.size, f.size);
        const auto s = view(slope, "slope", f.size);
        unlocked([&] { table->newton_system(k, g, f, ridge, o, s, workspace()); });
      },
      array("K"), array("gradient"), array("free"), nb::arg("ridge"), array("block"),
      array("slope"));
  m.def(
      "centre",
      [](Line<double> step) {
        const auto s = view(step, "step");
        unlocked([&] { table->centre(s); });
      },
      array("step"));
  m.def(
      "walk",
      [](Grid<const double> K, Line<double> b, Line<const double> lo, Line<const double> hi,
         Line<double> gradient, Line<const std::int64_t> free, Line<const double> step) {
        const Box box(lo, hi);
        const auto k = view(K, "K", box.n, box.n);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        const auto f = indices(free, "free", box.n);
        const auto s = view(step, "step", f.size);
        return unlocked([&] { return table->walk(k, x, box.lo, box.hi, g, f, s, workspace()); });
      },
      array("K"), array("b"), array("lo"), array("hi"), array("gradient"), array("free"),
      array("step"));
  m.def(
      "residuals",
      [](Line<const double> b, Line<const double> lo, Line<const double> hi,
         Line<const double> gradient, Line<const bool> free, Line<double> held) {
        const Box box(lo, hi);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        const auto f = view(free, "free", box.n);
        const auto h = view(held, "held", box.n);
        return unlocked([&] { return table->residuals(x, box.lo, box.hi, g, f, h); });
      },
      array("b"), array("lo"), array("hi"), array("gradient"), array("free"), array("held"));
}

}  // namespace

void define_solvers(nb::module_& m) {
  define_steps<float>(m);
  define_steps<double>(m);
  define_box(m);
  define_active_set(m);
}

}  // namespace kw
