"""Plot the weights of features as bars."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Index
from .bars import draw_bars
from .style import ink
from .weights import read_weights


@dataclass(eq=False, repr=False)
class FeatureWeightsDisplay:
    """Plot of the weights of features as shares of their sum, the largest first.

    Of many features the largest are plotted, and the others are summed up in one line.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
        The weights, not negative; plotted as shares of their sum.
    feature_names : sequence of str of shape (n_features,), default=None
        Their names; None is x0, x1 and so on.
    selected : array-like of bool of shape (n_features,), default=None
        Which features were selected; the bars of the others are paler.
    interval : array-like of shape (2, n_features), default=None
        Lower and upper ends of the weights over resamples, in their units.
    frequency : array-like of shape (n_features,), default=None
        Share of the resamples that select each feature, between 0 and 1.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes.
    figure_ : matplotlib.figure.Figure
        The figure.
    order_ : ndarray of shape (n_shown,)
        The plotted features, from top to bottom.
    bars_ : matplotlib.container.BarContainer
        The bars.
    interval_ : matplotlib.collections.LineCollection or None
        The intervals, if there are any.
    equal_share_ : matplotlib.lines.Line2D
        The line at the share of each feature if all weights were equal.

    See Also
    --------
    weight_stability : How the weights vary over resamples of the rows.
    ImportanceDisplay : What the columns are worth on held-out rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_wine
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.app.inspection import FeatureWeightsDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = FeatureWeightsDisplay.from_estimator(RelevanceSVC().fit(X, y))
    >>> len(display.bars_)
    13
    """

    weights: Any
    _: KW_ONLY
    feature_names: Any = None
    selected: Any = None
    interval: Any = None
    frequency: Any = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        ax: Any = None,
        max_features: int = 30,
        color: Any = None,
    ) -> FeatureWeightsDisplay:
        """Plot the weights of a fitted estimator.

        Parameters
        ----------
        estimator : object
            A fitted estimator with ``feature_importances_`` or ``coef_``, or a pipeline or search
            that ends with one. Absolute values are plotted, of several machines their mean shares.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None makes a figure.
        max_features : int, default=30
            Largest number of features to plot.
        color : color or sequence of color of shape (n_features,), default=None
            The colour of the bars, or of the bar of each feature.

        Returns
        -------
        display : FeatureWeightsDisplay
            The display.
        """
        found = read_weights(estimator)
        display = cls(found.shares, feature_names=found.names, selected=found.selected)
        return display.plot(ax, max_features=max_features, color=color)

    def plot(
        self, ax: Any = None, *, max_features: int = 30, color: Any = None
    ) -> FeatureWeightsDisplay:
        """Plot the weights.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None makes a figure.
        max_features : int, default=30
            Largest number of features to plot.
        color : color or sequence of color of shape (n_features,), default=None
            The colour of the bars, or of the bar of each feature.

        Returns
        -------
        self : object
            The display.
        """
        weights = self._checked(max_features)
        total = float(weights.sum()) or 1.0
        shares, ends, right = 100 * weights / total, None, None
        if self.interval is not None:
            ends = 100 * np.asarray(self.interval, dtype=np.float64) / total
        if self.frequency is not None:
            often = [f"{100 * each:.0f} %" for each in np.asarray(self.frequency)]
            right = ("resamples that select it", often)
        order: Index = np.argsort(-shares, kind="stable")[:max_features]
        drawn = draw_bars(
            ax,
            shares,
            order,
            self.feature_names,
            ends=ends,
            color=color,
            pale=None if self.selected is None else ~np.asarray(self.selected, dtype=bool),
            rest=_rest(np.delete(shares, order)),
            right=right,
        )
        self.ax_, self.figure_, self.order_ = drawn.ax, drawn.ax.figure, order
        self.bars_, self.interval_ = drawn.artists, drawn.interval
        top = shares[order[0]] if ends is None else max(shares[order[0]], ends[1, order].max())
        self._mark_equal_share(100 / len(shares), float(top))
        return self

    def _checked(self, max_features: int) -> Array:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 1 or not weights.size:
            raise ValueError("weights must have one dimension and not be empty.")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("weights must be finite and not negative; take absolute values first.")
        for name in ("feature_names", "selected", "frequency"):
            own = getattr(self, name)
            if own is not None and len(own) != len(weights):
                raise ValueError(f"{name} has {len(own)} entries for {len(weights)} weights.")
        if self.interval is not None and np.shape(self.interval) != (2, len(weights)):
            raise ValueError(f"interval must have the shape (2, {len(weights)}).")
        if max_features < 1:
            raise ValueError(f"max_features={max_features} must be at least 1.")
        return weights

    def _mark_equal_share(self, equal: float, top: float) -> None:
        ax, ends = self.ax_, [-0.6, len(self.order_) - 0.5]
        (self.equal_share_,) = ax.plot([equal] * 2, ends, "--", color=ink(), linewidth=0.9)
        ax.set_xlim(0, 1.04 * max(top, equal))
        ax.set_xlabel("share of the weight, %")
        ax.annotate(
            "equal share",
            (equal, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="left" if equal < 0.1 * ax.get_xlim()[1] else "center",
            va="bottom",
            fontsize="small",
        )


def _rest(left: Array) -> str:
    """Return a summary of the features that are not plotted."""
    if not len(left):
        return ""
    if not left.any():
        return "no weight"
    together = f"{left.sum():.3g} %"
    return together if len(left) == 1 else f"{together} together, {left.max():.2g} % at most"
