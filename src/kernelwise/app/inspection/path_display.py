"""Plot the path of a RelevanceSVC or RelevanceSVR: held-out loss against the number of columns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from ..._models import final_estimator
from .style import bare, ink, look, panels

_COLUMNS = ("member", "n_features", "loss", "weight")


@dataclass(eq=False, repr=False)
class PathDisplay:
    """Plot of the held-out loss against the number of columns, with rings at the mixed stages.

    Parameters
    ----------
    path : dict of ndarray
        The attribute ``path_`` of a `RelevanceSVC` or `RelevanceSVR`.
    loss_name : str, default="loss on held-out rows"
        The name of the loss.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes.
    figure_ : matplotlib.figure.Figure
        The figure.
    lines_ : list of matplotlib.lines.Line2D
        One line per member.
    rings_ : matplotlib.collections.PathCollection
        The stages that are part of the model.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.app.inspection import PathDisplay
    >>> X = np.random.default_rng(0).normal(size=(150, 16))
    >>> display = PathDisplay.from_estimator(RelevanceSVC().fit(X, X[:, 1] > 0))
    >>> int(display.lines_[0].get_xdata()[0])
    16
    """

    path: dict[str, Any]
    _: KW_ONLY
    loss_name: str = "loss on held-out rows"

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> PathDisplay:
        """Plot the path of a fitted estimator.

        Parameters
        ----------
        estimator : object
            A fitted `RelevanceSVC` or `RelevanceSVR`, or a pipeline that ends with one.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None makes a figure.

        Returns
        -------
        display : PathDisplay
            The display.
        """
        final = final_estimator(estimator)
        check_is_fitted(final)
        path = getattr(final, "path_", None)
        if path is None or set(_COLUMNS) - set(path):
            raise ValueError(
                f"{type(final).__name__} has no path over numbers of columns; RelevanceSVC and "
                "RelevanceSVR have one."
            )
        name = "mean squared error" if is_regressor(final) else "log loss"
        return cls(path, loss_name=f"{name} on held-out rows").plot(ax)

    def plot(self, ax: Any = None) -> PathDisplay:
        """Plot the path.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None makes a figure.

        Returns
        -------
        self : object
            The display.
        """
        from matplotlib.ticker import NullLocator

        missing = set(_COLUMNS) - set(self.path)
        if missing:
            raise ValueError(f"path has no column {min(missing)!r}; it has {sorted(self.path)}.")
        member, size, loss, weight = (np.asarray(self.path[name]) for name in _COLUMNS)
        self.figure_, axes = panels(ax, 1, size=(5.2, 3.2))
        self.ax_ = ax = axes[0]
        self.lines_ = []
        for k, own in enumerate(np.unique(member)):
            rows = np.flatnonzero((member == own) & np.isfinite(loss))
            (line,) = ax.plot(size[rows], loss[rows], **look(k, len(rows)))
            self.lines_.append(line)
        mixed = (weight > 0) & np.isfinite(loss)
        area = 60 + 120 * weight[mixed]
        self.rings_ = ax.scatter(
            size[mixed], loss[mixed], s=area, facecolors="none", edgecolors=ink(), zorder=3
        )
        ax.set_xscale("log")
        shown = np.unique(size)
        ax.set_xticks(shown, [str(each) for each in shown.tolist()])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlabel("columns that are kept; rings: mixed by the model")
        ax.set_ylabel(self.loss_name)
        bare(ax)
        return self
