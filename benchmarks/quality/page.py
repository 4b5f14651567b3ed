"""The page docs/quality.md."""

from __future__ import annotations

from statistics import fmean

from kernelwise.experiments import Drawing

from ..page import Page
from ..summaries import signed_rank
from ..targets import Rows
from .accuracy import Accuracy
from .comparison import Comparison
from .copies import Copies
from .cost import Cost
from .growth import ManyRows
from .measures import SMALLEST
from .names import ENSEMBLE, FEWEST_ROWS, FOREST, GRID, SEEDS, SINGLE, UNCALIBRATED
from .noise_category import NoiseCategory
from .on_tables import CLEAN, Imbalanced, Mixed, Small
from .opponents import OPPONENTS, OURS, TODAY
from .probabilities import Coverage, PureNoise
from .recipes import Recipes
from .summaries import by_set, gains, speed_up
from .table_figures import peers_figure
from .table_targets import TABLE_TARGETS
from .tables.catalogue import catalogue
from .targets import TARGETS
from .truth import Stability, Truth

_CHOOSE, _REPORT = (f"{seeds[0]} to {seeds[-1]}" for seeds in (SEEDS["choose"], SEEDS["report"]))
_HOW = f"""\
## How tables are compared

- Every table is split at random, by class; the same splits serve all methods. A difference is one
  of values on the same splits, averaged within a table first; ± is the standard error of these
  means over the tables. Nothing was chosen on these tables: every method is at its defaults, apart
  from seeds and threads, except for "LightGBM, early stopping" (15 leaves, rate 0.05, rounds by
  15 % of the training rows, then fitted to all of them) and xRFM, which asks for rows to tune on
  and gets a fifth of the training rows.
- `RelevanceSVC`, LightGBM, XGBoost, CatBoost and `HistGradientBoostingClassifier` get categories
  and gaps as they are. The others get one column per level (levels with fewer than 5 rows share
  one, and there are at most 100), medians for missing numbers with a column that marks them, and
  columns of mean 0 and deviation 1. The time for that is not counted.
- AUC of several classes is the mean of each against the rest. A probability below {SMALLEST:g}
  counts as that in the log loss.
- CatBoost, the slowest, runs on fewer splits; its differences are on these splits. "version before"
  is `RelevanceSVC` before it had parts, with `CalibratedClassifierCV(ensemble=False)` for
  probabilities.
- CPU times are means over the tables of one fit, on one thread of a machine with other work.

{catalogue()}

## How the 18 sets are measured

- 18 public sets, most of them from UCI; the folder that `KERNELWISE_DATA` names has them as
  NAME.csv.gz. Wine and digits (always the same 400 rows, stratified) are scikit-learn's. wpbc is
  without `time` and horse_colic without `outcome`, which become known together with the class.
  Classes with fewer than {FEWEST_ROWS} rows are dropped (two of ecoli, with two rows each), because
  they cannot be in both parts of a split.
- A split has 80 % training rows, by class. Everything is fitted on them: the mean for missing
  numbers, the most frequent category for missing categories, mean and deviation of every column.
  Two categories become one column, more become one column each. All contenders get the same
  columns.
- doubled adds as many columns of standard normal noise as the set has columns, x4 four times as
  many (sonar, ionosphere, glass, wdbc and ecoli only); noise is drawn anew for every split.
- Splits are numbered: choices were made on splits {_CHOOSE}, which are not on this page, and splits
  {_REPORT} are reported. These are other splits of the same sets on which the recipe of
  `RelevanceSVC` was found: this page does not show that it holds on other sets.
- The grid is scikit-learn's `GridSearchCV(SVC())`: C from 0.1 to 1000 by factors of 10, gamma from
  1e-4 to 1 in nine steps, 5 folds. `SelectKBest` keeps a quarter, half or all of the columns by the
  F test inside the folds; with five C and gamma of 0.3, 1 and 3 divided by the number of columns
  kept, it has 45 points too. Everything else is at its default, apart from seeds.
- A difference is one of accuracies on the same splits, averaged within a set first; ± is the
  standard error of these means over the sets, and p that of Wilcoxon's two-sided signed-rank test
  over them. Splits of one set overlap, and the noisy sets are the clean ones with more columns.
- Every fit runs on one thread, and its time is CPU time, without compilation.
- All results of `RelevanceSVC` on this page were measured with the same code, apart from those on
  many rows and on the stability of the weights, which are older. Its CPU time and that of the grid
  on the 18 sets, of the version before on small tables and of LightGBM on small and mixed tables
  come from one run; those of other peers, and of the version before on mixed tables, from earlier
  ones.

## How to repeat it

```console
$ export KERNELWISE_DATA=...                                      # the folder of the data sets
$ python -m benchmarks quality --jobs 2                           # what is not measured yet
$ python -m benchmarks quality-accuracy --only contender=relevance dataset=sonar
$ python -m benchmarks quality-accuracy --only contender=relevance --fresh    # measure it again
$ python -m benchmarks quality-cost --fresh                       # on an otherwise idle machine
$ pip install "kernelwise[tables,peers,peers-torch]"
$ python -m benchmarks quality-small --today PYTHON               # with the older kernelwise
$ python -m benchmarks quality-choose                             # tables and splits to choose with
$ python -m benchmarks quality --render                           # only this page
```
"""


