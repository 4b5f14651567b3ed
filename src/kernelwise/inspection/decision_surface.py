"""Plot the decisions of classifiers in the plane of two features."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._checks import as_real
from .._models import final_estimator
from .._parameters import HasMethods, Options, checked_arguments
from .._typing import Array, Index
from ._arguments import CLASSES, TABLE, count
from .style import bare, colours, ink, panels, short
from .weights import frame_columns, like, read_weights

_MAX_POINTS = 1000  # plotted rows; more would hide each other


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionSurfaceDisplay:
    """Plot of the predicted classes along two features, with the rows and the support vectors.

    Several classifiers are plotted side by side, for instance without and with learned weights.

    Parameters
    ----------
    xx0 : ndarray of shape (resolution, resolution)
        The first feature on the grid.
    xx1 : ndarray of shape (resolution, resolution)
        The second feature on the grid.
    responses : dict of str to ndarray of shape (resolution, resolution)
        For each classifier, by name, the decision values on the grid (two classes) or the indices
        of the predicted classes.
    points : ndarray of shape (n_samples, 2)
        The two features of the rows.
    labels : ndarray of shape (n_samples,)
        The index of the class of each row.
    class_names : sequence of str
        The names of the classes.
    feature_names : sequence of str of shape (2,)
        The names of the two features.
    support : dict of str to ndarray, default=None
        For each classifier the rows that are its support vectors.
    n_fixed : int, default=0
        Number of other features, which are held at their medians.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The first axes.
    axes_ : ndarray of matplotlib.axes.Axes
        One axes per classifier.
    figure_ : matplotlib.figure.Figure
        The figure.
    surfaces_ : list of sklearn.inspection.DecisionBoundaryDisplay
        The regions of the classes, one entry per classifier.
    scatters_ : list of list of matplotlib.collections.PathCollection
        For each classifier the rows of each class.
    rings_ : list of matplotlib.collections.PathCollection
        The marks of the support vectors, for each classifier where they are known.

    Notes
    -----
    With more than two features the plot is a slice. The rows lie in front of it and behind it, so
    a row may appear on the wrong side of a boundary and still be classified correctly.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.inspection import DecisionSurfaceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RelevanceSVC().fit(X, y)
    >>> DecisionSurfaceDisplay.from_estimator(model, X, y, baseline="svc").feature_names
    ['petal width (cm)', 'petal length (cm)']
    """

    xx0: Array
    xx1: Array
    responses: dict[str, Array]
    points: Array
    labels: Index
    class_names: Any
    feature_names: Any
    support: dict[str, Index] | None = None
    n_fixed: int = 0

    @classmethod
    @checked_arguments(
        X=[*TABLE, "sparse matrix"],
        y=CLASSES,
        features=["array-like", None],
        baseline=[HasMethods(["fit"]), Options({"svc"}), None],
        grid_resolution=count(2),
    )
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Any = None,
        baseline: Any = None,
        grid_resolution: int = 120,
        ax: Any = None,
    ) -> DecisionSurfaceDisplay:
        """Plot the decisions of a fitted classifier.

        Parameters
        ----------
        estimator : object
            A fitted classifier, or a pipeline that ends with one.
        X : array-like of shape (n_samples, n_features)
            The training rows, as numbers; support vectors are marked among them.
        y : array-like of shape (n_samples,)
            The classes.
        features : pair of int or str, default=None
            The two features; None takes those with the largest weights.
        baseline : estimator or "svc", default=None
            A classifier to plot on the left, for comparison. An estimator is cloned and fitted to X
            and y; "svc" is `SVC` on standardised columns, with one width for all of them.
        grid_resolution : int, default=120
            Number of grid points along each feature.
        ax : matplotlib.axes.Axes or array of them, default=None
            One axes per classifier, or one that is divided; None makes a figure.

        Returns
        -------
        display : DecisionSurfaceDisplay
            The display.
        """
        check_is_fitted(estimator)
        table = _numbers(X)
        check_consistent_length(table, y)
        names = frame_columns(X) or [f"x{k}" for k in range(table.shape[1])]
        pair = _pair(estimator, names, features)
        lows, highs = table[:, pair].min(axis=0), table[:, pair].max(axis=0)
        pad = 0.05 * np.where(highs > lows, highs - lows, 1.0)
        spans = np.linspace(lows - pad, highs + pad, grid_resolution)
        xx0, xx1 = np.meshgrid(spans[:, 0], spans[:, 1])
        grid = np.tile(np.median(table, axis=0), (xx0.size, 1))
        grid[:, pair] = np.column_stack([xx0.ravel(), xx1.ravel()])
        classes = estimator.classes_
        models = _models(estimator, baseline, X, y)
        display = cls(
            xx0=xx0,
            xx1=xx1,
            responses={
                name: _response(model, like(X, grid), classes).reshape(xx0.shape)
                for name, model in models.items()
            },
            points=table[:, pair],
            labels=_class_indices(classes, y),
            class_names=[str(name) for name in classes],
            feature_names=[names[k] for k in pair],
            support=_supports(models, len(table)),
            n_fixed=table.shape[1] - 2,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> DecisionSurfaceDisplay:
        """Plot the decisions.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or array of them, default=None
            One axes per classifier, or one that is divided; None makes a figure.

        Returns
        -------
        self : object
            The display.
        """
        n = len(self.responses)
        self.figure_, self.axes_ = panels(ax, n, size=(1.4 + 3.7 * n, 3.9))
        self.ax_ = self.axes_[0]
        self.surfaces_: list[Any] = []
        self.scatters_: list[list[Any]] = []
        self.rings_: list[Any] = []
        for axes, (name, response) in zip(self.axes_, self.responses.items(), strict=True):
            self._draw(axes, name, response)
            axes.set_title(name, fontsize="medium")
            axes.set_xlabel(short(self.feature_names[0], 40) + self._fixed())
        self.ax_.set_ylabel(short(self.feature_names[1], 40))
        self.axes_[-1].legend(
            frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1)
        )
        return self

    def _fixed(self) -> str:
        """Return a remark on the values of the other features."""
        if self.n_fixed > 1:
            return f"\n({self.n_fixed:,} other features at their medians)"
        return "\n(the other feature at its median)" if self.n_fixed else ""

    def _draw(self, axes: Any, name: str, response: Array) -> None:
        from matplotlib.colors import ListedColormap
        from sklearn.inspection import DecisionBoundaryDisplay

        k = len(self.class_names)
        palette = colours(k)
        regions = (response > 0).astype(float) if k == 2 else response
        known = signature(DecisionBoundaryDisplay).parameters
        classes = {"n_classes": k, "multiclass_colors": palette}
        surface = DecisionBoundaryDisplay(
            xx0=self.xx0,
            xx1=self.xx1,
            response=regions,
            **{name: value for name, value in classes.items() if name in known},
        )
        kwargs: dict[str, Any] = {}
        if k == 2 or "multiclass_colors" not in known:  # scikit-learn has those since 1.7
            kwargs = {"cmap": ListedColormap(palette), "vmin": 0, "vmax": k - 1}
        surface.plot("pcolormesh", ax=axes, alpha=0.22, zorder=0, rasterized=True, **kwargs)
        self.surfaces_.append(surface)
        if k == 2:
            self._draw_margin(axes, response)
        shown = self._shown()
        own_scatters = []
        for number, colour in enumerate(palette):
            rows = shown[self.labels[shown] == number]
            dots = axes.scatter(
                *self.points[rows].T,
                s=14,
                color=colour,
                marker="os^Dvp"[number % 6],
                linewidths=0,
                label=short(self.class_names[number], 18),
            )
            own_scatters.append(dots)
        self.scatters_.append(own_scatters)
        if self.support is not None and name in self.support:
            rows = np.intersect1d(self.support[name], shown)
            rings = axes.scatter(
                *self.points[rows].T,
                s=38,
                facecolors="none",
                edgecolors=[ink()],
                linewidths=0.6,
                alpha=0.7,
                label="support vector",
            )
            self.rings_.append(rings)
        bare(axes)

    def _draw_margin(self, axes: Any, response: Array) -> None:
        """Draw the boundary and the margins, as far as they are in the plot."""
        for level, style, width in ((-1, ":", 0.9), (0, "-", 1.4), (1, ":", 0.9)):
            if response.min() < level < response.max():
                axes.contour(
                    self.xx0,
                    self.xx1,
                    response,
                    levels=[level],
                    colors=[ink()],
                    linestyles=style,
                    linewidths=width,
                )

    def _shown(self) -> Index:
        """Return the rows to plot: all, or an even sample of many."""
        n = len(self.points)
        return np.unique(np.linspace(0, n - 1, min(n, _MAX_POINTS)).astype(np.intp))


def _numbers(X: Any) -> Array:
    if sp.issparse(X):
        raise ValueError("X is sparse; give dense rows, for instance X.toarray().")
    try:
        table = as_real(X, "X")
    except TypeError as error:
        raise ValueError("X has columns that are not numbers; encode them first.") from error
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError("X must be a table with at least two columns.")
    if not np.isfinite(table).all():
        raise ValueError("X contains NaN or infinity; fill the gaps first.")
    return table


def _pair(estimator: Any, names: list[str], features: Any) -> list[int]:
    """Return the positions of the two features."""
    if features is None:
        if len(names) == 2:
            return [0, 1]
        found = read_weights(estimator, columns=names)
        if found.names != names:
            raise ValueError(
                "the weights do not belong to the columns of X; choose two of these with features=."
            )
        return [int(k) for k in np.argsort(-found.shares, kind="stable")[:2]]
    if len(features) != 2:
        raise ValueError(f"features={features!r} must be two features.")
    places = [names.index(f) if isinstance(f, str) and f in names else f for f in features]
    if any(isinstance(k, str) or not 0 <= k < len(names) for k in places):
        raise ValueError(f"features={features!r} must be two of the columns {names[:8]} of X.")
    return [int(k) for k in places]


def _models(estimator: Any, baseline: Any, X: Any, y: Any) -> dict[str, Any]:
    own = type(final_estimator(estimator)).__name__
    if baseline is None:
        return {own: estimator}
    if isinstance(baseline, str):
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        from ..svm import SVC

        plain = make_pipeline(StandardScaler(), SVC()).fit(X, y)
        return {"SVC: one width for all": plain, own: estimator}
    fitted = clone(baseline).fit(X, y)
    name = type(final_estimator(fitted)).__name__
    return {name if name != own else f"{name}, baseline": fitted, own: estimator}


def _response(model: Any, grid: Any, classes: Any) -> Array:
    """Return decision values for two classes, else the indices of the predicted classes."""
    if len(classes) == 2 and hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(grid))
    indices = _class_indices(classes, model.predict(grid)).astype(np.float64)
    return 2 * indices - 1 if len(classes) == 2 else indices


def _class_indices(classes: Any, y: Any) -> Index:
    return np.searchsorted(np.asarray(classes), np.asarray(y)).astype(np.intp)


def _supports(models: dict[str, Any], n_rows: int) -> dict[str, Index]:
    """Return the support vectors of the classifiers that were fitted to these rows."""
    found = {}
    for name, model in models.items():
        final = final_estimator(model)
        rows = getattr(final, "support_", None)
        if rows is not None and getattr(final, "shape_fit_", (n_rows,))[0] == n_rows:
            found[name] = np.asarray(rows, dtype=np.intp)
    return found
