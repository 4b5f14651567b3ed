"""The page, from the file of results alone."""

from pathlib import Path

from . import quality_plot, render
from . import results as files
from .books import Book
from .quality_names import FEWEST_ROWS, SEEDS
from .quality_sections import IMAGE, accuracies, costs, growths, stabilities, truths
from .quality_store import SUITE
from .quality_targets import QUALITY_TARGETS

_CHOOSE, _REPORT = (f"{seeds[0]} to {seeds[-1]}" for seeds in (SEEDS["choose"], SEEDS["report"]))
_HOW = f"""\
## How it is measured

- 18 public sets, most of UCI; the folder that `KERNELWISE_DATA` names has them as NAME.csv.gz, wine
  and digits (400 rows, by class, always the same) are scikit-learn's. wpbc is without `time` and
  horse_colic without `outcome`, which are known only when the class is. Classes with fewer than
  {FEWEST_ROWS} rows are dropped (two of ecoli, two rows each): they cannot be in every part.
- A split has 80 % training rows, by class. All that is fitted is fitted on them: the mean for
  missing numbers, the most frequent word for missing words, mean and deviation of every column.
  Two words are one column, more are a column each. All contenders get the same columns.
- doubled has as many columns of standard normal noise as the set has columns, x4 four times as
  many (sonar, ionosphere, glass, wdbc and ecoli only); noise is drawn anew for every split.
- Splits have numbers: choices are made on the splits {_CHOOSE}, which are not on this page, and the
  splits {_REPORT} are reported. They are other splits of the same sets, on which the recipe of
  `RelevanceSVC` was found: that it holds on other sets is not shown here.
- The grid is scikit-learn's `GridSearchCV(SVC())`: C from 0.1 to 1000 by 10, gamma from 1e-4 to 1
  in nine steps, 5 folds. `SelectKBest` keeps a quarter, half or all of the columns by the F test
  inside the folds; with five C and gamma of 0.3, 1 and 3 over the number that is kept, it has 45
  points too. All else are defaults, seeds apart.
- A difference is one of accuracies on the same splits, averaged within a set first; ± is the
  standard error of these means over the sets, and p that of Wilcoxon's two-sided signed-rank test
  over them. Splits of one set overlap, and the noisy sets are the clean ones with more columns.
- Every fit runs on one thread, and its time is CPU time; what compiles does so before.

## How to repeat it

```console
$ export KERNELWISE_DATA=...                                      # the folder of the data sets
$ python -m benchmarks.quality --jobs 2                           # what is not measured yet
$ python -m benchmarks.quality --only relevance --sets sonar      # some of it
$ python -m benchmarks.quality --again relevance                  # measure a contender again
$ python -m benchmarks.quality --cost                             # on an otherwise idle machine
$ python -m benchmarks.quality --truth
$ python -m benchmarks.quality --seeds choose                     # the splits to choose with
$ python -m benchmarks.quality --render                           # only this page
```
"""

QUALITY = Book(
    file="quality",
    title="How accurate RelevanceSVC is",
    introduction=(
        "`RelevanceSVC()`, the ensemble, and `RelevanceSVC(ensemble=False)`, the single machine, "
        "against a grid search, a forest, boosting and the other learners of the library. What was "
        "to be reached:"
    ),
    how=_HOW,
    sections={
        SUITE: ("Accuracy", accuracies),
        "cost": ("Cost against the grid", costs),
        "growth": ("Many rows", growths),
        "truth": ("Truth of the weights", truths),
        "stability": ("Stability of the weights", stabilities),
    },
    targets=QUALITY_TARGETS,
)


def page(results: dict) -> str:
    """Return docs/quality.md."""
    text = render.page(results, QUALITY)
    return text.replace("`python -m benchmarks`", "`python -m benchmarks.quality`", 1)


def write(output: Path) -> None:
    """Write the page and its picture beside the results."""
    if not output.is_file():
        raise SystemExit(f"{output} is missing: there is nothing to render.")
    results = files.load(output)
    quality_plot.draw(results, output.parent / IMAGE)
    files.replace(output.with_suffix(".md"), page(results))
