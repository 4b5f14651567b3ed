"""Plot the weights of features: bars for one machine, a map for several."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from .._typing import Array, Index
from .style import PALETTE, bare, ink, panels, short
from .weights import read_weights, shares

_PALE = 0.3  # opacity of the bars of features that were not selected


@dataclass(eq=False, repr=False)
class FeatureWeightsDisplay:
    """Plot of the weights of features as shares of their sum, the largest first.

    Of many features the largest are plotted, and the others are summed up in one line. Several
    machines become a map with one column per machine.

    Parameters
    ----------
    weights : array-like of shape (n_features,) or (n_machines, n_features)
        The weights, not negative; plotted as shares of their sum.
    feature_names : sequence of str of shape (n_features,), default=None
        Their names; None is x0, x1 and so on.
    machine_names : sequence of str of shape (n_machines,), default=None
        The names of several machines.
    selected : array-like of bool of shape (n_features,), default=None
        Which features were selected; the bars of the others are paler.
    interval : array-like of shape (2, n_features), default=None
        Lower and upper ends of the weights over resamples, in their units; for one machine.
    frequency : array-like of shape (n_features,), default=None
        Share of the resamples that select each feature, between 0 and 1; for one machine.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes.
    figure_ : matplotlib.figure.Figure
        The figure.
    order_ : ndarray of shape (n_shown,)
        The plotted features, from top to bottom.
    bars_ : matplotlib.container.BarContainer or None
        The bars; None for a map.
    image_ : matplotlib.image.AxesImage or None
        The map; None for bars.
    interval_ : matplotlib.collections.LineCollection or None
        The intervals, if there are any.
    equal_share_ : matplotlib.lines.Line2D or None
        The line at the share of each feature if all weights were equal; None for a map.
    rest_ : str
        A summary of the features that are not plotted; "" where all are.

    See Also
    --------
    weight_stability : How the weights vary over resamples of the rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_wine
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.inspection import FeatureWeightsDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = FeatureWeightsDisplay.from_estimator(RelevanceSVC().fit(X, y))
    >>> len(display.bars_)
    13
    """

    weights: Any
    _: KW_ONLY
    feature_names: Any = None
    machine_names: Any = None
    selected: Any = None
    interval: Any = None
    frequency: Any = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        attribute: str = "auto",
        feature_names: Any = None,
        ax: Any = None,
        max_features: int = 30,
        scale: str = "linear",
        color: Any = None,
    ) -> FeatureWeightsDisplay:
        """Plot the weights of a fitted estimator.

        Parameters
        ----------
        estimator : object
            A fitted estimator, or a pipeline or search that ends with one.
        attribute : str, default="auto"
            The attribute with the weights, for instance ``"feature_weights_"``, which has one row
            per machine where each has its own. "auto" is ``"feature_importances_"``, else
            ``"coef_"``. Absolute values are plotted.
        feature_names : sequence of str of shape (n_features,), default=None
            The names of the weighted features; None takes those that the estimator knows.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None makes a figure.
        max_features : int, default=30
            Largest number of features to plot.
        scale : {"linear", "sqrt"}, default="linear"
            The scale of the shares; "sqrt" keeps small bars visible.
        color : color or sequence of color of shape (n_features,), default=None
            The colour of the bars, or of the bar of each feature.

        Returns
        -------
        display : FeatureWeightsDisplay
            The display.
        """
        found = read_weights(estimator, attribute=attribute, feature_names=feature_names)
        display = cls(
            found.values[0] if len(found.values) == 1 else found.values,
            feature_names=found.names,
            machine_names=found.machines,
            selected=found.selected,
        )
        return display.plot(ax, max_features=max_features, scale=scale, color=color)

    def plot(
        self, ax: Any = None, *, max_features: int = 30, scale: str = "linear", color: Any = None
    ) -> FeatureWeightsDisplay:
        """Plot the weights.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None makes a figure.
        max_features : int, default=30
            Largest number of features to plot.
        scale : {"linear", "sqrt"}, default="linear"
            The scale of the shares; "sqrt" keeps small bars visible. Not for a map.
        color : color or sequence of color of shape (n_features,), default=None
            The colour of the bars, or of the bar of each feature. Not for a map.

        Returns
        -------
        self : object
            The display.
        """
        self._check(max_features, scale)
        table = 100 * shares(np.atleast_2d(np.asarray(self.weights, dtype=np.float64)))
        mean = table.mean(axis=0)
        self.order_: Index = np.argsort(-mean, kind="stable")[:max_features]
        colours = _colours(color, self.order_, len(mean))
        left = np.delete(mean, self.order_)
        self.rest_ = _rest(left)
        rows = len(self.order_) + (len(left) > 0)
        self.figure_, axes = panels(ax, 1, size=(6.4, 1.2 + 0.23 * max(rows, 4)))
        self.ax_ = axes[0]
        self.bars_: Any = None
        self.image_: Any = None
        self.interval_: Any = None
        self.equal_share_: Any = None
        if len(table) > 1:
            self._draw_map(table)
        else:
            self._draw_bars(mean, scale, colours)
        self._name_rows(len(left))
        return self

    def _check(self, max_features: int, scale: str) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim not in (1, 2) or not weights.size:
            raise ValueError("weights must have one or two dimensions and not be empty.")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("weights must be finite and not negative; take absolute values first.")
        for name in ("feature_names", "selected", "frequency"):
            own = getattr(self, name)
            if own is not None and len(own) != weights.shape[-1]:
                raise ValueError(f"{name} has {len(own)} entries for {weights.shape[-1]} weights.")
        if self.interval is not None and np.shape(self.interval) != (2, weights.shape[-1]):
            raise ValueError(f"interval must have the shape (2, {weights.shape[-1]}).")
        if max_features < 1:
            raise ValueError(f"max_features={max_features} must be at least 1.")
        if scale not in ("linear", "sqrt"):
            raise ValueError(f"scale={scale!r} must be 'linear' or 'sqrt'.")

    def _draw_bars(self, mean: Array, scale: str, colours: Any) -> None:
        ax, order = self.ax_, self.order_
        places = np.arange(len(order))
        if scale == "sqrt":
            ax.set_xscale("function", functions=(np.sqrt, np.square))
        self.bars_ = ax.barh(places, mean[order], height=0.7, color=colours)
        if self.selected is not None:
            self._outline(order)
        top = mean[order[0]]
        if self.interval is not None:
            total = float(np.sum(np.asarray(self.weights))) or 1.0
            low, high = 100 * np.asarray(self.interval, dtype=np.float64)[:, order] / total
            self.interval_ = ax.hlines(places, low, high, color=ink(), linewidth=1.1)
            top = max(top, high.max())
        equal = 100 / len(mean)
        ends = [-0.6, len(order) - 0.5]
        (self.equal_share_,) = ax.plot([equal] * 2, ends, "--", color=ink(), linewidth=0.9)
        ax.set_xlim(0, 1.04 * max(top, equal))
        ax.set_xlabel("share of the weight, %" + (", square-root scale" * (scale == "sqrt")))
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
        if self.frequency is not None:
            self._draw_frequency(places)
        bare(ax)

    def _outline(self, order: Index) -> None:
        """Fill the bars of features that were not selected with a paler colour."""
        from matplotlib.colors import to_rgba

        for bar, k in zip(self.bars_, order, strict=True):
            if not self.selected[k]:
                bar.set_edgecolor(bar.get_facecolor())
                bar.set_facecolor(to_rgba(bar.get_facecolor(), _PALE))

    def _draw_frequency(self, places: Index) -> None:
        """Write the share of resamples that select each feature on the right."""
        often = np.asarray(self.frequency, dtype=np.float64)[self.order_]
        right = self.ax_.secondary_yaxis("right")
        right.set_yticks(places, [f"{100 * each:.0f} %" for each in often], fontsize="small")
        right.tick_params(axis="y", length=0)
        right.spines["right"].set_visible(False)
        right.set_ylabel("resamples that select it", fontsize="small")

    def _draw_map(self, table: Array) -> None:
        shown = table[:, self.order_].T
        self.image_ = self.ax_.imshow(shown, aspect="auto", cmap="cividis", vmin=0)
        bar = self.figure_.colorbar(self.image_, ax=self.ax_)
        bar.set_label("share of the weight, %")
        bar.outline.set_visible(False)
        m = len(table)
        names = self.machine_names or [f"machine {j + 1}" for j in range(m)]
        longest = max(len(str(name)) for name in names)
        upright = m * longest > 50
        labels = [short(name, 18) for name in names]
        self.ax_.set_xticks(
            np.arange(m),
            labels,
            rotation=45 if upright else 0,
            ha="right" if upright else "center",
            rotation_mode="anchor" if upright else "default",
        )
        self.ax_.tick_params(length=0)
        self.ax_.spines[:].set_visible(False)

    def _name_rows(self, n_left: int) -> None:
        names = self.feature_names
        labels = [short(f"x{k}" if names is None else names[k]) for k in self.order_]
        n = len(labels)
        if n_left:
            labels.append(f"{n_left:,} other{'s' * (n_left > 1)}")
            kwargs = {"va": "center", "fontsize": "small", "fontstyle": "italic"}
            offset = {"xytext": (4, 0), "textcoords": "offset points"}
            where = {"xycoords": ("axes fraction", "data")}
            self.ax_.annotate(self.rest_, (0, n), **where, **offset, **kwargs)
        size = "medium" if len(labels) <= 15 else "small"
        self.ax_.set_yticks(np.arange(len(labels)), labels, fontsize=size)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(len(labels) - 0.4, -0.6)


def _colours(color: Any, order: Index, n_features: int) -> Any:
    """Return the colour of all bars, or that of each bar, in their order."""
    from matplotlib.colors import is_color_like

    if color is None:
        return PALETTE[0]
    if is_color_like(color):
        return color
    given = [] if isinstance(color, str) or not hasattr(color, "__len__") else color
    found = [*given] if len(given) == n_features else []
    if not found or not all(map(is_color_like, found)):
        raise ValueError(
            f"color must be a colour of matplotlib, or one for each of the {n_features} features."
        )
    return [found[k] for k in order]


def _rest(left: Array) -> str:
    """Return a summary of the features that are not plotted."""
    if not len(left):
        return ""
    if not left.any():
        return "no weight"
    together = f"{left.sum():.3g} %"
    return together if len(left) == 1 else f"{together} together, {left.max():.2g} % at most"
