"""The page docs/benchmarks.md."""

from __future__ import annotations

from statistics import median

from benchmarks.engine import Drawing, Row

from ..page import Page
from ..targets import EQUAL_OBJECTIVE, Rows
from ..text import digits
from .family import Family
from .fit import Fit, Multiclass
from .gram import KernelMatrices
from .growth import Growth
from .peer_cells import PEERS
from .predict import Predict
from .relevance import Relevance
from .startup import Startup
from .targets import TARGETS
from .warm import WarmStarts

_COLOURS = {"SVC": "#0072B2", "intelex": "#D55E00"}
_LABELS = {"SVC": "scikit-learn's SVC", "intelex": "scikit-learn-intelex's SVC"}

_HOW = f"""\
## How it is measured

- The contenders take turns in one process. Each goes first equally often, so that background load
  affects all of them equally. A first round, with imports, is not timed. There are
  at least six rounds, or three if a round takes more than four seconds.
- A time is the median of the wall times, ± half the inter-quartile range. A ratio is the peer's
  median divided by kernelwise's: 5x means that the peer takes five times as long.
- The clock speed of a machine changes within minutes. Ratios of fits that take a few milliseconds
  vary between runs by more than ± suggests, so a target met by a small margin may be missed in
  another run.
- Every library is limited to one thread; the number of busy threads is CPU time over wall time.
- `SVC` is scikit-learn's, "intelex" is that of scikit-learn-intelex. All use an RBF kernel with
  `gamma="scale"`, `tol=1e-3` and otherwise their defaults. These include the memory for the kernel:
  `cache_size` is 200 MB for both peers, and up to 2 GB for kernelwise.
- The data are `make_classification(n, p, n_informative=p // 2, random_state=0)`, standardised,
  unless noted otherwise.
- The solver's constants (first rows, growth, when to shrink) were chosen on the same data, with
  n from 1000 to 5000: ratios on other data may differ.
- Two fits have equal objectives if the dual objective of kernelwise, which is minimised, is at
  most {EQUAL_OBJECTIVE:.0e} above the peer's, relative to it. Both are computed from `dual_coef_`
  with a kernel in float64 rounded to float32, the one that the solvers see.

## How to repeat it

```console
$ make bench                                           # all, on an otherwise idle machine
$ make bench BENCH_ARGS="speed-fit speed-predict"      # some suites
$ make bench BENCH_ARGS="speed --fresh"                # measure again what is finished
$ make bench BENCH_ARGS="speed --render"               # only this page, from benchmarks/results
```
"""


def _median_ratio(rows: list[Row], peer: str) -> str:
    found = [row["times"][peer]["ratio"] for row in rows if peer in row["times"]]
    return digits(median(found), 2) if found else ""


def _opening(rows: Rows) -> str:
    fits, predictions = (list(rows.get(f"speed-{name}", [])) for name in ("fit", "predict"))
    if not fits:
        return ""
    fit = {peer: _median_ratio(fits, peer) for peer in PEERS}
    text = (
        f"On one thread and at an equal objective, `kernelwise.SVC` fits {fit['SVC']} times as "
        "fast as scikit-learn's `SVC`"
    )
    if fit["intelex"]:
        text += f" and {fit['intelex']} times as fast as that of scikit-learn-intelex"
    sizes = sorted({row["n"] for row in fits})
    text += f" (medians over {len(fits)} tables of {sizes[0]:,} to {sizes[-1]:,} rows)."
    if predictions:
        predict = {peer: _median_ratio(predictions, peer) for peer in PEERS}
        text += f" It predicts {predict['SVC']} times as fast as scikit-learn's"
        text += (
            f" and {predict['intelex']} times as fast as intelex's" if predict["intelex"] else ""
        )
        text += "."
    if slow := list(rows.get("speed-multiclass", [])):
        text += (
            " With ten small classes (45 one-vs-one machines) the gain is smaller: it fits "
            f"{_median_ratio(slow, 'SVC')} times as fast as scikit-learn's."
        )
    return text


def _picture(rows: Rows) -> Drawing | None:
    """Draw how many times as long the peers take for a fit, against the number of rows."""
    fits = rows.get("speed-fit", [])
    if not fits:
        return None
    from matplotlib.figure import Figure

    columns = sorted({row["p"] for row in fits})
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    panels = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    for axes, p in zip(panels, columns, strict=True):
        mine = [row for row in fits if row["p"] == p]
        sizes = sorted({row["n"] for row in mine})
        for peer, colour in _COLOURS.items():
            found = [
                [r["times"][peer]["ratio"] for r in mine if r["n"] == n and peer in r["times"]]
                for n in sizes
            ]
            if not all(found):
                continue
            axes.fill_between(
                sizes, list(map(min, found)), list(map(max, found)), color=colour, alpha=0.2, lw=0
            )
            axes.plot(
                sizes, list(map(median, found)), "o-", ms=4, color=colour, label=_LABELS[peer]
            )
        axes.axhline(1, color="0.4", lw=1)
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize="small")
        axes.minorticks_off()
        axes.set(title=f"{p} columns", xlabel="rows")
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("time of the peer / own time")
    panels[0].legend(fontsize="small")
    caption = (
        "Time of a fit by other libraries divided by that of kernelwise, against the number of "
        "rows: median and range over C = 1, 10 and 100. Above the line at 1 kernelwise is faster."
    )
    return Drawing("fit", caption, figure)


PAGE = Page(
    name="benchmarks",
    title="Speed",
    opening=_opening,
    picture=_picture,
    suites=(
        Fit(), Predict(), KernelMatrices(), WarmStarts(), Multiclass(), Family(),
        Growth(), Relevance(), Startup(),
    ),
    how=_HOW,
    targets=TARGETS,
)  # fmt: skip
