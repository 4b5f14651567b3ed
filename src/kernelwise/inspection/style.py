"""How all plots look: data in the palette of Okabe and Ito, all else in the user's own style."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array

# Safe for colour-blind readers. The first three stand out on white as well as on black (3 to 1 at
# least); the yellow and the black of the palette do not, and are left out.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("-", "--", ":", "-.")
_MARKERS = "osD^vP"
_MANY = 40  # points of a line whose markers run into one another


def pyplot() -> Any:
    """Import matplotlib, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib; install it with: pip install 'kernelwise[plot]'"
        ) from error
    return plt


def ink() -> Any:
    """Return the colour of text, for lines that say something rather than show data."""
    return pyplot().rcParams["text.color"]


def look(k: int, n_points: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the k-th line; they repeat after 24."""
    n = len(PALETTE)
    return {
        "color": PALETTE[k % n],
        "linestyle": _DASHES[k // n % len(_DASHES)],
        "marker": _MARKERS[k % n] if n_points <= _MANY else None,
        "markersize": 3.5,
        "linewidth": 1.4,
    }


def colours(n: int) -> list[str]:
    """Return ``n`` colours of the palette, again from its beginning where it ends."""
    return [PALETTE[k % len(PALETTE)] for k in range(n)]


def short(name: Any, most: int = 28) -> str:
    """Return a name that is not too long for a label; "$" is no mathematics.

    What is left out is in the middle: names of one kind often differ at their ends.
    """
    text = str(name)
    if len(text) > most:
        text = f"{text[: most // 2].rstrip()}…{text[-(most - most // 2 - 1) :].lstrip()}"
    return text.replace("$", r"\$")


def bare(ax: Any) -> None:
    """Take away the lines around the data that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def panels(
    ax: Any, n: int, *, size: tuple[float, float], width_ratios: Any = None
) -> tuple[Any, Array]:
    """Return a figure and ``n`` axes side by side: new ones, those given, or parts of the one."""
    plt = pyplot()
    if ax is None:
        figure, axes = plt.subplots(
            1, n, figsize=size, width_ratios=width_ratios, layout="constrained", squeeze=False
        )
        return figure, axes.ravel()
    given = np.array(ax, dtype=object).ravel()
    if len(given) == n:
        return given[0].figure, given
    if len(given) > 1:
        raise ValueError(f"ax has {len(given)} axes, and {n} are needed; give as many, or one.")
    place = given[0].get_subplotspec()
    if place is None:
        raise ValueError(f"ax cannot be divided: give {n} axes, or one made by plt.subplots.")
    given[0].set_axis_off()
    parts = place.subgridspec(1, n, width_ratios=width_ratios)
    figure = given[0].figure
    return figure, np.array([figure.add_subplot(part) for part in parts], dtype=object)
