// The Python module: checks arrays, lets other threads run, and calls the leaves of one level.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstdlib>

#include "arrays.hpp"
#include "cpu.hpp"
#include "table.hpp"

namespace kw {

namespace {

const Table* table = nullptr;
thread_local Workspace workspace;

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
constexpr auto array(const char* name) { return nb::arg(name).noconvert(); }

// The vectors of a problem, all of one size.
struct Box {
  Size n;
  Values lo, hi;
  Box(const Line<const double>& low, const Line<const double>& high)
      : n(static_cast<Size>(low.shape(0))), lo(view(low, "lo")), hi(view(high, "hi", n)) {}
};

// --- kernels -----------------------------------------------------------------------------------

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

template <class T>
void define_kernels(nb::module_& m) {
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
        expect(l.columns >= 2 && l.columns == o.columns, "left", "have as many columns as other");
        expect(k.columns == o.rows, "out", "have a column for each row of other");
        expect(0 <= first && first <= last && last <= k.rows && last <= l.rows, "first and last",
               "be rows of left and out");
        expect(stop == 0 || (last <= stop && stop <= k.rows && stop <= k.columns), "stop",
               "be zero, or between last and the size of out");
        unlocked([&] { leaves<T>().gauss(l, o, k, first, last, stop, workspace); });
      },
      array("left"), array("other"), array("out"), nb::arg("first"), nb::arg("last"),
      nb::arg("stop"));
  m.def(
      "l1_distances",
      [](Grid<const T> left, Grid<const T> right, Grid<T> out) {
        const auto l = view(left, "left"), r = view(right, "right");
        expect(l.columns >= 1 && l.columns == r.rows, "right", "have a row for each column of left");
        const auto o = view(out, "out", l.rows, r.columns);
        unlocked([&] { leaves<T>().l1_distances(l, r, o, workspace); });
      },
      array("left"), array("right"), array("out"));
  m.def(
      "contract",
      [](Grid<const T> K, Size start, Grid<const T> left, Grid<const T> right, Size d, bool squares,
         Line<double> mixed, Line<double> ends) {
        const auto l = view(left, "left"), r = view(right, "right", l.columns, l.rows);
        const auto k = view(K, "K");
        expect(0 <= d && d < l.columns, "d", "be less than the columns of left");
        expect(0 <= start && start + k.columns == l.rows && k.rows <= k.columns, "K",
               "have the columns from start on, and not more rows");
        const auto f = view(mixed, "mixed", d), e = view(ends, "ends", l.rows);
        unlocked([&] { leaves<T>().contract(k, start, l, r, d, squares, f, e, workspace); });
      },
      array("K"), nb::arg("start"), array("left"), array("right"), nb::arg("d"), nb::arg("squares"),
      array("mixed"), array("ends"));
  m.def(
      "whole_terms",
      [](Grid<const T> rows, bool squares, Line<const double> mixed, Line<const double> ends,
         Line<double> out) {
        const auto x = view(rows, "rows");
        const auto o = view(out, "out");
        expect(o.size <= x.columns, "rows", "have at least as many columns as out has entries");
        const auto f = view(mixed, "mixed", o.size), e = view(ends, "ends", x.rows);
        unlocked([&] { leaves<T>().whole_terms(x, squares, f, e, o); });
      },
      array("rows"), nb::arg("squares"), array("mixed"), array("ends"), array("out"));
}

// --- blocks ------------------------------------------------------------------------------------

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

// --- solvers -----------------------------------------------------------------------------------

