"""The page docs/equalities.md."""

from __future__ import annotations

from statistics import median

from benchmarks.engine import Drawing

from ..page import Page
from ..targets import Rows
from ..text import digits
from .solved import CLOSE, HUGE, MOST_FEATURES, MOST_ROWS, by_family, power, solved
from .suite import Equalities
from .targets import TARGETS

_HOW = f"""\
## How it is measured

- A case is a kernel matrix in float64, features, classes and C. `SeveralEqualities` solves the
  machine with the features in its bias; scikit-learn's `SVC(kernel="precomputed")` solves the one
  with a constant bias. No peer solves the former, so the latter is the unit of time.
- They take turns in one process on one thread, in a new order each round. A time is the median of
  five rounds up to n = 200, of three up to n = {MOST_ROWS}; larger cases are measured once.
- The violation is computed anew from the solution: the largest violation of the margin conditions,
  in units of the margin, or |Q'b| / max(1, sum |b|) with orthonormalised features Q, whichever is
  larger. A case in which one feature alone has decision values beyond {power(HUGE)} may end as
  degenerate, within {CLOSE:g}: a penalty on the features (`bias_penalty`) is the remedy.
- synthetic: `make_classification` with 20 columns, RBF kernel with `gamma="scale"`; the features
  are the constant and bent directions with noise, l = 1, 5, 20 and 50, C from 0.01 to 1000.
- spoilt columns: zero, equal, dependent, nearly dependent, badly scaled (1e-12 to 1e12), n = 300.
  separating: one feature separates the classes, or all rows but one. l close to n: from n / 2 to
  more than n; the time grows with l^2 n, and is not compared beyond l = {MOST_FEATURES}.
- COIL-20: pairs of objects, 6 to 48 angles each, 20 features of `GeodesicNeighborFeatures`, C = 1
  and 100. documents: pairs of 20 newsgroups, linear kernel of 2000 words, the constant and ten
  `TopicFeatures`, C = 1, 10 and 1000; comp has 400 documents in 12 draws, sci 100 in 6 draws
  without one of three folds, about 33 per pair.
- The solver's constants were chosen on such cases.

## How to repeat it

```console
$ export KERNELWISE_DATA=...                   # the folder of the data sets
$ python -m benchmarks equalities              # on an otherwise idle machine
$ python -m benchmarks equalities --fresh      # measure again what is finished
$ python -m benchmarks equalities --render     # only this page, from benchmarks/results
```
"""


def _opening(rows: Rows) -> str:
    cases = solved(rows.get("equalities", []))
    timed = [case.ratio(1e-3) for case in cases if case.is_timed]
    if not timed:
        return ""
    within = sum(case.at(1e-3)[1] <= case.allowed(1e-3) for case in cases)
    return (
        "`SeveralEqualities` solves the machines of `GeneralizedBiasSVC`, whose bias has features. "
        f"It solves {within} of {len(cases)} cases to the tolerance of 1e-3, among them features "
        "that are redundant, badly scaled, or separate the classes. Up to "
        f"{MOST_ROWS:,} rows and {MOST_FEATURES} features it takes {digits(median(timed), 2)} "
        "times as long as scikit-learn's `SVC` for the machine without features (median; at most "
        f"{digits(max(timed), 2)} times)."
    )


def _picture(rows: Rows) -> Drawing | None:
    """Draw the time relative to that of SVC by family: median and range."""
    timed = by_family(case for case in solved(rows.get("equalities", [])) if case.is_timed)
    if not timed:
        return None
    from matplotlib.figure import Figure

    ratios = {name: [case.ratio(1e-3) for case in own] for name, own in reversed(timed.items())}
    places = range(len(ratios))
    figure = Figure(figsize=(7, 1 + 0.26 * len(ratios)), layout="constrained")
    axes = figure.subplots()
    axes.hlines(
        places, *zip(*((min(r), max(r)) for r in ratios.values()), strict=True), color="0.7"
    )
    axes.plot([median(r) for r in ratios.values()], places, "o", color="#0072B2")
    axes.axvline(1, color="0.4", lw=1)
    axes.set_yticks(places, list(ratios))
    axes.set(xlabel="time / time of SVC without features", xlim=(0, None))
    caption = (
        "Time of a machine with features in its bias relative to scikit-learn's SVC without "
        "features, by family of cases: median and range."
    )
    return Drawing("time", caption, figure)


PAGE = Page(
    name="equalities",
    title="The solver of several equalities",
    opening=_opening,
    picture=_picture,
    suites=(Equalities(),),
    how=_HOW,
    targets=TARGETS,
)
