"""Plot how the outputs of a model change with its leading columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._parameters import check_kind
from ..._typing import Array
from .effects import ColumnEffect, ColumnEffects, column_effects
from .style import PALETTE, bare, ink, look, pyplot, short

_MAX_LINES = 6  # classes that are drawn
_MAX_WORDS = 12  # values of a category that are drawn
_PER_ROW = 3  # panels side by side


class ColumnEffectsDisplay:
    """Plot of the partial dependence of a model on single columns.

    There is one panel per column. A line is the mean over the rows; the band holds the middle 80 %
    of the rows, moved to the same mean: where it is wide, the effect depends on other columns. Each
    value of a category has a dot. With more than two classes, or several targets, there is one line
    for each, without bands.

    Parameters
    ----------
    effects : ColumnEffects
        The result of `column_effects`.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The first axes.
    axes_ : ndarray of matplotlib.axes.Axes
        The axes, one per column.
    figure_ : matplotlib.figure.Figure
        The figure.
    lines_ : list of list of matplotlib.artist.Artist
        The lines or dots of each panel, one per class.

    See Also
    --------
    sklearn.inspection.PartialDependenceDisplay : Of models on numbers, for pairs of columns too.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_wine
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.app.inspection import ColumnEffectsDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = ColumnEffectsDisplay.from_estimator(RelevanceSVC().fit(X, y), X, max_columns=2)
    >>> len(display.axes_), len(display.lines_[0])
    (2, 3)
    """

    def __init__(self, effects: ColumnEffects) -> None:
        check_kind(effects, "effects", ColumnEffects)
        self.effects = effects

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        columns: Sequence[str] | None = None,
        max_columns: int = 6,
        ax: Any = None,
    ) -> ColumnEffectsDisplay:
        """Measure and plot the effects of the leading columns.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier or regressor, or a pipeline that ends with one.
        X : data frame or array-like of shape (n, n_columns)
            Rows such as those that it was fitted to.
        columns : sequence of str, default=None
            The columns; None is those that change the outputs most.
        max_columns : int, default=6
            Most columns, where they are not given.
        ax : sequence of matplotlib.axes.Axes, default=None
            One axes per column; None makes a figure.

        Returns
        -------
        display : ColumnEffectsDisplay
            The display.
        """
        return cls(column_effects(estimator, X, columns=columns, max_columns=max_columns)).plot(ax)

    def plot(self, ax: Any = None) -> ColumnEffectsDisplay:
        """Plot the effects.

        Parameters
        ----------
        ax : sequence of matplotlib.axes.Axes, default=None
            One axes per column; None makes a figure.

        Returns
        -------
        self : object
            The display.
        """
        effects = self.effects
        if not len(effects):
            raise ValueError("effects is empty: no column changes the outputs of the model.")
        outputs = effects.outputs[:_MAX_LINES]
        self.figure_, self.axes_ = self._panels(ax)
        self.ax_ = self.axes_[0]
        self.lines_ = []
        for axes, effect in zip(self.axes_, effects, strict=True):
            draw = _draw_words if effect.grid is None else _draw_numbers
            self.lines_.append(draw(axes, effect, outputs))
            axes.set_title(short(effect.name, 30), fontsize="medium")
            if effect.grid is None:
                axes.set_xlabel(self.effects.output, fontsize="small")
            bare(axes)
        self._share_limits(outputs)
        self._name_outputs(outputs)
        return self

    def _panels(self, ax: Any) -> tuple[Any, Array]:
        n = len(self.effects)
        if ax is not None:
            given = np.array(ax, dtype=object).ravel()
            if len(given) != n:
                raise ValueError(f"ax has {len(given)} axes for {n} columns.")
            return given[0].figure, given
        wide = min(n, _PER_ROW)
        high = -(-n // wide)
        figure, axes = pyplot().subplots(
            high, wide, figsize=(0.4 + 2.9 * wide, 2.5 * high), layout="constrained", squeeze=False
        )
        for unused in axes.ravel()[n:]:
            unused.set_axis_off()
        return figure, axes.ravel()[:n]

    def _share_limits(self, outputs: list[int]) -> None:
        """Give all panels the same outputs, so that small effects look small."""
        shown = [effect.mean[:, outputs].ravel() for effect in self.effects]
        shown += [
            each.missing[:, outputs].mean(0) for each in self.effects if each.missing is not None
        ]
        if len(outputs) == 1:
            shown += [effect.band[:, :, outputs].ravel() for effect in self.effects]
        low, high = np.concatenate(shown).min(), np.concatenate(shown).max()
        margin = 0.05 * (high - low)
        for axes, effect in zip(self.axes_, self.effects, strict=True):
            limits = axes.set_xlim if effect.grid is None else axes.set_ylim
            limits(low - margin, high + margin)

    def _name_outputs(self, outputs: list[int]) -> None:
        """Name the outputs: on the axes where there is one, else in a legend."""
        effects = self.effects
        if len(outputs) == 1:
            self.figure_.supylabel(short(effects.name_of(outputs[0]), 48))
            return
        self.figure_.supylabel(effects.output)
        names = [short(effects.class_of(k), 20) for k in outputs]
        left = len(effects.outputs) - len(outputs)
        title = f"{left} more" if left else None
        handles = self.lines_[0]
        self.figure_.legend(handles, names, loc="outside lower center", ncols=3, title=title)


def _draw_numbers(ax: Any, effect: ColumnEffect, outputs: list[int]) -> list[Any]:
    """Draw lines over numbers, with a band for a single one; return the lines."""
    grid: Any = effect.grid
    lines, mean = [], effect.mean
    for place, output in enumerate(outputs):
        style = look(place, len(grid)) | {"marker": None}
        if len(outputs) == 1:
            low, high = effect.band[:, :, output]
            ax.fill_between(grid, low, high, color=PALETTE[0], alpha=0.18, linewidth=0)
        (line,) = ax.plot(grid, mean[:, output], **style)
        lines.append(line)
        if effect.missing is not None:
            _draw_missing(ax, grid, effect.missing[:, output].mean(), style["color"])
    marks = {"color": ink(), "alpha": 0.5, "ms": 4, "clip_on": False}
    ax.plot(grid, np.zeros(len(grid)), "|", transform=ax.get_xaxis_transform(), **marks)
    if effect.is_date:
        ends = [0, len(grid) - 1][: len(grid)]
        ax.set_xticks(grid[ends], [effect.labels[k] for k in ends])
        for label, side in zip(ax.get_xticklabels(), ("left", "right"), strict=False):
            label.set_horizontalalignment(side)
    else:
        ax.locator_params(axis="x", nbins=4)
    return lines


def _draw_missing(ax: Any, grid: Array, value: float, colour: Any) -> None:
    """Draw the output for a missing number to the right of all numbers."""
    beyond = grid[-1] + 0.09 * (np.ptp(grid) or 1.0)
    ax.plot([beyond], [value], "D", ms=5, color=colour)
    offset = {"xytext": (0, 6), "textcoords": "offset points"}
    ax.annotate("missing", (beyond, value), ha="right", fontsize="small", **offset)


def _draw_words(ax: Any, effect: ColumnEffect, outputs: list[int]) -> list[Any]:
    """Draw dots for the values of a category, from top to bottom; return them."""
    mean = effect.mean
    shown = np.argsort(mean[:, outputs[-1]], kind="stable")
    shown = shown[:: max(1, -(-len(shown) // _MAX_WORDS))]
    places, dots = np.arange(len(shown)), []
    for place, output in enumerate(outputs):
        style = look(place, 1)
        colour, marker = style["color"], style["marker"]
        if len(outputs) == 1:
            low, high = effect.band[:, shown, output]
            ax.hlines(places, low, high, color=colour, alpha=0.35, linewidth=3)
        (own,) = ax.plot(mean[shown, output], places, marker, color=colour, ms=5)
        dots.append(own)
    ax.set_yticks(places, [short(effect.labels[k], 16) for k in shown], fontsize="small")
    ax.set_ylim(-0.6, len(shown) - 0.4)
    ax.locator_params(axis="x", nbins=4)
    return dots