template <class T>
void define_solvers(nb::module_& m) {
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
         double tol, std::int64_t limit) {
        const auto k = view(K, "K");
        const Box box(lo, hi);
        expect(k.columns == box.n, "K", "have a column for each variable");
        const auto d = view(diag, "diag", box.n);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        const auto s = indices(some, "some", std::min(k.rows, box.n));
        const auto made = unlocked([&] {
          return leaves<T>().solve_some(k, d, x, g, box.lo, box.hi, s, copies, tol, limit,
                                        workspace);
        });
        return std::make_tuple(made.count, static_cast<int>(made.end));
      },
      array("K"), array("diag"), array("b"), array("gradient"), array("lo"), array("hi"),
      array("some"), nb::arg("copies"), nb::arg("tol"), nb::arg("limit"));
  m.def(
      "solve_stored",
      [](Grid<const T> K, Line<double> b, Line<double> g, Line<const double> p,
         Line<const double> lo, Line<const double> hi, bool known, double tol,
         std::int64_t max_steps, double most_swept, double total, Line<double> certificate) {
        const Box box(lo, hi);
        const auto k = view(K, "K", box.n, box.n);
        const auto x = view(b, "b", box.n), slopes = view(g, "g", box.n);
        const auto linear = view(p, "p", box.n);
        const auto out = view(certificate, "certificate", 4);
        Certificate found{out[0], out[1], out[2], out[3]};
        const auto done = unlocked([&] {
          return leaves<T>().solve_stored(k, x, slopes, linear, box.lo, box.hi, known, tol,
                                          max_steps, most_swept, total, found, workspace);
        });
        out[0] = found.nu;
        out[1] = found.objective;
        out[2] = found.gap;
        out[3] = found.violation;
        return std::make_tuple(done.violation, done.count, static_cast<int>(done.end));
      },
      array("K"), array("b"), array("g"), array("p"), array("lo"), array("hi"), nb::arg("known"),
      nb::arg("tol"), nb::arg("max_steps"), nb::arg("most_swept"), nb::arg("total"),
      array("certificate"));
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
        return unlocked([&] { return table->repair(x, box.lo, box.hi, total, o, workspace); });
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
         Line<const double> hi) {
        const Box box(lo, hi);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        const auto found = unlocked([&] { return table->reach(x, g, box.lo, box.hi); });
        return std::make_tuple(found.least, found.most);
      },
      array("b"), array("gradient"), array("lo"), array("hi"));
  m.def(
      "intercept",
      [](Line<const double> b, Line<const double> gradient, Line<const double> lo,
         Line<const double> hi) {
        const Box box(lo, hi);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        return unlocked([&] { return table->intercept(x, g, box.lo, box.hi); });
      },
      array("b"), array("gradient"), array("lo"), array("hi"));
  m.def(
      "kkt_violation",
      [](Line<const double> b, Line<const double> residual, Line<const double> lo,
         Line<const double> hi) {
        const Box box(lo, hi);
        const auto x = view(b, "b", box.n), r = view(residual, "residual", box.n);
        return unlocked([&] { return table->kkt_violation(x, r, box.lo, box.hi); });
      },
      array("b"), array("residual"), array("lo"), array("hi"));
  m.def(
      "duality_gap",
      [](Line<const double> b, Line<const double> gradient, Line<const double> pull,
         Line<const double> p, Line<const double> lo, Line<const double> hi, double constant) {
        const Box box(lo, hi);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        const auto a = view(pull, "pull", box.n), linear = view(p, "p", box.n);
        return unlocked([&] {
          return table->duality_gap(x, g, a, linear, box.lo, box.hi, constant, workspace);
        });
      },
      array("b"), array("gradient"), array("pull"), array("p"), array("lo"), array("hi"),
      nb::arg("constant"));
  m.def(
      "snap",
      [](Line<double> b, Line<const double> lo, Line<const double> hi) {
        const Box box(lo, hi);
        const auto x = view(b, "b", box.n);
        unlocked([&] { table->snap(x, box.lo, box.hi); });
      },
      array("b"), array("lo"), array("hi"));
  m.def(
      "certify",
      [](Line<const double> b, Line<const double> gradient, Line<const double> p,
         Line<const double> lo, Line<const double> hi, double total) {
        const Box box(lo, hi);
        const auto x = view(b, "b", box.n), g = view(gradient, "gradient", box.n);
        const auto linear = view(p, "p", box.n);
        const auto found = unlocked(
            [&] { return table->certify(x, g, linear, box.lo, box.hi, total, workspace); });
        return std::make_tuple(found.nu, found.objective, found.gap, found.violation);
      },
      array("b"), array("gradient"), array("p"), array("lo"), array("hi"), nb::arg("total"));
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
        unlocked([&] { table->newton_system(k, g, f, ridge, o, s, workspace); });
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
        return unlocked([&] { return table->walk(k, x, box.lo, box.hi, g, f, s, workspace); });
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

// --- features and rows -------------------------------------------------------------------------

