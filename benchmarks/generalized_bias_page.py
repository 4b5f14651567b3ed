"""The page of the solver of several equalities, from the file of results alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from . import render
from . import results as files
from .books import Book
from .targets import Case, Target
from .text import digits, factor, table

SUITE = "equalities"
HUGE = 1e6  # decision values of one feature alone, beyond which a case may end in a warning
CLOSE = 1e-2  # what it must reach then
MOST_ROWS, MOST_FEATURES = 2500, 100  # up to which the time counts


class Row(NamedTuple):
    """A case as it is written down; the numbers of tolerance 1e-6 end in _tight."""

    family: str
    name: str
    n: int
    n_features: int
    svc: float
    seconds: float
    violation: float
    status: str
    steps: int
    multipliers: float
    seconds_tight: float
    violation_tight: float
    status_tight: str
    steps_tight: int
    multipliers_tight: float

    def at(self, tol: float) -> tuple[float, float, str, int, float]:
        """Return seconds, violation, status, steps and the largest multipliers at a tolerance."""
        return self[10:] if tol < 1e-4 else self[5:10]

    def allowed(self, tol: float) -> float:
        """Return the violation that is allowed."""
        *_, status, _, multipliers = self.at(tol)
        return CLOSE if status == "degenerate" and multipliers > HUGE else tol

    @property
    def is_timed(self) -> bool:
        return self.n <= MOST_ROWS and self.n_features <= MOST_FEATURES

    def ratio(self, tol: float) -> float:
        return self.at(tol)[0] / self.svc


COLUMNS = Row._fields


def _power(number: float) -> str:
    """Return a number in one digit and a power of ten."""
    digit, _, power = f"{number:.0e}".partition("e")
    return f"{digit}e{int(power)}"


def _read(row: dict) -> Row:
    return Row(*row["row"])


def _violation(tol: float):
    def read(row: dict) -> Case:
        found = _read(row)
        return Case(found.name, found.at(tol)[1] / found.allowed(tol))

    return read


def _ratio(row: dict) -> Case | None:
    found = _read(row)
    return Case(found.name, found.ratio(1e-3)) if found.is_timed else None


def by_family(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each family."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.family, []).append(row)
    return found


class _Medians(Target):
    """A bound on the median of each family."""

    def cases(self, results: dict) -> list[Case]:
        rows = map(_read, results["suites"].get(self.suite, {}).get("rows", []))
        small = by_family(row for row in rows if row.is_timed)
        return [
            Case(name, statistics.median(row.ratio(1e-3) for row in family))
            for name, family in small.items()
        ]


TARGETS = (
    Target(
        "violation at tolerance 1e-3, over what is allowed",
        SUITE, 1, _violation(1e-3), "", at_least=False, form=_power,
    ),
    Target(
        "the same at tolerance 1e-6",
        SUITE, 1, _violation(1e-6), "", at_least=False, form=_power,
    ),
    _Medians(
        f"time over that of `SVC`, n up to {MOST_ROWS}, l up to {MOST_FEATURES}: median of each "
        "family",
        SUITE, 5, None, at_least=False,
    ),
    Target("the same of each case", SUITE, 20, _ratio, at_least=False),
)  # fmt: skip


def families(suite: dict) -> str:
    """Return a table of the families for each tolerance."""
    rows = by_family(map(_read, suite["rows"]))
    header = ["family", "cases", "within", "worst", "steps", "most", "median", "worst time"]
    parts = []
    for tol in (1e-3, 1e-6):
        lines = [[name, *_numbers(family, tol)] for name, family in rows.items()]
        parts += [f"Tolerance {_power(tol)}:", table(header, lines, left=1)]
    return "\n\n".join(parts)


def _numbers(rows: list[Row], tol: float) -> list[object]:
    violations = [row.at(tol)[1] for row in rows]
    within = sum(row.at(tol)[1] <= row.allowed(tol) for row in rows)
    steps = [row.at(tol)[3] for row in rows]
    ratios = [row.ratio(tol) for row in rows]
    return [
        len(rows),
        within,
        _power(max(violations)),
        digits(statistics.median(steps), 2),
        max(steps),
        factor(statistics.median(ratios)),
        factor(max(ratios)),
    ]


def _section(suite: dict) -> str:
    degenerate = sum(row.status == "degenerate" for row in map(_read, suite["rows"]))
    return (
        "The cases of a family, those whose violation is within what is allowed, the worst "
        "violation; steps (linear systems), in the median and at most; time over that of `SVC`, in "
        f"the median and at worst. {degenerate} cases ended as degenerate at tolerance 1e-3.\n\n"
        + families(suite)
    )


_HOW = f"""\
## How it is measured

- A case is a kernel matrix in float64, features, classes and C. `SeveralEqualities` solves the
  machine whose bias has the features, `SVC(kernel="precomputed")` of scikit-learn the machine whose
  bias is the constant alone: no peer solves the former, so that the latter is the unit of time.
- They take turns in one process on one thread, in a new order each round. A time is the median of
  five rounds up to n = 200, of three up to n = {MOST_ROWS}; larger cases are measured once.
- The violation is computed anew from the solution: the largest of the conditions of the margin, in
  units of the margin, or |Q'b| / max(1, sum |b|) with orthonormalised features Q, whichever is
  larger. A case in which one feature alone has decision values beyond {_power(HUGE)} may end as
  degenerate, within {CLOSE:g}: a penalty on the features (`bias_penalty`) is the remedy.
- synthetic: `make_classification` with 20 columns, RBF kernel with `gamma="scale"`, the constant
  and bent directions with noise as features, l = 1, 5, 20 and 50, C from 0.01 to 1000.
- spoilt columns: zero, equal, dependent, nearly dependent, badly scaled (1e-12 to 1e12), n = 300.
  separating: one feature separates the classes, or all rows but one. l close to n: from n / 2 to
  more than n; the time grows with l^2 n, and does not count beyond l = {MOST_FEATURES}.
- COIL-20: pairs of objects, 6 to 48 angles each, 20 features of `GeodesicNeighborFeatures`, C 1 and
  100. documents: pairs of 20 newsgroups, linear kernel of 2000 words, the constant and ten
  `TopicFeatures`, C 1, 10 and 1000; comp has 400 documents in 12 draws, sci 100 in 6 draws without
  one of three folds, about 33 a pair.
- The solver's constants were chosen on such cases.

## How to repeat it

```console
$ export KERNELWISE_DATA=...                         # the folder of the data sets
$ python -m benchmarks.generalized_bias              # on a machine that does nothing else
$ python -m benchmarks.generalized_bias --render     # only this page, from equalities.json
```
"""

EQUALITIES = Book(
    file="equalities",
    title="The solver of several equalities",
    introduction=(
        "`SeveralEqualities` solves the machines of `GeneralizedBiasSVC`, whose bias has features. "
        "What was to be reached, in every case:"
    ),
    how=_HOW,
    sections={SUITE: ("All families", _section)},
    targets=TARGETS,
)


def page(results: dict) -> str:
    """Return docs/equalities.md."""
    text = render.page(results, EQUALITIES)
    return text.replace("`python -m benchmarks`", "`python -m benchmarks.generalized_bias`", 1)


def write(output: Path) -> None:
    """Write the page beside the results."""
    if not output.is_file():
        raise SystemExit(f"{output} is missing: there is nothing to render.")
    files.replace(output.with_suffix(".md"), page(files.load(output)))
