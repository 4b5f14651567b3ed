"""The page docs/quality.md."""

from __future__ import annotations

from ..page import Page
from ..targets import Rows
from .comparison import Comparison
from .contenders import OURS
from .figure import peers_figure
from .measures import SMALLEST
from .suites import CLEAN, Generated, Imbalanced, Mixed, OnTables, Regression, Small
from .tables.catalogue import catalogue
from .targets import TARGETS

_HOW = f"""\
## How tables are compared

- Every table is split at random, by class; the same splits serve all methods. A difference is one
  of values on the same splits, averaged within a table first; ± is the standard error of these
  means over the tables. Every method is at its defaults, apart from seeds and threads, except for
  "LightGBM, early stopping" (15 leaves, rate 0.05, rounds by 15 % of the training rows, then fitted
  to all of them) and xRFM, which asks for rows to tune on and gets a fifth of the training rows.
- `RelevanceSVC`, `RelevanceSVR`, LightGBM, XGBoost, CatBoost and scikit-learn's histogram boosting
  get categories and gaps as they are. The others get one column per level (levels with fewer than 5
  rows share one, and there are at most 100), medians for missing numbers with a column that marks
  them, and columns of mean 0 and deviation 1. The time for that is not counted.
- AUC of several classes is the mean of each against the rest. A probability below {SMALLEST:g}
  counts as that in the log loss.
- CatBoost, the slowest, runs on fewer splits; its differences are on these splits.
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
    """Return the means of our models and the differences to some peers in words."""
    said = [
        _ahead(rows, Small(), "small tables", ("catboost", "lightgbm", "forest", "logistic")),
        _ahead(
            rows, Mixed(), "tables of thousands of rows with categories and gaps",
            ("lightgbm", "lightgbm_stopped", "catboost", "forest"),
        ),
        _ahead(rows, Regression(), "tables with a numeric target",
               ("catboost", "lightgbm", "forest", "ridge")),
    ]  # fmt: skip
    return "\n\n".join(filter(None, said))


def _ahead(rows: Rows, suite: OnTables, kind: str, peers: tuple[str, ...]) -> str:
    found = Comparison(rows.get(suite.name, []))
    mean = found.mean(CLEAN, OURS, suite.listed)
    known = {name: found.gain(CLEAN, OURS, name, suite.listed) for name in peers}
    told = [
        f"{'+' if gain.mean.value >= 0 else ''}{gain.mean.text(1)} to {suite.methods[name].label}"
        for name, gain in known.items()
        if gain is not None
    ]
    if mean is None or not told:
        return ""
    measure = "area under the ROC curve" if suite.listed == "auc" else "R²"
    return (
        f"On {len(found.tables(CLEAN))} {kind} {suite.methods[OURS].label} has a mean {measure} of "
        f"{mean:.1f} %. The differences to others, in points: {', '.join(told)}."
    )


PAGE = Page(
    name="quality",
    title="Quality of RelevanceSVC and RelevanceSVR",
    opening=_opening,
    picture=peers_figure,
    suites=(Small(), Mixed(), Imbalanced(), Regression(), Generated()),
    how=_HOW,
    targets=TARGETS,
)
