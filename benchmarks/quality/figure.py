"""The picture of the page: our error divided by that of each peer, on tables of three kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.engine import Drawing

from ..targets import Rows
from .comparison import Comparison, Ratio
from .contenders import OURS
from .suites import CLEAN, Mixed, OnTables, Regression, Small

_AHEAD, _BEHIND = "#009E73", "#D55E00"
_LIMITS = (0.4, 1.6)  # of the axis
_PANELS: Mapping[OnTables, str] = {
    Small(): "small tables", Mixed(): "mixed tables", Regression(): "regression",
}  # fmt: skip


def peers_figure(rows: Rows) -> Drawing | None:
    """Draw the geometric mean of the ratios to each peer, with its error, over the tables."""
    found = {suite: ratios_of(suite, rows) for suite in _PANELS}
    known = {suite: ratios for suite, ratios in found.items() if ratios}
    if not known:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(known), 3.2), layout="constrained")
    panels = figure.subplots(1, len(known), squeeze=False)[0]
    for axes, (suite, ratios) in zip(panels, known.items(), strict=True):
        _panel(axes, suite, ratios)
        axes.set(xlim=_LIMITS, xlabel="our error / its error")
        axes.set_title(_PANELS[suite], fontsize="medium")
    caption = (
        "Error of RelevanceSVC() or RelevanceSVR() divided by that of each peer: geometric means "
        "with standard errors over the tables. Faint dots are the tables; left of 1 we are better."
    )
    return Drawing("peers", caption, figure)


def ratios_of(suite: OnTables, rows: Rows) -> dict[str, Ratio]:
    """Return the ratios to each peer, the largest mean first."""
    found = Comparison(rows.get(suite.name, []))
    ratios = {
        name: found.ratio(CLEAN, OURS, name) for name in found.contenders(CLEAN) if name != OURS
    }
    known = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    return dict(sorted(known.items(), key=lambda item: -item[1].mean))


def _panel(axes: Any, suite: OnTables, ratios: dict[str, Ratio]) -> None:
    """Draw one line of dots per peer; tables beyond the axis are left out."""
    axes.axvline(1, color="0.6", lw=1)
    for place, ratio in enumerate(ratios.values()):
        colour = _AHEAD if ratio.mean < 1 else _BEHIND
        values = list(ratio.by_table.values())
        axes.plot(values, [place] * len(values), ".", color=colour, alpha=0.25, ms=6, mew=0)
        axes.errorbar(
            ratio.mean, place, xerr=ratio.mean * ratio.spread, fmt="o", color=colour, ms=6, lw=1.8
        )
    labels = [suite.methods[name].label.replace("`", "") for name in ratios]
    axes.set_yticks(range(len(labels)), labels, fontsize="small")
