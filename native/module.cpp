// The Python module: picks the leaves of one level; the rest is in bind_*.cpp.
#include <algorithm>
#include <cstdlib>

#include "binding.hpp"
#include "cpu.hpp"

namespace kw {

const Table* table = nullptr;

Workspace& workspace() {
  thread_local Workspace own;
  return own;
}

void define_features(nb::module_& m) {
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
        unlocked([&] { table->squared_gaps(x, o, c, w, f, target, workspace()); });
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
  m.def(
      "fit_sigmoids",
      [](Grid<const double> F, Grid<const double> T, Grid<const double> W, double mean,
         double precision, bool fixed, double enough, std::int64_t max_steps, Line<double> slope,
         Line<double> intercept) {
        const auto f = view(F, "F");
        const auto t = view(T, "T", f.rows, f.columns);
        const auto w = view(W, "W", W.shape(0) == 1 ? 1 : f.rows, f.columns);
        const auto a = view(slope, "slope", f.rows), b = view(intercept, "intercept", f.rows);
        unlocked([&] {
          table->fit_sigmoids(f, t, w, mean, precision, fixed, enough, max_steps, a, b,
                              workspace());
        });
      },
      array("F"), array("T"), array("W"), nb::arg("mean"), nb::arg("precision"), nb::arg("fixed"),
      nb::arg("enough"), nb::arg("max_steps"), array("slope"), array("intercept"));
}

namespace {

#if defined(KW_LEVELS_X86)
int own_level() { return x86_level(); }
#else
int own_level() { return 1; }
#endif

// The tables that a processor of some level can run, best first; ends in null.
void available(int level, const Table* (&found)[4]) {
  int count = 0;
#if defined(KW_LEVELS_X86)
  const Table* const all[] = {&v2::table, &v3::table, &v4::table};
  for (level = std::min(level, 4); level >= 2; --level) found[count++] = all[level - 2];
#else
  if (level >= 1) found[count++] = &baseline::table;
#endif
  found[count] = nullptr;
  if (count == 0)
    throw nb::import_error(
        "kernelwise is built for x86-64-v2 processors (SSE4.2, from about 2009 on) and newer ones, "
        "and this one is older; build it for this machine with 'pip install --no-binary kernelwise "
        "-C cmake.define.KERNELWISE_BASELINE=ON kernelwise'.");
}

// The names of these tables.
nb::tuple level_names(int level) {
  const Table* found[4];
  available(level, found);
  nb::list out;
  for (const Table* const* each = found; *each != nullptr; ++each) out.append((*each)->level);
  return nb::tuple(out);
}

// The best table, or the one that KERNELWISE_CPU names.
const Table* pick(const Table* const (&found)[4]) {
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
  available(own_level(), found);
  table = pick(found);
  m.doc() = "Compiled leaves on plain arrays; native/ has the mathematics above each of them.";
  m.attr("level") = table->level;
  m.attr("levels") = level_names(own_level());
  m.def("levels_of", level_names, nb::arg("level"));
  m.attr("CONVERGED") = static_cast<int>(End::converged);
  m.attr("OUT_OF_STEPS") = static_cast<int>(End::out_of_steps);
  m.attr("STUCK") = static_cast<int>(End::stuck);
  m.attr("UNFINISHED") = static_cast<int>(End::unfinished);
  m.attr("NOT_A_NUMBER") = static_cast<int>(End::not_a_number);
  m.def("kept_bytes", [] { return workspace().kept_bytes(); });
  m.def("release_memory", [] { workspace().release(); });
  define_kernels(m);
  define_solvers(m);
  define_features(m);
  define_parts(m);
  define_squares(m);
}

}  // namespace

}  // namespace kw

NB_MODULE(_native, m) { kw::define_module(m); }