void define_others(nb::module_& m) {
  m.def(
      "squared_gaps",
      [](Grid<const double> Xt, Grid<const std::int64_t> order, Line<const std::int64_t> classes,
         Line<const double> weights, Line<const double> factors, Grid<double> out) {
        const auto x = view(Xt, "Xt");
        const auto o = view(order, "order", x.rows, x.columns);
        for (Size k = 0; k < o.rows; ++k) {
          bool inside = true;
          for (Size t = 0; t < o.columns; ++t)
            inside = inside & (o.at(k, t) >= 0) & (o.at(k, t) < x.columns);
          expect(inside, "order", "hold indices within range");
        }
        const auto f = view(factors, "factors");
        const auto c = indices(classes, "classes", f.size);
        expect(c.size == x.columns, "classes", "have an entry for each column of Xt");
        const auto w = view(weights, "weights", x.columns);
        const auto target = view(out, "out", x.rows, 2);
        unlocked([&] { table->squared_gaps(x, o, c, w, f, target, workspace); });
      },
      array("Xt"), array("order"), array("classes"), array("weights"), array("factors"),
      array("out"));
  m.def(
      "mix",
      [](Grid<const std::uint64_t> bits, Line<const std::uint64_t> multipliers,
         Line<std::uint64_t> out) {
        const auto b = view(bits, "bits");
        const auto x = view(multipliers, "multipliers", b.columns);
        const auto o = view(out, "out", b.rows);
        unlocked([&] { table->mix(b, x, o); });
      },
      array("bits"), array("multipliers"), array("out"));
}

// --- levels ------------------------------------------------------------------------------------

// The tables that this processor can run, best first; ends in null.
void available(const Table* (&found)[4]) {
  int count = 0;
#if defined(KW_LEVELS_X86)
  const Table* const all[] = {&v2::table, &v3::table, &v4::table};
  for (int level = x86_level(); level >= 2; --level) found[count++] = all[level - 2];
#else
  found[count++] = &baseline::table;
#endif
  found[count] = nullptr;
}

nb::list names(const Table* const (&found)[4]) {
  nb::list out;
  for (const Table* const* each = found; *each != nullptr; ++each) out.append((*each)->level);
  return out;
}

// The best table, or the one that KERNELWISE_CPU names.
const Table* pick(const Table* const (&found)[4]) {
  if (found[0] == nullptr)
    throw nb::import_error(
        "kernelwise is built for x86-64-v2 processors (SSE4.2, from about 2009 on) and newer ones, "
        "and this one is older; build it for this machine with 'pip install --no-binary kernelwise "
        "-C cmake.define.KERNELWISE_BASELINE=ON kernelwise'.");
  const char* const wanted = std::getenv("KERNELWISE_CPU");
  if (wanted == nullptr || *wanted == '\0') return found[0];
  std::string known;
  for (const Table* const* each = found; *each != nullptr; ++each) {
    if (std::string(wanted) == (*each)->level) return *each;
    known += (known.empty() ? "" : ", ") + std::string((*each)->level);
  }
  const std::string text = "KERNELWISE_CPU is '" + std::string(wanted) +
                           "', but this processor can run " + known +
                           "; name one of these, or unset it.";
  throw nb::import_error(text.c_str());
}

void define_module(nb::module_& m) {
  const Table* found[4];
  available(found);
  table = pick(found);
  m.doc() = "Compiled leaves on plain arrays; native/ has the mathematics above each of them.";
  m.attr("level") = table->level;
  m.attr("levels") = nb::tuple(names(found));
  m.attr("CONVERGED") = static_cast<int>(End::converged);
  m.attr("OUT_OF_STEPS") = static_cast<int>(End::out_of_steps);
  m.attr("STUCK") = static_cast<int>(End::stuck);
  m.attr("UNFINISHED") = static_cast<int>(End::unfinished);
  m.attr("NOT_A_NUMBER") = static_cast<int>(End::not_a_number);
  m.def("kept_bytes", [] { return workspace.kept_bytes(); });
  m.def("release_memory", [] { workspace.release(); });
  define_rows<float, float>(m);
  define_rows<float, double>(m);
  define_rows<double, float>(m);
  define_rows<double, double>(m);
  define_kernels<float>(m);
  define_kernels<double>(m);
  define_gather<float, float>(m);
  define_gather<float, double>(m);
  define_gather<double, double>(m);
  define_solvers<float>(m);
  define_solvers<double>(m);
  define_box(m);
  define_active_set(m);
  define_others(m);
}

}  // namespace

}  // namespace kw

NB_MODULE(_native, m) { kw::define_module(m); }
