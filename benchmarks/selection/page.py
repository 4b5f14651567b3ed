"""The page docs/selection.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from benchmarks.engine import Drawing, Row

from ..page import Page
from ..targets import Grouped, Overall, Reading, Rows, Target
from .problems import ODDS, SMALL, WIDE
from .suites import (
    FDR,
    FWER,
    RULE_NAMES,
    KnownTruths,
    MixedStrengths,
    NoiseTables,
    anything,
    by_shape,
    rates,
    share_found,
)

_GUARANTEED = ("linear", "radial", "XOR", "correlated groups")
_COLOURS = {"fdr": "#D55E00", "fwer": "#E69F00", "path": "#0072B2", "F": "0.5"}

_HOW = f"""\
## How it is measured

- "test" is `relevance_test(X, y)`, which `RelevanceSelector(test="fdr")` and `test="fwer"` use:
  the score test of a variance component under the learned prior, for what a column says alone and
  together with others. The p-values are corrected for the number of columns by Benjamini and
  Hochberg (FDR, at {FDR:g}) or by Holm (FWER, at {FWER:g}).
- "path" is the default of `RelevanceSelector`: columns are dropped along a path unless held-out
  rows lose by it. It has no error rate, and on tables of noise it keeps all columns.
- "F test" is scikit-learn's `SelectFdr` at {FDR:g}, which sees one column at a time.
- Every table is drawn anew. The test was chosen on other tables of the same kinds, so that this
  page does not show that it holds for other kinds.
- The test promises an error rate only for columns that are independent of the classes and of all
  other columns, and only approximately, because the prior is learned from the same rows. What is
  measured here is no promise for other tables.

## How to repeat it

```console
$ python -m benchmarks selection --jobs 2       # what is not measured yet
$ python -m benchmarks selection --render       # only this page
```
"""


def _false(p: int) -> Callable[[Sequence[Row]], list[Reading]]:
    def read(rows: Sequence[Row]) -> list[Reading]:
        own = [(name, found) for name, found in by_shape(rows, p) if name in _GUARANTEED]
        return [Reading(name, rates(found, "fdr")[0].value) for name, found in own]

    return read


def _recall(rows: Sequence[Row]) -> list[Reading]:
    own = [(name, found) for name, found in by_shape(rows, SMALL[1]) if name in _GUARANTEED]
    return [Reading(name, rates(found, "fdr")[1].value) for name, found in own]


def _weakest(rows: Sequence[Row]) -> list[Reading]:
    return [
        Reading(name, share_found(rows, "test", j)) for j, name in enumerate(ODDS if rows else ())
    ]


TARGETS: tuple[Target, ...] = (
    Grouped("strong and weak columns found by the test at FDR 0.1", "selection-mixed", 0.95,
            _weakest, unit=""),
    Overall(
        "tables of noise in which the test at FDR 0.1 selects anything", "selection-noise", 0.12,
        lambda rows: anything(rows, "fdr"), unit="", at_least=False,
    ),
    Grouped("false share of the test at FDR 0.1, 300 x 30", "selection-truth", 0.1,
            _false(SMALL[1]), unit="", at_least=False),
    Grouped("recall of the test at FDR 0.1, 300 x 30", "selection-truth", 0.95, _recall, unit=""),
    Grouped("false share of the test at FDR 0.1, 100 x 500", "selection-truth", 0.12,
            _false(WIDE[1]), unit="", at_least=False),
)  # fmt: skip


def _opening(rows: Rows) -> str:
    noise, truth = rows.get("selection-noise", []), rows.get("selection-truth", [])
    parts = []
    if noise:
        parts.append(
            "Which columns matter? `inspection.relevance_test` and "
            '`RelevanceSelector(test="fdr")` answer with an error rate. On '
            f"{len(noise)} tables of noise the test at a false discovery rate of {FDR:g} selects a "
            f"column in {100 * anything(noise, 'fdr'):.0f} % of them."
        )
    small, wide = ([found for _, found in by_shape(truth, p)] for p in (SMALL[1], WIDE[1]))
    if small and wide:
        worst, least = _worst(small)
        wide_worst, _ = _worst(wide)
        recalls = {own[0]["problem"]: 100 * rates(own, "fdr")[1].value for own in wide}
        hardest, easiest = (pick(recalls, key=recalls.__getitem__) for pick in (min, max))
        parts.append(
            f"With {SMALL[0]} rows and {SMALL[1]} columns at most {100 * worst:.0f} % of the "
            f"selected columns are false, on average over {len(small[0])} tables of each rule, and "
            f"at least {100 * least:.0f} % of the relevant ones are found. With {WIDE[0]} rows and "
            f"{WIDE[1]} columns at most {100 * wide_worst:.0f} % are false, and the test finds "
            f"{recalls[hardest]:.0f} % ({hardest}) to {recalls[easiest]:.0f} % ({easiest}) of the "
            "relevant columns."
        )
    return "\n\n".join(parts)


def _worst(groups: list[list[Row]]) -> tuple[float, float]:
    """Return the largest false share and the smallest recall of the test."""
    found = [rates(own, "fdr") for own in groups]
    return max(false.value for false, _ in found), min(recall.value for _, recall in found)


def _picture(rows: Rows) -> Drawing | None:
    """Draw the false share against the recall of each rule, at both sizes."""
    truth = list(rows.get("selection-truth", []))
    if not truth:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (n, p) in zip(panels, (SMALL, WIDE), strict=True):
        for rule, label in RULE_NAMES.items():
            found = [rates(own, rule) for _, own in by_shape(truth, p)]
            if not found:
                continue
            false, recall = ([mean.value for mean in means] for means in zip(*found, strict=True))
            axes.scatter(false, recall, s=22, color=_COLOURS[rule], label=label, clip_on=False)
            axes.scatter(fmean(false), fmean(recall), s=160, marker="+", color=_COLOURS[rule])
        axes.axvline(FDR, color="0.7", lw=0.8, ls=":")
        axes.set(title=f"{n} rows, {p} columns", xlabel="false share of the selected columns",
                 xlim=(0, 1), ylim=(0, 1.02))  # fmt: skip
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("relevant columns found")
    panels[0].legend(frameon=False, fontsize=8, loc="lower right")
    return Drawing(
        "rules",
        "False share of the selected columns against the share of relevant columns found, one dot "
        "per rule of the classes and a cross at the mean of each way to select",
        figure,
    )


PAGE = Page(
    "selection", "Selection with an error rate", _opening, _picture,
    (NoiseTables(), MixedStrengths(), KnownTruths()), _HOW, TARGETS,
)  # fmt: skip
