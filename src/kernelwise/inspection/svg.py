"""Figures inside a page: the ink is the colour of the page's text."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

from .style import PALETTE, pyplot

_BARE = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def as_svg(figure: Any, *, title: str = "", name: str = "figure") -> str:
    """Return a figure as inline SVG whose ink is ``currentColor``: light and dark pages both work.

    The same figure gives the same text. Labels stay text, and the background is transparent.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure, as in ``display.figure_``.
    title : str, default=""
        What the figure shows, for who cannot see it.
    name : str, default="figure"
        What the ids of its parts begin with; another one for each figure of a page.

    Returns
    -------
    svg : str
        The element ``<svg>``.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from kernelwise.inspection import FeatureWeightsDisplay, as_svg
    >>> display = FeatureWeightsDisplay([0.7, 0.2, 0.1]).plot()
    >>> as_svg(display.figure_, title="Weights")[:4]
    '<svg'
    """
    if not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise ValueError(f"name={name!r} must be a letter, then letters, digits, '-' or '_'.")
    plt, buffer = pyplot(), io.StringIO()
    with plt.rc_context({"svg.hashsalt": "kernelwise", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=_BARE)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].strip()
    # matplotlib leaves black out where it fills, so that what the root says holds there.
    for colour in _inks(figure):
        svg = re.sub(rf"{colour}\b", "currentColor", svg, flags=re.IGNORECASE)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    about = f'role="img" aria-label="{escape(title)}"' if title else 'aria-hidden="true"'
    root = f'<svg {about} fill="currentColor" style="max-width: 100%; height: auto"'
    return svg.replace("<svg", root, 1)


def _inks(figure: Any) -> list[str]:
    """Return the colours of text and frames, in order, without those of data."""
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
