"""The page docs/large_benchmarks.md."""

from __future__ import annotations

from statistics import mean

from benchmarks.engine import Drawing

from ..page import Page
from ..targets import Rows
from ..text import digits
from .contenders import LIGHTGBM
from .suite import MIDDLE, LargeTables
from .tables import TEST_ROWS
from .targets import TARGETS, gains, ratios

_HOW = f"""\
## How it is measured

- Each fit has a process of its own and one thread, and runs once. Times are CPU times. Accuracy,
  area under the ROC curve (of several classes: the mean over the classes) and log loss are on
  {TEST_ROWS:,} further rows, and so is the time of a prediction.
- The peak memory is that of the process during the fit, with Python and all libraries; the table
  is in memory, in float32, with the test rows.
- All methods have their defaults: `RelevanceSVC()` or `RelevanceSVR()` (kernelwise), LightGBM,
  scikit-learn's histogram boosting, and `StandardScaler`, `Nystroem(n_components=300)` and
  `SGDClassifier()` one after the other.
- classification: `make_classification`, 10 of 50 columns informative. mixture: ten classes of three
  Gaussians each in 10 of 30 columns. checkerboard: 8 x 8 in two of 20 uniform columns, 5 % of the
  labels turned. spirals: two noisy arms in two of 20 columns. categories: ten categories of 5 to
  200 levels and ten numbers, with interactions. friedman: `make_friedman1`, a number that depends
  on five of 20 columns.
- Generated tables favour methods whose assumptions they meet;
  [real tables](quality.md#tens-of-thousands-of-rows) are on another page.

## How to repeat it

```console
$ pip install 'kernelwise[peers]'
$ python -m benchmarks large              # on an otherwise idle machine
$ python -m benchmarks large --fresh      # measure again what is finished
$ python -m benchmarks large --render     # only this page, from benchmarks/results
```
"""


def _opening(rows: Rows) -> str:
    found = rows.get("large", [])
    accuracy, times = gains(found, MIDDLE, LIGHTGBM), ratios(found, "fit_seconds")
    if not accuracy:
        return ""
    better = sum(gain > 0 for gain in accuracy.values())
    return (
        f"On generated tables of {MIDDLE:,} rows kernelwise is more accurate than LightGBM with "
        f"its defaults on {better} of {len(accuracy)}, by {mean(accuracy.values()):+.2f} points on "
        f"average (the worst table: {min(accuracy.values()):+.2f}). A fit takes "
        f"{digits(min(times.values()), 2)} to {digits(max(times.values()), 2)} times LightGBM's "
        "CPU time."
    )


def _picture(rows: Rows) -> Drawing | None:
    """Draw the accuracy over that of LightGBM by table, and the time relative to it."""
    found = rows.get("large", [])
    accuracy, times = gains(found, MIDDLE, LIGHTGBM), ratios(found, "fit_seconds")
    if not accuracy:
        return None
    from matplotlib.figure import Figure

    names = list(reversed(accuracy))
    figure = Figure(figsize=(7, 1 + 0.3 * len(names)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    left.barh(names, [accuracy[name] for name in names], color="#0072B2")
    left.axvline(0, color="0.4", lw=1)
    left.set(xlabel="accuracy or R² - LightGBM's, points")
    right.barh(names, [times[name] for name in names], color="#D55E00")
    right.axvline(1, color="0.4", lw=1)
    right.set(xlabel="CPU time / LightGBM's")
    caption = (
        f"Generated tables of {MIDDLE:,} rows: accuracy, or R², of kernelwise minus that of "
        "LightGBM, and CPU time of a fit relative to LightGBM."
    )
    return Drawing("lightgbm", caption, figure)


PAGE = Page(
    name="large_benchmarks",
    title="Large tables, measured",
    opening=_opening,
    picture=_picture,
    suites=(LargeTables(),),
    how=_HOW,
    targets=TARGETS,
)
