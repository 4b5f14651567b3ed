"""The picture of the page: how far RelevanceSVC is ahead of each peer, on tables of two kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernelwise.experiments import Drawing, Row

from .comparison import Comparison, Gain
from .on_tables import CLEAN
from .opponents import CALIBRATED, OPPONENTS, OURS

_AHEAD, _BEHIND = "#009E73", "#D55E00"


def peers_figure(small: Sequence[Row], mixed: Sequence[Row]) -> Drawing | None:
    """Draw the mean difference in AUC to each peer, ± its standard error, over the tables."""
    found = {"small tables": gains_of(small), "mixed tables": gains_of(mixed)}
    if not all(found.values()):
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, (title, gains) in zip(panels, found.items(), strict=True):
        _panel(axes, gains)
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel("difference in AUC, points")
    caption = (
        "Mean area under the ROC curve of RelevanceSVC() minus that of each peer, in points, with "
        "standard errors over the tables: small tables (left), and tables of thousands of rows "
        "with categories and gaps (right). Faint dots are the tables."
    )
    return Drawing("peers", caption, figure)


def gains_of(rows: Sequence[Row]) -> dict[str, Gain]:
    """Return the differences in AUC to each peer, the smallest mean first."""
    found = Comparison(rows)
    names = [name for name in found.contenders(CLEAN) if name not in (OURS, CALIBRATED)]
    gains = {name: found.gain(CLEAN, OURS, name, "auc") for name in names}
    known = {name: gain for name, gain in gains.items() if gain is not None}
    return dict(sorted(known.items(), key=lambda item: item[1].mean.value))


def _panel(axes: Any, gains: dict[str, Gain]) -> None:
    """Draw one line of dots per peer; tables further off than the axis are left out."""
    axes.axvline(0, color="0.6", lw=1)
    for place, gain in enumerate(gains.values()):
        values = list(gain.by_table.values())
        colour = _AHEAD if gain.mean.value > 0 else _BEHIND
        axes.plot(values, [place] * len(values), ".", color=colour, alpha=0.25, ms=6, mew=0)
        axes.errorbar(
            gain.mean.value, place, xerr=gain.mean.error, fmt="o", color=colour, ms=6, lw=1.8
        )
    labels = [OPPONENTS[name].label.replace("`", "") for name in gains]
    axes.set_yticks(range(len(labels)), labels, fontsize="small")
    axes.set_xlim(-8, 14)
