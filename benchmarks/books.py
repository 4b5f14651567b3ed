"""The books: suites that share a file of results, a page and what was to be reached."""

from collections.abc import Callable
from dataclasses import dataclass

from .learner_targets import LEARNER_TARGETS
from .sections import LEARNER_SECTIONS, SECTIONS
from .targets import EQUAL_OBJECTIVE, TARGETS, Target


@dataclass(frozen=True)
class Book:
    """A page and what it is made of.

    `file` names docs/FILE.json and the page docs/FILE.md; `sections` has for each suite a title
    and what writes its section. Only one book has a table in the README.
    """

    file: str
    title: str
    introduction: str
    how: str
    sections: dict[str, tuple[str, Callable[[dict], str]]]
    targets: tuple[Target, ...]
    in_readme: bool = False


_HOW = f"""\
## How it is measured

- The contenders take turns in one process, everybody first as often as others, so that
  disturbances meet all alike. One round before, with imports and compilation, is not timed. There
  are at least six rounds, three where a round takes more than four seconds.
- A time is the median of the wall times, ± half the inter-quartile range. A ratio is the peer's
  median divided by kernelwise's: 5x says that the peer takes five times as long.
- Machines change their speed within minutes. Ratios of fits that take some milliseconds move with
  it from run to run by more than ± says, so that a target reached by little is not reached each
  time.
- Every library is held to one thread; how many were busy is CPU time over wall time.
- `SVC` is scikit-learn's, "intelex" is that of scikit-learn-intelex. All have an RBF kernel with
  `gamma="scale"`, `tol=1e-3` and else their defaults. These include the memory for the kernel:
  `cache_size` is 200 MB in both peers, and up to 2 GB in kernelwise.
- The data are `make_classification(n, p, n_informative=p // 2, random_state=0)`, standardised,
  unless said otherwise.
- The solver's constants (first rows, growth, when to shrink) were chosen on these same data, at
  n from 1000 to 5000: other data may give other ratios.
- Two fits have equal objectives where the dual objective of kernelwise, which is minimised, is at
  most {EQUAL_OBJECTIVE:.0e} above the peer's, relative to it. Both are computed from `dual_coef_`
  with a kernel in float64 rounded to float32, the one that the solvers see.

## How to repeat it

```console
$ make bench                                  # all, on a machine that does nothing else
$ make bench BENCH_ARGS="--only fit predict"  # some suites; the others keep their results
$ make bench BENCH_ARGS=--render              # only this page, from docs/benchmarks.json
```
"""

_LEARNERS_HOW = """\
## How it is measured

- Everything runs on one thread. A time is CPU or wall time as said; where contenders are timed,
  they take turns in one process, everybody first as often as others, after a round that is not
  timed.
- A mean has the standard error of the mean behind it, ±, of the differences on the same rows where
  two methods are compared. Differences over several data sets are first averaged within a set (or
  a set with its noise), because splits of one set are not independent; p is that of Wilcoxon's
  two-sided signed-rank test over these means. Noisy sets of one original are not independent
  either, so that p and errors over them are optimistic.
- `SVC` and `GridSearchCV` are scikit-learn's. Accuracies are in percent, of rows that were not
  trained on; a point is one percent.
- The data sets are public ones, most of UCI; the folder that `KERNELWISE_DATA` names has them as
  NAME.csv.gz. Wine is scikit-learn's. Constants of the learners (16 evaluations, the widths and
  costs of the path) were chosen with some of these sets at hand.

## How to repeat it

```console
$ export KERNELWISE_DATA=...                             # the folder of the data sets
$ make bench BENCH_ARGS="--book learners"                # all suites of this page
$ make bench BENCH_ARGS="--only weights weight_steps"    # some; the others keep their results
$ make bench BENCH_ARGS="--book learners --render"       # only this page, from learners.json
```
"""

BENCHMARKS = Book(
    file="benchmarks",
    title="Benchmarks",
    introduction=(
        "kernelwise against its peers, on one thread. What was to be reached, in every case, fits "
        "with n from 1000 to 5000 and at equal objective:"
    ),
    how=_HOW,
    sections=SECTIONS,
    targets=TARGETS,
    in_readme=True,
)
LEARNERS = Book(
    file="learners",
    title="What the learners reach",
    introduction=(
        "`DualObjectiveSVC`, `AdaptiveKernelSVC` and `SVCSearchCV`: accuracy, and cost against "
        "scikit-learn's `SVC` and `GridSearchCV`. What was to be reached:"
    ),
    how=_LEARNERS_HOW,
    sections=LEARNER_SECTIONS,
    targets=LEARNER_TARGETS,
)
BOOKS = {book.file: book for book in (BENCHMARKS, LEARNERS)}
