"""The pictures of the page: accuracy against noise, and differences to the grid by set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from kernelwise.experiments import Drawing

from .names import BOOSTING, ENSEMBLE, FOREST, FORMS, GRID, NOISE, NOISIEST, PLAIN, SINGLE
from .summaries import SetResults, gains, of

_PEERS = {  # colour, marker and label
    ENSEMBLE: ("#D55E00", "s-", "RelevanceSVC()"),
    BOOSTING: ("#009E73", "v--", "gradient boosting"),
    FOREST: ("#56B4E9", "^--", "random forest"),
    GRID: ("#0072B2", "o--", "grid search of SVC"),
    PLAIN: ("0.5", "x--", "SVC()"),
}
_FORMS = {SINGLE: ("#0072B2", "o", 0.15), ENSEMBLE: ("#D55E00", "s", -0.15)}


def noise_figure(sets: Sequence[SetResults]) -> Drawing | None:
    """Draw the mean accuracy of RelevanceSVC and its peers against the number of noise columns."""
    own = [each for each in sets if each.dataset in NOISIEST and each.condition in NOISE]
    peers = [name for name in _PEERS if any(name in each.found for each in own)]
    if len({each.condition for each in own}) < len(NOISE):
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for name in peers:
        colour, style, label = _PEERS[name]
        means = [fmean(filter(None, [s.accuracy(name) for s in of(own, c)])) for c in NOISE]
        wide = 2.2 if name == ENSEMBLE else 1.2
        axes.plot(list(NOISE.values()), means, style, color=colour, lw=wide, ms=5, label=label)
    axes.set_xticks(list(NOISE.values()))
    axes.set(xlabel="noise columns per real column", ylabel="mean test accuracy, %")
    axes.legend(fontsize="small")
    caption = (
        "Mean test accuracy of RelevanceSVC and its peers on five data sets against the number of "
        "noise columns that are added to them."
    )
    return Drawing("noise", caption, figure)


def by_set_figure(sets: Sequence[SetResults]) -> Drawing | None:
    """Draw both forms minus the grid, ± the standard error over the splits; worst clean first."""
    forms = [form for form in _FORMS if gains(sets, "clean", form, GRID)]
    if not forms:
        return None
    from matplotlib.figure import Figure

    worst = gains(sets, "clean", forms[-1], GRID)
    names = sorted(worst, key=lambda name: -worst[name])
    figure = Figure(figsize=(8, 1 + 0.27 * len(names)), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, condition in zip(panels, ("clean", "doubled"), strict=True):
        axes.axvline(0, color="0.6", lw=1)
        for form in forms:
            colour, marker, shift = _FORMS[form]
            found = _spreads(of(sets, condition), form)
            places = [i + shift for i, name in enumerate(names) if name in found]
            shown = [found[name] for name in names if name in found]
            axes.errorbar(
                [mean for mean, _ in shown], places, xerr=[error for _, error in shown],
                fmt=marker, ms=4, lw=1, color=colour, label=FORMS[form],
            )  # fmt: skip
        axes.set(title=condition, xlabel="accuracy - grid, points")
        axes.grid(axis="y", lw=0.4)
    panels[0].set_yticks(range(len(names)), names)
    panels[-1].legend(loc="best", fontsize="small")
    caption = (
        "Accuracy of the single machine and of the ensemble minus that of the grid search, by data "
        "set, without noise (left) and with as many noise columns (right)."
    )
    return Drawing("sets", caption, figure)


def _spreads(sets: Sequence[SetResults], form: str) -> dict[str, tuple[float, float]]:
    """Return the mean difference to the grid in points and its error over the splits, by set."""
    found = {}
    for each in sets:
        differences = [100 * (a - b) for a, b in each.pairs(form, GRID)]
        if differences:
            several = len(differences) > 1
            error = stdev(differences) / math.sqrt(len(differences)) if several else 0.0
            found[each.dataset] = (fmean(differences), error)
    return found
