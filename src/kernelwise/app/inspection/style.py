"""The look of all plots: data in the palette of Okabe and Ito, all else in the user's style."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

import numpy as np

from ..._parameters import check_method
from ..._typing import Array

# Safe for colour-blind readers. The first three have a contrast of at least 3 to 1 to both white
# and black. The yellow and the black of the palette do not, and are left out.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("-", "--", ":", "-.")
_MARKERS = "osD^vP"
_MAX_MARKERS = 40  # points of a line above which markers would overlap


def pyplot() -> Any:
    """Import matplotlib, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib; install it with: pip install 'kernelwise[plot]'"
        ) from error
    return plt


def ink() -> Any:
    """Return the colour of text, for lines that are not data."""
    return pyplot().rcParams["text.color"]


def look(k: int, n_points: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the k-th line; they repeat after 24 lines."""
    n = len(PALETTE)
    return {
        "color": PALETTE[k % n],
        "linestyle": _DASHES[k // n % len(_DASHES)],
        "marker": _MARKERS[k % n] if n_points <= _MAX_MARKERS else None,
        "markersize": 3.5,
        "linewidth": 1.4,
    }


def colours(n: int) -> list[str]:
    """Return ``n`` colours of the palette, which repeat after six."""
    return [PALETTE[k % len(PALETTE)] for k in range(n)]


def short(name: Any, most: int = 28) -> str:
    """Return a name without its middle where it is too long for a label; escape "$".

    The ends stay because similar names often differ there.
    """
    text = str(name)
    if len(text) > most:
        text = f"{text[: most // 2].rstrip()}…{text[-(most - most // 2 - 1) :].lstrip()}"
    return text.replace("$", r"\$")


def bare(ax: Any) -> None:
    """Hide the upper and right border of the axes."""
    ax.spines[["top", "right"]].set_visible(False)


def panels(
    ax: Any, n: int, *, size: tuple[float, float], width_ratios: Any = None
) -> tuple[Any, Array]:
    """Return a figure and ``n`` axes side by side: new, given, or parts of a given one."""
    plt = pyplot()
    if ax is None:
        figure, axes = plt.subplots(
            1, n, figsize=size, width_ratios=width_ratios, layout="constrained", squeeze=False
        )
        return figure, axes.ravel()
    given = _axes(ax)
    if len(given) == n:
        return given[0].figure, given
    if len(given) > 1:
        raise ValueError(
            f"ax has {len(given)} axes, but {n} are needed; give {n}, or one to be divided."
        )
    spec = given[0].get_subplotspec()
    if spec is None:
        raise ValueError(f"ax cannot be divided: give {n} axes, or one made by plt.subplots.")
    given[0].set_axis_off()
    parts = spec.subgridspec(1, n, width_ratios=width_ratios)
    figure = given[0].figure
    return figure, np.array([figure.add_subplot(part) for part in parts], dtype=object)


def _axes(ax: Any) -> Array:
    """Return the given axes as an array; raise where there are others, or none."""
    from matplotlib.axes import Axes

    given = np.array(ax, dtype=object).ravel()
    if len(given) == 0 or not all(isinstance(each, Axes) for each in given):
        raise TypeError("ax must be axes of matplotlib, or None for a new figure.")
    return given


_BARE = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def as_svg(figure: Any, *, title: str = "", name: str = "figure") -> str:
    """Return a figure as inline SVG for light and dark pages.

    Text and frames take the colour of the page's text (``currentColor``), labels stay text, and
    the background is transparent. Equal figures give equal text.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure, as in ``display.figure_``.
    title : str, default=""
        A description of the figure for readers who cannot see it.
    name : str, default="figure"
        Prefix of the ids inside the SVG; it must differ between the figures of a page.

    Returns
    -------
    svg : str
        The element ``<svg>``.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from kernelwise.app.inspection import FeatureWeightsDisplay, as_svg
    >>> display = FeatureWeightsDisplay([0.7, 0.2, 0.1]).plot()
    >>> as_svg(display.figure_, title="Weights")[:4]
    '<svg'
    """
    check_method(figure, "figure", "savefig")
    if not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise ValueError(f"name={name!r} must be a letter, then letters, digits, '-' or '_'.")
    plt, buffer = pyplot(), io.StringIO()
    with plt.rc_context({"svg.hashsalt": "kernelwise", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=_BARE)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].strip()
    # matplotlib does not write the fill colour where it is black; the root element sets it.
    for colour in _inks(figure):
        svg = re.sub(rf"{colour}\b", "currentColor", svg, flags=re.IGNORECASE)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    about = f'role="img" aria-label="{escape(str(title))}"' if title else 'aria-hidden="true"'
    root = f'<svg {about} fill="currentColor" style="max-width: 100%; height: auto"'
    return svg.replace("<svg", root, 1)


def _inks(figure: Any) -> list[str]:
    """Return the colours of text and frames, sorted, except those that data have too."""
    from matplotlib.artist import Artist
    from matplotlib.colors import to_hex
    from matplotlib.spines import Spine
    from matplotlib.text import Text

    def is_ink(artist: Artist) -> bool:
        return isinstance(artist, Text | Spine)

    found = set()
    for artist in figure.findobj(is_ink):
        colour = artist.get_color() if isinstance(artist, Text) else artist.get_edgecolor()
        found.add(to_hex(colour))
    return sorted(found - {colour.lower() for colour in PALETTE})