def _compared(found: dict[str, float]) -> str:
    """Return a mean difference in words, with p over the sets."""
    mean = fmean(found.values())
    test = signed_rank(list(found.values()))
    return f"{abs(mean):.1f} points {'more' if mean >= 0 else 'less'} accurate ({test})"


def on_sets(rows: Rows) -> str:
    """Return the result on the 18 sets, clean and with noise."""
    sets = by_set(rows.get("quality-accuracy", []))
    over = {c: gains(sets, c, ENSEMBLE, GRID) for c in ("clean", "doubled", "x4")}
    forest, single = (gains(sets, "doubled", ENSEMBLE, other) for other in (FOREST, SINGLE))
    if not all([*over.values(), forest, single]):
        return ""
    won = sum(gain > 0 for gain in over["doubled"].values())
    text = (
        f"Over {len(over['clean'])} public data sets `RelevanceSVC()` is "
        f"{_compared(over['clean'])} than a grid search of `SVC`. With as many noise columns as "
        f"real ones it is {_compared(over['doubled'])} than the grid search and better on {won} of "
        f"{len(over['doubled'])} sets; with four times as many it is {_compared(over['x4'])}, on "
        f"{len(over['x4'])} sets. On the doubled sets it is {_compared(forest)} than a random "
        f"forest and {_compared(single)} than `RelevanceSVC(ensemble=False)`, the single machine."
    )
    forms = (ENSEMBLE, UNCALIBRATED[ENSEMBLE], UNCALIBRATED[SINGLE])
    faster = [speed_up(rows.get("quality-cost", []), form) for form in forms]
    if all(faster):
        text += (
            " A fit takes 1/{:.0f} of the CPU time of the grid search, 1/{:.0f} without "
            "probabilities, and 1/{:.0f} with the single machine."
        ).format(*faster)
    return text


def _opening(rows: Rows) -> str:
    return "\n\n".join(filter(None, [_on_tables(rows), on_sets(rows)]))


def _on_tables(rows: Rows) -> str:
    """Return the result on tables that took no part in any choice."""
    small, mixed = (Comparison(rows.get(f"quality-{kind}", [])) for kind in ("small", "mixed"))
    said = [
        _ahead(small, "small tables", (TODAY, "catboost", "lightgbm", "logistic")),
        _ahead(mixed, "tables of thousands of rows with categories and gaps",
               ("lightgbm", "lightgbm_stopped", "catboost", "forest")),
    ]  # fmt: skip
    return "\n\n".join(filter(None, said))


def _ahead(found: Comparison, kind: str, peers: tuple[str, ...]) -> str:
    """Return the mean AUC and the differences to some peers in words."""
    mean = found.mean(CLEAN, OURS, "auc")
    known = {name: found.gain(CLEAN, OURS, name, "auc") for name in peers}
    told = [
        f"{'+' if gain.mean.value >= 0 else ''}{gain.mean.text(1)} to {_called(name)}"
        for name, gain in known.items()
        if gain is not None
    ]
    if mean is None or not told:
        return ""
    return (
        f"On {len(found.tables(CLEAN))} {kind} that took no part in any choice `RelevanceSVC()` "
        f"has a mean area under the ROC curve of {mean:.1f} %. The differences to others, in "
        f"points: {', '.join(told)}."
    )


def _called(name: str) -> str:
    return "the version before" if name == TODAY else OPPONENTS[name].label


def _picture(rows: Rows) -> Drawing | None:
    return peers_figure(rows.get("quality-small", []), rows.get("quality-mixed", []))


PAGE = Page(
    name="quality",
    title="Quality of RelevanceSVC",
    opening=_opening,
    picture=_picture,
    suites=(
        Small(),
        Mixed(),
        Recipes(),
        NoiseCategory(),
        Imbalanced(),
        PureNoise(),
        Coverage(),
        Copies(),
        Accuracy(),
        Cost(),
        ManyRows(),
        Truth(),
        Stability(),
    ),
    how=_HOW,
    targets=TABLE_TARGETS + TARGETS,
)
