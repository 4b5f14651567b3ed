"""The picture of the page: differences to the grid by set."""

import math
from pathlib import Path
from statistics import fmean, stdev

from .quality_names import ENSEMBLE, FORMS, GRID, SINGLE
from .quality_reading import gains, of, pairs
from .quality_store import SUITE

_STYLES = {SINGLE: ("#0072B2", "o", 0.15), ENSEMBLE: ("#D55E00", "s", -0.15)}
_CONDITIONS = ("clean", "doubled")


def draw(results: dict, path: Path) -> None:
    """Draw both forms minus the grid, ± the standard error over the splits; worst clean first."""
    rows = results["suites"].get(SUITE, {}).get("rows", [])
    forms = [form for form in _STYLES if gains(rows, "clean", form, GRID)]
    if not forms:
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    worst = gains(rows, "clean", forms[-1], GRID)
    names = sorted(worst, key=lambda name: -worst[name])
    figure, panels = plt.subplots(
        1, len(_CONDITIONS), sharey=True, figsize=(8, 1 + 0.27 * len(names)), layout="constrained"
    )
    for axes, condition in zip(panels, _CONDITIONS, strict=True):
        axes.axvline(0, color="0.6", lw=1)
        for form in forms:
            colour, marker, shift = _STYLES[form]
            found = _spreads(of(rows, condition), form)
            places = [i + shift for i, name in enumerate(names) if name in found]
            chosen = [found[name] for name in names if name in found]
            axes.errorbar(
                [mean for mean, _ in chosen], places, xerr=[error for _, error in chosen],
                fmt=marker, ms=4, lw=1, color=colour, label=FORMS[form],
            )  # fmt: skip
        axes.set(title=condition, xlabel="accuracy - grid, points")
        axes.grid(axis="y", lw=0.4)
    panels[0].set_yticks(range(len(names)), names)
    panels[-1].legend(loc="best", fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without the version of matplotlib in it, the same numbers give the same file.
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)


def _spreads(rows: list[dict], form: str) -> dict[str, tuple[float, float]]:
    """Return the mean difference to the grid in points and its error over the splits, by set."""
    found = {}
    for row in rows:
        differences = [100 * (a - b) for a, b in pairs(row, form, GRID)]
        if differences:
            several = len(differences) > 1
            error = stdev(differences) / math.sqrt(len(differences)) if several else 0.0
            found[row["case"]["set"]] = (fmean(differences), error)
    return found
