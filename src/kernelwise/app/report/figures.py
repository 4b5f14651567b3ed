"""The figures of the page, as inline SVG."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._models import final_estimator
from ..evaluation import CalibrationBin, Evaluation, HeldOut
from ..evaluation.results import LOSSES, METRICS, SHARES
from ..inspection import (
    ColumnEffects,
    ColumnEffectsDisplay,
    ComparisonDisplay,
    PathDisplay,
    as_svg,
)
from ..inspection.style import PALETTE, bare, ink, look, panels, pyplot, short
from .tables import ClassCurves, Reliability

_MAX_DOTS = 2000  # rows that are drawn
_PATH_CAPTION = (
    "Loss on held-out rows against the number of columns; rings mark the stages that the model "
    "mixes. Their loss is too low to be reported because they were selected by it."
)


def comparison_svg(evaluation: Evaluation) -> str:
    """Draw the scores of all methods on the same splits; "" where there is nothing to compare.

    Guessing is left out: its score would leave no room for the others.
    """
    metric = evaluation.metric
    known = [s for s in evaluation.scores if metric in s.values and s.method != "guessing"]
    if len(known) < 2 or evaluation.n_splits < 2:
        return ""
    factor, name = (100, METRICS[metric] + ", %") if metric in SHARES else (1, METRICS[metric])
    display = ComparisonDisplay(
        {score.label: factor * score.values[metric] for score in known},
        reference=known[0].label,
        test_ratio=evaluation.test_ratio,
        score_name=name,
        lower_is_better=metric in LOSSES,
    ).plot()
    display.axes_[1].set_xlabel("difference, 95 % interval")
    heading = METRICS[metric][0].upper() + METRICS[metric][1:]
    title = f"{heading} of {len(known)} methods on the same {evaluation.n_splits} splits"
    return _closed(display.figure_, title, "comparison")


def learning_svgs(model: Any) -> list[tuple[str, str]]:
    """Draw the path of a model over numbers of columns, if it has one; return it with a caption."""
    path = getattr(final_estimator(model), "path_", None) or {}
    if "n_features" not in path or len(set(path["n_features"].tolist())) < 2:
        return []
    figure = PathDisplay.from_estimator(model).figure_
    return [(_closed(figure, "Held-out loss and number of columns", "path"), _PATH_CAPTION)]


def reliability_svg(found: Reliability) -> str:
    """Draw the share of the second class over decision values or probabilities."""
    figure, (ax,) = panels(None, 1, size=(6.0, 3.4))
    x = [each.expected for each in found.bins]
    share = np.array([each.observed for each in found.bins])
    low = share - [each.low for each in found.bins]
    high = np.array([each.high for each in found.bins]) - share
    if found.probabilities:
        ax.plot([0, 1], [0, 100], "--", color=ink(), linewidth=0.9)
        ax.set_xlabel(f"predicted probability of {short(found.label, 20)}")
    else:
        ax.axvline(0, color=ink(), linewidth=0.9, linestyle="--")
        ax.set_xlabel("mean decision value")
    errors = 100 * np.maximum(0, [low, high])
    ax.errorbar(x, 100 * share, yerr=errors, fmt="o-", color=PALETTE[0], ms=5, lw=1.4, capsize=2)
    ax.set(ylim=(-3, 103), yticks=range(0, 101, 25))
    ax.set_ylabel(f"rows of {short(found.label, 20)}, %")
    bare(ax)
    what = "predicted probability" if found.probabilities else "decision value"
    return _closed(figure, f"Share of {found.label} among held-out rows by {what}", "reliability")


def curves_svg(curves: list[ClassCurves]) -> str:
    """Draw ROC and precision-recall curves, one line per class."""
    figure, (roc, recall) = panels(None, 2, size=(8.4, 3.5))
    roc.plot([0, 1], [0, 1], "--", color=ink(), linewidth=0.9)
    for k, each in enumerate(curves):
        style = look(k, 1000)
        roc.step(each.false_positive_rate, each.true_positive_rate, where="post", **style)
        recall.step(each.recall, each.precision, where="post", **style, label=short(each.label, 20))
        if len(curves) == 1:
            recall.axhline(each.share, color=ink(), linewidth=0.9, linestyle="--")
    roc.set(xlabel="false positive rate", ylabel="true positive rate (recall)", title="ROC")
    recall.set(xlabel="recall", ylabel="precision", title="precision and recall")
    for ax in (roc, recall):
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.title.set_fontsize("medium")
        bare(ax)
    if len(curves) > 1:
        recall.legend(frameon=False, fontsize="small")
    names = ", ".join(each.label for each in curves)
    return _closed(figure, f"ROC and precision-recall curves of {names}", "curves")


def effects_svg(effects: ColumnEffects) -> str:
    """Draw how the outputs change with the leading columns."""
    display = ColumnEffectsDisplay(effects).plot()
    names = ", ".join(effect.name for effect in effects)
    return _closed(display.figure_, f"Effects of the columns {names}", "effects")


def numbers_svg(held_out: HeldOut, name: str) -> str:
    """Draw observed against predicted numbers, and residuals against predicted ones."""
    figure, (left, right) = panels(None, 2, size=(8.4, 3.5))
    n = len(held_out.actual)
    some = np.sort(np.random.default_rng(0).permutation(n)[:_MAX_DOTS])
    predicted, actual = held_out.predicted[some], held_out.actual[some]
    dots = {"ls": "", "marker": "o", "ms": 3, "mew": 0, "alpha": 0.5, "color": PALETTE[0]}
    ends = [min(predicted.min(), actual.min()), max(predicted.max(), actual.max())]
    left.plot(ends, ends, "--", color=ink(), linewidth=0.9)
    left.plot(predicted, actual, **dots)
    left.set(xlabel=f"predicted {short(name, 20)}", ylabel=f"observed {short(name, 20)}")
    right.axhline(0, color=ink(), linewidth=0.9, linestyle="--")
    right.plot(predicted, actual - predicted, **dots)
    right.set(xlabel=f"predicted {short(name, 20)}", ylabel="observed - predicted")
    for ax in (left, right):
        ax.locator_params(nbins=5)
        bare(ax)
    return _closed(figure, f"Observed and predicted {name} of held-out rows", "numbers")


def coverage_svg(bins: tuple[CalibrationBin, ...]) -> str:
    """Draw the share of rows whose interval has the target over the level of the intervals."""
    figure, (ax,) = panels(None, 1, size=(4.6, 3.4))
    level = 100 * np.array([each.expected for each in bins])
    share = 100 * np.array([each.observed for each in bins])
    low = share - 100 * np.array([each.low for each in bins])
    high = 100 * np.array([each.high for each in bins]) - share
    ax.plot([level[0], 100], [level[0], 100], "--", color=ink(), linewidth=0.9)
    errors = np.maximum(0, [low, high])
    ax.errorbar(level, share, yerr=errors, fmt="o-", color=PALETTE[0], ms=5, lw=1.4, capsize=2)
    ax.set(xlabel="level of the intervals, %", ylabel="rows with the target inside, %")
    bare(ax)
    return _closed(figure, "Level of the intervals and share of rows inside", "coverage")


def _closed(figure: Any, title: str, name: str) -> str:
    svg = as_svg(figure, title=title, name=name)
    pyplot().close(figure)
    return svg
