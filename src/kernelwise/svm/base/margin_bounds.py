"""The error bounds of fitted machines by margin and radius, computed when they are asked for.

    Theorem 1   R^2 / gamma^2               gamma = min_i y_i f(x_i) / ||w||
    Theorem 2   (R^2 + ||xi||^2) / gamma^2  gamma = 1 / ||w||,
                                            xi_i = max(0, gamma - y_i f(x_i) / ||w||)

of Do, Kalousis and Hilario (2009), up to the factors that do not depend on the machine. R is the
radius of the smallest ball around the machine's training rows in the space of its kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..._records import dataclass
from ..._threads import single_blas
from ..._typing import Array, Codes, Index
from ...kernels import Kernel, Precomputed
from .predictor import Predictor, predictor_of, take
from .steps import RowStep, apply_all


@dataclass(frozen=True)
class TrainingTable:
    """The rows that machines were fitted to: a reference that is neither saved nor copied.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, d)
        The rows; kernel values between them for a precomputed kernel.
    codes : callable
        Returns the codes of the machines, of shape (n, n_machines): -1, +1, and 0 for rows of other
        classes.
    kernels : tuple of Kernel, default=()
        The kernel of the space in which each machine is linear; by default that of the predictor.
    before : tuple of RowStep, default=()
        The steps from the rows to those that these kernels read.
    """

    X: Any
    codes: Callable[[], Codes]
    kernels: tuple[Kernel, ...] = ()
    before: tuple[RowStep, ...] = ()

    @cached_property
    def Y(self) -> Codes:
        """The codes of the machines."""
        return self.codes()

    def gram(self, predictor: Predictor, rows: Index, machine: int) -> Array:
        """Return the kernel matrix of some rows, in the space of the margin of a machine."""
        own = self if self.kernels else predictor
        kernel, X = own.kernels[machine], self.X
        if len(rows) < X.shape[0]:
            precomputed = isinstance(kernel, Precomputed)
            X = X[np.ix_(rows, rows)] if precomputed else take(X, rows)
        return np.asarray(kernel(apply_all(own.before, X)), dtype=float)


@dataclass(frozen=True)
class MarginBounds:
    """The bounds of all machines.

    Parameters
    ----------
    radius_margin : ndarray of shape (n_machines,)
        R^2 / gamma^2 of Theorem 1; infinite where the rows are not separated.
    slack : ndarray of shape (n_machines,)
        (R^2 + ||xi||^2) / gamma^2 of Theorem 2.
    """

    radius_margin: Array
    slack: Array


class MarginBoundsMixin:
    """Gives fitted classifiers the bounds of margin and radius as attributes."""

    margin_: Array

    @property
    def radius_margin_bound_(self) -> Array:
        """R^2 / gamma^2 of each machine, infinite where it does not separate its rows."""
        return self._margin_bounds().radius_margin

    @property
    def slack_bound_(self) -> Array:
        """(R^2 + ||xi||^2) / gamma^2 of each machine."""
        return self._margin_bounds().slack

    def _margin_bounds(self) -> MarginBounds:
        own = vars(self)
        if "_margin_bounds_" not in own:
            own["_margin_bounds_"] = _computed(self)
        bounds: MarginBounds = own["_margin_bounds_"]
        return bounds

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return state | {"_training_table_": None} if "_training_table_" in state else state


def _computed(model: Any) -> MarginBounds:
    """Compute the bounds of a model that still has its training rows."""
    if not hasattr(model, "classes_"):
        raise AttributeError("the error bounds are attributes of a fitted classifier")
    predictor = predictor_of(model)
    if not isinstance(predictor, Predictor) or predictor.n_members > 1:
        raise AttributeError("the error bounds exist for one machine per class, not for an average")
    if predictor.kernels and predictor.linear is not None:
        raise AttributeError("the error bounds need a machine whose features are all regularised")
    table: TrainingTable | None = vars(model).get("_training_table_")
    if table is None:
        raise AttributeError(
            "the error bounds need the training rows, which saved and copied models do not hold; "
            "read radius_margin_bound_ and slack_bound_ before that, or fit again"
        )
    # The training rows have been through the steps that encode columns.
    after = tuple(s for s in predictor.before if not getattr(s, "encodes_columns", False))
    with single_blas():
        return _bounds(model, replace(predictor, before=after), table)


def _bounds(model: Any, predictor: Predictor, table: TrainingTable) -> MarginBounds:
    from ...criteria import radius  # a fit does not need it

    values = predictor.decision_values(table.X)
    separated = np.full(predictor.n_machines, np.inf)
    slack, balls = separated.copy(), {}
    for j, (codes, square) in enumerate(zip(table.Y.T, _squared_norms(model), strict=True)):
        rows = np.flatnonzero(codes)
        whole = len(rows) == len(codes)
        # Machines of the same rows and kernel share a ball.
        key = (id(predictor.kernels[j]) if predictor.kernels else j) if whole else -1 - j
        if key not in balls:
            balls[key] = radius(table.gram(predictor, rows, j)) ** 2
        margins = codes[rows] * values[rows, j]
        least = float(margins.min())
        if least > 0:
            separated[j] = balls[key] * square / least**2
        slack[j] = balls[key] * square + float((np.maximum(0.0, 1 - margins) ** 2).sum())
    return MarginBounds(separated, slack)


def _squared_norms(model: Any) -> Array:
    """Return ||w||^2 of each machine, without the ridge that squared slack adds to its kernel."""
    predictor = predictor_of(model)
    if predictor.loss == "hinge" or not predictor.kernels:
        norms: Array = model.margin_**-2.0
        return norms
    vectors = predictor.vectors
    return np.array(
        [
            b @ kernel(vectors.rows) @ b
            for kernel, b in zip(predictor.kernels, vectors.coef.T, strict=True)
        ]
    )
