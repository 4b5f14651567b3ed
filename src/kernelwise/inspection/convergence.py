"""Plot the criterion and the weights over the evaluations of a fit."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._models import feature_names, final_estimator
from .._typing import Array
from .style import bare, look, panels, short
from .weights import shares

_NAMES = {
    "dual": "dual objective",
    "radius_margin": "log of the radius-margin bound",
    "span": "smooth leave-one-out error",
    "cv": "logistic loss on held-out rows",
}
_MAX_PARTS = 3  # parts whose weights are plotted by default
_LOG_RATIO = 1e3  # ratio of the largest to the smallest value from which the axis is logarithmic


@dataclass(eq=False, repr=False)
class ConvergenceDisplay:
    """Plot of the criterion and the largest weights over the evaluations of a fit.

    Parameters
    ----------
    history : dict of ndarray
        Columns with one entry per evaluation: "value", or "gap"; "weights" of shape
        (n_evaluations, n_features) where weights were learned; and "kernel" or "machine", the part
        of the model that an evaluation belongs to. ``DualObjectiveSVC.history_`` and
        ``RelevanceSVC.history_`` are such tables.
    feature_names : sequence of str of shape (n_features,), default=None
        The names of the features; None is x0, x1 and so on.
    part_names : sequence of str, default=None
        The names of the parts; None takes those of the history.
    value_name : str, default="criterion"
        The name of "value".

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the criterion.
    axes_ : ndarray of matplotlib.axes.Axes
        The axes of the criterion, then one for the weights of each part.
    figure_ : matplotlib.figure.Figure
        The figure.
    value_lines_ : list of matplotlib.lines.Line2D
        The criterion of each part.
    weight_lines_ : list of list of matplotlib.lines.Line2D
        The lines of the largest weights, for each plotted part.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_wine
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.inspection import ConvergenceDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = ConvergenceDisplay.from_estimator(RelevanceSVC().fit(X, y))
    >>> len(display.value_lines_)  # two kernels
    2
    """

    history: dict[str, Any]
    _: KW_ONLY
    feature_names: Any = None
    part_names: Any = None
    value_name: str = "criterion"

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, max_features: int = 6, parts: Any = None
    ) -> ConvergenceDisplay:
        """Plot the history of a fitted estimator.

        Parameters
        ----------
        estimator : object
            A fitted estimator with ``history_``, or a pipeline with one at its end.
        ax : matplotlib.axes.Axes or array of them, default=None
            One axes for the criterion and one per part, or one that is divided; None makes a
            figure.
        max_features : int, default=6
            Number of weights to plot, the largest at the end of the fit.
        parts : list of str, default=None
            The parts whose weights are plotted; None is the first three.

        Returns
        -------
        display : ConvergenceDisplay
            The display.
        """
        final = final_estimator(estimator)
        check_is_fitted(final)
        history = getattr(final, "history_", None)
        if history is None:
            raise ValueError(
                f"{type(final).__name__} has no history_ of its fit; DualObjectiveSVC and "
                "RelevanceSVC have one."
            )
        machines = len(np.unique(history["machine"])) if "machine" in history else 1
        classes = [f"{name} / rest" for name in getattr(final, "classes_", ())]
        display = cls(
            history,
            feature_names=feature_names(estimator),
            part_names=classes if 1 < machines == len(classes) else None,
            value_name=_criterion(final),
        )
        return display.plot(ax, max_features=max_features, parts=parts)

    def plot(
        self, ax: Any = None, *, max_features: int = 6, parts: Any = None
    ) -> ConvergenceDisplay:
        """Plot the history.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or array of them, default=None
            One axes for the criterion and one per part, or one that is divided; None makes a
            figure.
        max_features : int, default=6
            Number of weights to plot, the largest at the end of the fit.
        parts : list of str, default=None
            The parts whose weights are plotted; None is the first three.

        Returns
        -------
        self : object
            The display.
        """
        rows = self._rows()
        drawn = self._drawn(rows, parts)
        n = 1 + len(drawn)
        self.figure_, self.axes_ = panels(ax, n, size=(0.6 + 3.0 * n, 3.2))
        self.ax_ = self.axes_[0]
        self._draw_values(rows)
        self._draw_weights({name: rows[name] for name in drawn}, max_features)
        for axes in self.axes_:
            axes.set_xlabel("evaluation")
            axes.xaxis.get_major_locator().set_params(integer=True)
            bare(axes)
        return self

    @property
    def _measure(self) -> str:
        return "value" if "value" in self.history else "gap"

    def _rows(self) -> dict[str, Any]:
        """Return the rows of the history of each part, by its name."""
        if not {"value", "gap"} & set(self.history):
            raise ValueError(
                f'history needs a column "value" or "gap"; it has {sorted(self.history)}.'
            )
        n = len(self.history[self._measure])
        own = self.history.get("kernel", self.history.get("machine", np.zeros(n)))
        own = np.asarray(own)
        keys = list(dict.fromkeys(own.tolist()))
        names = [f"machine {key + 1}" if isinstance(key, int) else str(key) for key in keys]
        if self.part_names is not None:
            names = [str(name) for name in self.part_names]
        if len(names) != len(keys):
            raise ValueError(f"part_names has {len(names)} names for {len(keys)} parts.")
        return {name: np.flatnonzero(own == key) for name, key in zip(names, keys, strict=True)}

    def _drawn(self, rows: dict[str, Any], parts: Any) -> list[str]:
        if "weights" not in self.history:
            return []
        if parts is None:
            return list(rows)[:_MAX_PARTS]
        unknown = [name for name in parts if name not in rows]
        if unknown:
            raise ValueError(f"parts contains {unknown[0]!r}; the history has {list(rows)}.")
        return list(parts)

    def _draw_values(self, rows: dict[str, Any]) -> None:
        values = np.asarray(self.history[self._measure], dtype=np.float64)
        self.value_lines_ = []
        for k, (name, own) in enumerate(rows.items()):
            step = np.arange(1, len(own) + 1)
            (line,) = self.ax_.plot(step, values[own], **look(k, len(own)), label=short(name, 18))
            self.value_lines_.append(line)
        if values.min() > 0 and values.max() > _LOG_RATIO * values.min():
            self.ax_.set_yscale("log")
        title = self.value_name if self._measure == "value" else "relative duality gap"
        self.ax_.set_title(title, fontsize="medium", loc="left")
        if len(rows) > 1:
            columns = 1 if len(rows) <= 6 else 2
            self.ax_.legend(frameon=False, fontsize="small", ncols=columns)

    def _draw_weights(self, rows: dict[str, Any], max_features: int) -> None:
        self.weight_lines_: list[Any] = []
        if not rows:
            return
        table = 100 * shares(np.asarray(self.history["weights"], dtype=np.float64))
        ends = np.array([table[own[-1]] for own in rows.values()])
        order = np.argsort(-ends.mean(axis=0), kind="stable")[:max_features]
        for axes, (name, own) in zip(self.axes_[1:], rows.items(), strict=True):
            self.weight_lines_.append(self._draw_part(axes, table[own], order))
            title = "share of the weight, %"
            several = f"{short(name, 18)}: share, %"
            axes.set_title(several if len(rows) > 1 else title, fontsize="medium", loc="left")
            axes.set_ylim(0, 1.06 * table[np.concatenate(list(rows.values()))][:, order].max())
        self.axes_[-1].legend(
            frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1)
        )

    def _draw_part(self, axes: Any, table: Array, order: Any) -> list[Any]:
        names, lines, step = self.feature_names, [], np.arange(1, len(table) + 1)
        for k, feature in enumerate(order):
            label = short(f"x{feature}" if names is None else names[feature], 22)
            (line,) = axes.plot(step, table[:, feature], **look(k, len(step)), label=label)
            lines.append(line)
        return lines


def _criterion(final: Any) -> str:
    """Name the criterion that a fitted estimator minimised."""
    if "kernel" in final.history_:  # RelevanceSVC; larger tables have no weights in their history
        learned = "weights" in final.history_
        return "log of the radius-margin bound" if learned else "negative log evidence"
    criterion = getattr(final, "criterion", "criterion")
    name = criterion if isinstance(criterion, str) else type(criterion).__name__
    return _NAMES.get(name, name)
