"""Plot bounds and errors along the width of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._models import final_estimator
from .._typing import Array
from .style import bare, ink, look, panels

_TITLES = {
    "bound": "R² Σα / n",
    "loo_error": "leave-one-out error from spans, %",
    "held_out_error": "held-out error, %",
    "score": "score (lowest is best)",
    "radius": "radius",
    "margin": "margin",
}
_LABELS = {"sigma": "kernel width sigma"}
_LOG_RATIO = 30.0  # ratio of the largest to the smallest value from which an axis is logarithmic


class KernelPathDisplay:
    """Plot of bounds and errors along the kernel width: one line per C, the selected point marked.

    Parameters
    ----------
    path : dict of ndarray
        Columns with one entry per point, as in ``AdaptiveKernelSVC.path_``: the parameter, "C",
        and the bounds and errors.
    parameter : str
        The column on the horizontal axis, for instance "sigma"; "C" where only C varies.
    best_index : int, default=None
        The selected point; None marks none.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The first axes.
    axes_ : ndarray of matplotlib.axes.Axes
        One axes per quantity.
    figure_ : matplotlib.figure.Figure
        The figure.
    quantities_ : list of str
        The plotted columns.
    lines_ : list of list of matplotlib.lines.Line2D
        For each quantity one line per C, in ascending order.
    chosen_ : list of matplotlib.lines.Line2D
        For each quantity the mark at the selected point, if there is one.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kernelwise import AdaptiveKernelSVC
    >>> from kernelwise.inspection import KernelPathDisplay
    >>> model = AdaptiveKernelSVC(C=[1.0, 10.0]).fit(*load_iris(return_X_y=True))
    >>> KernelPathDisplay.from_estimator(model).quantities_
    ['bound', 'loo_error']
    """

    def __init__(
        self, path: dict[str, Any], *, parameter: str, best_index: int | None = None
    ) -> None:
        self.path = path
        self.parameter = parameter
        self.best_index = best_index

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, quantities: Any = None
    ) -> KernelPathDisplay:
        """Plot the path of a fitted `AdaptiveKernelSVC`.

        Parameters
        ----------
        estimator : AdaptiveKernelSVC
            A fitted estimator, or a pipeline that ends with one.
        ax : matplotlib.axes.Axes or array of them, default=None
            One axes per quantity, or one that is divided; None makes a figure.
        quantities : list of str, default=None
            The columns of the path to plot; None is the bound and the measured errors.

        Returns
        -------
        display : KernelPathDisplay
            The display.
        """
        final = final_estimator(estimator)
        check_is_fitted(final)
        path, best = getattr(final, "path_", None), getattr(final, "best_index_", None)
        if path is None or best is None or "bound" not in path:
            raise ValueError(
                f"{type(final).__name__} has no path over kernel widths (path_ with its "
                "best_index_); AdaptiveKernelSVC has one."
            )
        varied = getattr(final, "parameter", None) or "C"
        parameter = "sigma" if "sigma" in path else varied
        return cls(path, parameter=parameter, best_index=best).plot(ax, quantities=quantities)

    def plot(self, ax: Any = None, *, quantities: Any = None) -> KernelPathDisplay:
        """Plot the path.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or array of them, default=None
            One axes per quantity, or one that is divided; None makes a figure.
        quantities : list of str, default=None
            The columns of the path to plot; None is the bound and the measured errors.

        Returns
        -------
        self : object
            The display.
        """
        self.quantities_ = self._quantities(quantities)
        n = len(self.quantities_)
        self.figure_, self.axes_ = panels(ax, n, size=(1.2 + 3.4 * n, 3.4))
        self.ax_ = self.axes_[0]
        self.lines_: list[list[Any]] = []
        self.chosen_: list[Any] = []
        for axes, name in zip(self.axes_, self.quantities_, strict=True):
            self._draw(axes, name)
        if len(self.lines_[0]) > 1:
            self.axes_[-1].legend(
                title="C", frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1)
            )
        return self

    def _quantities(self, wanted: Any) -> list[str]:
        missing = [name for name in (self.parameter, "C", *(wanted or ())) if name not in self.path]
        if missing:
            raise ValueError(f"path has no column {missing[0]!r}; it has {sorted(self.path)}.")
        if wanted is not None:
            return list(wanted)
        usual = ("bound", "loo_error", "held_out_error")
        found = [n for n in usual if n in self.path and np.isfinite(self._values(n)).any()]
        if not found:
            raise ValueError(f"path has no values of {usual}; name other quantities.")
        return found

    def _values(self, name: str) -> Array:
        values = np.array(self.path[name], dtype=np.float64)
        if values.ndim == 2:  # one entry per machine
            values = values.mean(axis=1)
        return 100 * values if name.endswith("_error") else values

    def _draw(self, axes: Any, name: str) -> None:
        x, values = np.asarray(self.path[self.parameter], dtype=np.float64), self._values(name)
        costs = np.asarray(self.path["C"], dtype=np.float64)
        own = costs if self.parameter != "C" else np.zeros(len(costs))
        lines = []
        for k, cost in enumerate(np.unique(own)):
            rows = np.flatnonzero(own == cost)
            rows = rows[np.argsort(x[rows], kind="stable")]
            (line,) = axes.plot(x[rows], values[rows], **look(k, len(rows)), label=f"{cost:g}")
            lines.append(line)
        self.lines_.append(lines)
        _scale(axes.set_xscale, axes.xaxis, x)
        if not name.endswith("_error"):
            _scale(axes.set_yscale, axes.yaxis, values)
        if self.best_index is not None:
            self._mark(axes, float(x[self.best_index]), float(values[self.best_index]))
        title = _TITLES.get(name, name)
        if name == "bound" and np.isinf(costs).all():  # a bound only for hard margins
            title = f"bound on the error, {title}"
        axes.set_title(title, fontsize="medium", loc="left")
        axes.set_xlabel(self._label())
        bare(axes)

    def _label(self) -> str:
        """Name the parameter and its selected value."""
        name, best = _LABELS.get(self.parameter, self.parameter), self.best_index
        if best is None:
            return name
        cost = "" if self.parameter == "C" else f", C = {self.path['C'][best]:g}"
        return f"{name} ({self.path[self.parameter][best]:.3g} selected{cost})"

    def _mark(self, axes: Any, x: float, value: float) -> None:
        axes.axvline(x, color=ink(), linewidth=0.9, linestyle="--", zorder=1)
        (mark,) = axes.plot(
            [x], [value], "o", markersize=11, markerfacecolor="none", markeredgecolor=ink()
        )
        self.chosen_.append(mark)


def _scale(set_scale: Any, axis: Any, values: Array) -> None:
    """Set a logarithmic scale where positive values span a wide range."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    finite = values[np.isfinite(values)]
    if len(finite) and finite.min() > 0 and finite.max() > _LOG_RATIO * finite.min():
        set_scale("log")
        steps = (1, 2, 5) if finite.max() < 1e3 * finite.min() else (1,)
        axis.set_major_locator(LogLocator(subs=steps))
        axis.set_major_formatter(FormatStrFormatter("%g"))
        axis.set_minor_formatter(NullFormatter())
