"""Bars of columns, the longest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Index
from .style import PALETTE, bare, ink, panels, short

_PALE = 0.3  # opacity of pale bars


@dataclass(frozen=True)
class Bars:
    """The bars of some columns on an axes, from top to bottom; the others in one line below."""

    ax: Any
    order: Index
    artists: Any
    interval: Any


def draw_bars(
    ax: Any,
    values: Array,
    order: Index,
    names: Sequence[Any] | None,
    *,
    ends: Array | None = None,
    color: Any = None,
    pale: Any = None,
    rest: str = "",
    right: tuple[str, Sequence[str]] | None = None,
) -> Bars:
    """Draw the bars of the columns of ``order``.

    ``ends`` are those of intervals, of shape (2, n_columns); ``pale`` is a mask of columns;
    ``rest`` sums up the columns that are not drawn; ``right`` is a title and a text per column.
    """
    n_left = len(values) - len(order) if rest else 0
    places, n_lines = np.arange(len(order)), len(order) + (n_left > 0)
    _, axes = panels(ax, 1, size=(6.4, 1.2 + 0.23 * max(n_lines, 4)))
    ax = axes[0]
    colours = _colours(color, order, len(values))
    artists = ax.barh(places, values[order], height=0.7, color=colours)
    interval = None
    if ends is not None:
        interval = ax.hlines(places, *ends[:, order], color=ink(), linewidth=1.1)
    if pale is not None:
        _fade(artists, np.asarray(pale)[order])
    labels = [short(f"x{k}" if names is None else names[k]) for k in order]
    if n_left:
        labels.append(f"{n_left:,} other{'s' * (n_left > 1)}")
        style = {"va": "center", "fontsize": "small", "fontstyle": "italic"}
        offset = {"xytext": (4, 0), "textcoords": "offset points"}
        ax.annotate(rest, (0, len(order)), xycoords=("axes fraction", "data"), **offset, **style)
    ax.set_yticks(np.arange(n_lines), labels, fontsize="medium" if n_lines <= 15 else "small")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(n_lines - 0.4, -0.6)
    if right is not None:
        _write_right(ax, places, right[0], [right[1][k] for k in order])
    bare(ax)
    return Bars(ax, order, artists, interval)


def _fade(artists: Any, pale: Any) -> None:
    from matplotlib.colors import to_rgba

    for bar, is_pale in zip(artists, pale, strict=True):
        if is_pale:
            bar.set_edgecolor(bar.get_facecolor())
            bar.set_facecolor(to_rgba(bar.get_facecolor(), _PALE))


def _write_right(ax: Any, places: Index, title: str, texts: list[str]) -> None:
    """Write a text to the right of each bar."""
    right = ax.secondary_yaxis("right")
    right.set_yticks(places, texts, fontsize="small")
    right.tick_params(axis="y", length=0)
    right.spines["right"].set_visible(False)
    right.set_ylabel(title, fontsize="small")


def _colours(color: Any, order: Index, n_columns: int) -> Any:
    """Return the colour of all bars, or that of each bar, in their order."""
    from matplotlib.colors import is_color_like

    if color is None:
        return PALETTE[0]
    if is_color_like(color):
        return color
    is_list = hasattr(color, "__len__") and not isinstance(color, str) and len(color) == n_columns
    given = [*color] if is_list else []
    if not given or not all(map(is_color_like, given)):
        raise ValueError(
            f"color must be a colour of matplotlib, or one for each of the {n_columns} columns."
        )
    return [given[k] for k in order]
