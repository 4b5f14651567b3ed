"""The picture of the page: how far our models are ahead of each peer, on tables of three kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.engine import Drawing

from ..targets import Rows
from .comparison import Comparison, Gain
from .contenders import OURS
from .suites import CLEAN, Mixed, OnTables, Regression, Small

_AHEAD, _BEHIND = "#009E73", "#D55E00"
# Title, range of the axis in points, and label of each panel.
_PANELS: Mapping[OnTables, tuple[str, tuple[float, float], str]] = {
    Small(): ("small tables", (-8, 14), "AUC"),
    Mixed(): ("mixed tables", (-8, 14), "AUC"),
    Regression(): ("regression", (-20, 40), "R²"),
}


def peers_figure(rows: Rows) -> Drawing | None:
    """Draw the mean difference to each peer, ± its standard error, over the tables."""
    found = {suite: gains_of(suite, rows) for suite in _PANELS}
    known = {suite: gains for suite, gains in found.items() if gains}
    if not known:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(known), 3.4), layout="constrained")
    panels = figure.subplots(1, len(known), squeeze=False)[0]
    for axes, (suite, gains) in zip(panels, known.items(), strict=True):
        title, limits, measure = _PANELS[suite]
        _panel(axes, suite, gains)
        axes.set(xlim=limits, xlabel=f"difference in {measure}, points")
        axes.set_title(title, fontsize="medium")
    caption = (
        "Mean area under the ROC curve, or R², of RelevanceSVC() or RelevanceSVR() minus that of "
        "each peer, in points, with standard errors over the tables. Faint dots are the tables."
    )
    return Drawing("peers", caption, figure)


def gains_of(suite: OnTables, rows: Rows) -> dict[str, Gain]:
    """Return the differences to each peer, the smallest mean first."""
    found = Comparison(rows.get(suite.name, []))
    gains = {
        name: found.gain(CLEAN, OURS, name, suite.listed)
        for name in found.contenders(CLEAN)
        if name != OURS
    }
    known = {name: gain for name, gain in gains.items() if gain is not None}
    return dict(sorted(known.items(), key=lambda item: item[1].mean.value))


def _panel(axes: Any, suite: OnTables, gains: dict[str, Gain]) -> None:
    """Draw one line of dots per peer; tables further off than the axis are left out."""
    axes.axvline(0, color="0.6", lw=1)
    for place, gain in enumerate(gains.values()):
        values = list(gain.by_table.values())
        colour = _AHEAD if gain.mean.value > 0 else _BEHIND
        axes.plot(values, [place] * len(values), ".", color=colour, alpha=0.25, ms=6, mew=0)
        axes.errorbar(
            gain.mean.value, place, xerr=gain.mean.error, fmt="o", color=colour, ms=6, lw=1.8
        )
    labels = [suite.methods[name].label.replace("`", "") for name in gains]
    axes.set_yticks(range(len(labels)), labels, fontsize="small")
