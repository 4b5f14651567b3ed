"""The page docs/learners.md."""

from __future__ import annotations

from benchmarks.engine import Drawing

from ..names import FAST_GRID, GRID
from ..page import Page
from ..summaries import accuracies, compared, cpu_ratio, gains
from ..targets import Rows
from ..text import digits
from .criteria import Criteria
from .defaults import Defaults
from .search import REFERENCE, Search
from .span_path import SpanPath
from .targets import TARGETS

_HOW = """\
## How it is measured

- Everything runs on one thread. A time is CPU or wall time as noted. Contenders that are timed take
  turns in one process, and each goes first equally often; a first round is not timed.
- ± is the standard error of a mean; if two methods are compared, of the differences on the same
  rows. Differences over several data sets are first averaged within a set (or a set with its
  noise), because splits of one set are not independent; p is that of Wilcoxon's two-sided
  signed-rank test over these means. Noisy versions of one set are not independent either, so that
  p and errors over them are optimistic.
- `SVC` and `GridSearchCV` are scikit-learn's. Accuracies are in percent, on rows that were not used
  for training; a point is one percent.
- The data sets are public, most of them from UCI; the folder that `KERNELWISE_DATA` names has them
  as NAME.csv.gz. Wine is scikit-learn's. Constants of the learners (16 evaluations, the widths and
  costs of the path) were chosen with some of these sets at hand.

## How to repeat it

```console
$ export KERNELWISE_DATA=...                                    # the folder of the data sets
$ make bench BENCH_ARGS=learners                                # all suites of this page
$ make bench BENCH_ARGS="learners-criteria learners-search"     # some of them
$ make bench BENCH_ARGS="learners --fresh"                      # measure again what is finished
$ make bench BENCH_ARGS="learners --render"                     # only this page
```
"""


def _opening(rows: Rows) -> str:
    parts = [
        "`DualObjectiveSVC`, `AdaptiveKernelSVC` and `SVCSearchCV`, on small public data sets."
    ]
    if path := rows.get("learners-span-path"):
        parts.append(
            "- `AdaptiveKernelSVC()` chooses width and C from the training rows alone. Over "
            f"{len(path)} sets its accuracy differs from that of scikit-learn's `GridSearchCV` "
            f"over the same points by {compared(path, 'span', GRID)} points, in "
            f"1/{digits(cpu_ratio(path, 'span', GRID), 2)} of the CPU time."
        )
    if search := rows.get("learners-search"):
        ratios = [row["times"][REFERENCE]["ratio"] for row in search]
        parts.append(
            "- `SVCSearchCV` makes the same search as `GridSearchCV(SVC())` "
            f"{digits(min(ratios), 2)} to {digits(max(ratios), 2)} times as fast."
        )
    if noisy := [row for row in rows.get("learners-criteria", []) if row["noise"]]:
        parts.append(
            "- `DualObjectiveSVC` learns one weight per feature. On sets with noise columns its "
            f"accuracy differs from that of `SVC()` by {compared(noisy, 'dual', 'SVC')} points. "
            "What the paper's own steps reach is on the page of the "
            "[reproduction](reproduction.md)."
        )
    return "\n\n".join([parts[0], "\n".join(parts[1:])]).strip()


def _picture(rows: Rows) -> Drawing | None:
    """Draw accuracy and CPU time against those of GridSearchCV, by set."""
    path = list(rows.get("learners-span-path", []))
    if not path:
        return None
    from matplotlib.figure import Figure

    path.sort(key=lambda row: accuracies([row], GRID)[0])
    places = range(len(path))
    figure = Figure(figsize=(8, 1.2 + 0.26 * len(path)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    left.axvline(0, color="0.6", lw=1)
    left.plot(gains(path, "span", GRID), places, "o", color="#D55E00")
    left.set(xlabel="accuracy - GridSearchCV, points", title="AdaptiveKernelSVC()")
    for method, colour, label in (
        ("span", "#D55E00", "AdaptiveKernelSVC()"), (FAST_GRID, "#0072B2", "SVCSearchCV"),
    ):  # fmt: skip
        ratios = [cpu_ratio([row], method, GRID) for row in path]
        right.plot(ratios, places, "o", color=colour, label=label)
    right.axvline(1, color="0.6", lw=1)
    right.set(xlabel="CPU time of GridSearchCV / own CPU time", xlim=(0, None), title="Speed")
    right.legend(fontsize="small", loc="lower right")
    for axes in (left, right):
        axes.grid(axis="y", lw=0.4)
    left.set_yticks(places, [row["dataset"] for row in path])
    caption = (
        "Left: accuracy of AdaptiveKernelSVC() minus that of GridSearchCV on each data set. Right: "
        "CPU time of GridSearchCV divided by that of AdaptiveKernelSVC() and of SVCSearchCV."
    )
    return Drawing("grid", caption, figure)


PAGE = Page(
    name="learners",
    title="Learned weights, widths and costs",
    opening=_opening,
    picture=_picture,
    suites=(Defaults(), Criteria(), SpanPath(), Search()),
    how=_HOW,
    targets=TARGETS,
)
