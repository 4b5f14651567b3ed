"""The page docs/quality.md."""

from __future__ import annotations

from ..page import Page
from ..targets import Rows, verdicts
from .figure import peers_figure
from .measures import LEAST_ERROR, SMALLEST
from .overview import overview
from .suites import Functions, Generated, Imbalanced, Large, Mixed, Regression, Small
from .tables.catalogue import catalogue
from .targets import TARGETS

_HOW = f"""\
## How tables are compared

- Every table is split at random, by class; the same splits serve all methods. The error is the
  root mean squared error, the log loss of several classes, or 1 - AUC of two. A ratio is one of
  means over the splits that two methods share (an error below {LEAST_ERROR:g} counts as that);
  ratios are averaged over the tables by their logarithms, ± is the standard error of that mean.
- Every method is at its defaults, apart from seeds and threads, except for "LightGBM, early
  stopping" (15 leaves, rate 0.05, rounds by 15 % of the training rows, then fitted to all of them)
  and xRFM, which asks for rows to tune on and gets a fifth of the training rows.
- `RelevanceSVC`, `RelevanceSVR`, LightGBM, XGBoost, CatBoost and scikit-learn's histogram boosting
  get categories and gaps as they are. The others get one column per level (levels with fewer than 5
  rows share one, and there are at most 100), medians for missing numbers with a column that marks
  them, and columns of mean 0 and deviation 1. The time for that is not counted.
- AUC of several classes is the mean of each against the rest. A probability below {SMALLEST:g}
  counts as that in the log loss.
- CatBoost, the slowest, runs on fewer splits; its ratios are on these splits.
- CPU times are means over the tables of one fit, on one thread of a machine with other work.

{catalogue()}

## How to repeat it

```console
$ export KERNELWISE_DATA=FOLDER                                   # with pmlb/NAME.tsv.gz
$ pip install "kernelwise[tables,peers,peers-torch]"
$ python -m benchmarks quality --jobs 2                           # what is not measured yet
$ python -m benchmarks quality-small --only contender=relevance dataset=crabs
$ python -m benchmarks quality --only contender=relevance --fresh # measure it again
$ python -m benchmarks quality --render                           # only this page
```
"""


def _opening(rows: Rows) -> str:
    """Return our errors relative to those of peers, and the targets that are missed."""
    table = overview(rows)
    return f"{table}\n\n{_verdict(rows)}" if table else ""


def _verdict(rows: Rows) -> str:
    """Return how many targets are met, and the names of those that are not."""
    measured = [one for one in verdicts(rows, TARGETS) if one["cases"]]
    missed = [one for one in measured if one["misses"]]
    if not missed:
        return f"All {len(measured)} [targets](#targets) that are measured are met."
    named = "\n".join(f"- {one['target']}: {one['goal']}, is {one['worst']}" for one in missed)
    return (
        f"Of {len(measured)} [targets](#targets) that are measured, {len(missed)} are missed (the "
        f"number is the worst case):\n\n{named}"
    )


PAGE = Page(
    name="quality",
    title="Quality of RelevanceSVC and RelevanceSVR",
    opening=_opening,
    picture=peers_figure,
    suites=(
        Small(), Mixed(), Large(), Imbalanced(), Regression(), Functions(), Generated(),
    ),
    how=_HOW,
    targets=TARGETS,
)  # fmt: skip
