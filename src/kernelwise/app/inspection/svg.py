"""Figures as inline SVG, in the text colour of the page."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

from ..._checks import check_method
from .style import PALETTE, pyplot

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
