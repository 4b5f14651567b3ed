"""Plot what the columns are worth on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._parameters import check_kind
from .bars import draw_bars
from .importance import ColumnImportance, held_out_importance
from .style import ink


class ImportanceDisplay:
    """Plot of what shuffling each column costs on held-out rows, with its interval.

    The bars of columns whose cost may be chance are paler. On the right are the learned weights.

    Parameters
    ----------
    importance : ColumnImportance
        The result of `held_out_importance`.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes.
    figure_ : matplotlib.figure.Figure
        The figure.
    order_ : ndarray of shape (n_shown,)
        The plotted columns, from top to bottom.
    bars_ : matplotlib.container.BarContainer
        The bars.
    interval_ : matplotlib.collections.LineCollection
        The intervals.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_wine
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.app.inspection import ImportanceDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = ImportanceDisplay.from_estimator(RelevanceSVC().fit(X, y), X, y)
    >>> len(display.bars_)
    13
    """

    def __init__(self, importance: ColumnImportance) -> None:
        check_kind(importance, "importance", ColumnImportance)
        self.importance = importance

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        cv: Any = None,
        max_features: int = 30,
        ax: Any = None,
    ) -> ImportanceDisplay:
        """Measure and plot what the columns are worth.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier or regressor, or a pipeline that ends with one.
        X : data frame or array-like of shape (n, n_columns)
            The table, as the model reads it.
        y : array-like of shape (n,) or (n, n_targets)
            The classes or the target.
        cv : int, splitter, iterable, "prefit" or None, default=None
            The rows to hold out; see `held_out_importance`.
        max_features : int, default=30
            Largest number of columns to plot.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None makes a figure.

        Returns
        -------
        display : ImportanceDisplay
            The display.
        """
        found = held_out_importance(estimator, X, y, cv=cv)
        return cls(found).plot(ax, max_features=max_features)

    def plot(self, ax: Any = None, *, max_features: int = 30) -> ImportanceDisplay:
        """Plot the costs.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None makes a figure.
        max_features : int, default=30
            Largest number of columns to plot.

        Returns
        -------
        self : object
            The display.
        """
        found = self.importance
        known = int(np.isfinite(found.loss).sum())
        order = found.order[: min(known, max_features)]
        left = found.order[len(order) : known]
        rest = "not measured"
        if len(left):
            rest = f"{found.loss[left].max():.2g} at most"
        right = None
        if found.shares is not None:
            right = ("share of the weight", [f"{100 * each:.0f} %" for each in found.shares])
        drawn = draw_bars(
            ax,
            found.loss,
            order,
            found.feature_names,
            ends=np.array([found.low, found.high]),
            pale=~found.matters,
            rest=rest if len(order) < len(found.loss) else "",
            right=right,
        )
        self.ax_, self.figure_, self.order_ = drawn.ax, drawn.ax.figure, order
        self.bars_, self.interval_ = drawn.artists, drawn.interval
        self.ax_.axvline(0, color=ink(), linewidth=0.9)
        self.ax_.set_xlabel(f"increase of the {found.metric} when shuffled")
        return self
