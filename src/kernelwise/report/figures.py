"""The figures of the page, as inline SVG in the colour of its text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluation import Evaluation
from ..evaluation.results import METRICS
from ..inspection import ComparisonDisplay, ConvergenceDisplay, KernelPathDisplay, as_svg
from ..inspection.style import PALETTE, bare, ink, panels, pyplot, short
from .tables import Reliability

_PATH = "What was measured along the width of the kernel; the ring marks the choice."
_HISTORY = (
    "What was minimised, and the columns that are heaviest in the end, along the evaluations of "
    "the fit. A peak is a step that was tried and not taken."
)


def comparison_svg(evaluation: Evaluation) -> str:
    """Draw the scores of all methods on the same splits; "" where there is nothing to compare.

    The largest class is far off as a rule, and would squeeze the others.
    """
    known = [s for s in evaluation.scores if not s.failure and s.method != "majority"]
    if len(known) < 2 or evaluation.n_splits < 2:
        return ""
    name = METRICS[evaluation.metric]
    display = ComparisonDisplay.from_results(
        {score.label: 100 * score.values[evaluation.metric] for score in known},
        reference=known[0].label,
        test_ratio=evaluation.test_ratio,
        score_name=f"{name}, %",
    )
    display.axes_[1].set_xlabel("difference, 95 % interval")
    title = f"{name.capitalize()} of {len(known)} methods on the same {evaluation.n_splits} splits"
    return _closed(display.figure_, title, "comparison")


def learning_svgs(model: Any, machine: Any) -> list[tuple[str, str]]:
    """Draw what the machine measured while it learned, as far as it keeps that; with captions."""
    found = []
    if "bound" in (getattr(machine, "path_", None) or {}):
        figure = KernelPathDisplay.from_estimator(model).figure_
        svg = _closed(figure, "Bound and errors along the width of the kernel", "path")
        found.append((svg, _PATH))
    if getattr(machine, "history_", None):
        figure = ConvergenceDisplay.from_estimator(model).figure_
        title = "The criterion and the largest weights along the evaluations of the fit"
        found.append((_closed(figure, title, "learning"), _HISTORY))
    return found


def reliability_svg(found: Reliability) -> str:
    """Draw the share of the second class over decision values or probabilities."""
    figure, (ax,) = panels(None, 1, size=(6.0, 3.4))
    x = [each.middle for each in found.bins]
    share = np.array([each.share for each in found.bins])
    low = share - [each.share_low for each in found.bins]
    high = np.array([each.share_high for each in found.bins]) - share
    if found.probabilities:
        ax.plot([0, 1], [0, 100], "--", color=ink(), linewidth=0.9)
        ax.set_xlabel(f"predicted probability of {short(found.label, 20)}")
    else:
        ax.axvline(0, color=ink(), linewidth=0.9, linestyle="--")
        ax.set_xlabel("decision value, mean of the rows")
    errors = 100 * np.maximum(0, [low, high])
    ax.errorbar(x, 100 * share, yerr=errors, fmt="o-", color=PALETTE[0], ms=5, lw=1.4, capsize=2)
    ax.set(ylim=(-3, 103), yticks=range(0, 101, 25))
    ax.set_ylabel(f"rows of {short(found.label, 20)}, %")
    bare(ax)
    what = "predicted probability" if found.probabilities else "decision value"
    return _closed(figure, f"Share of {found.label} among held-out rows by {what}", "reliability")


def _closed(figure: Any, title: str, name: str) -> str:
    svg = as_svg(figure, title=title, name=name)
    pyplot().close(figure)
    return svg
