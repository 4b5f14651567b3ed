"""Sigmoids on decision values: log-odds of two classes, many columns at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._native import fit_sigmoids
from .._typing import Array, Flags

MIN_SLOPE = 0.05  # slope of a sigmoid per unit of decision value: rankings never turn round
MARGIN_SLOPE = 2.5  # prior mean of the slope where the decision values are +-1 at the margin
CAP = 1.25  # largest ratio of the slope on leave-one-out decisions to that on halves
_VARIANCE = 2.0  # prior variance of the slope
MIN_DECREMENT = 1e-12  # squared Newton decrement of the last step, relative to the loss
MAX_STEPS = 100  # Newton steps; about six are needed


@dataclass(frozen=True)
class Sigmoid:
    """Log-odds ``slope * f + intercept`` of decision values f, a rising line per column."""

    slope: Array  # () or (n_columns,)
    intercept: Array

    def log_odds(self, decisions: Array) -> Array:
        """Return the log-odds of the positive side, of the shape of the decision values."""
        return self.slope * decisions + self.intercept


def _targets(positive: Flags, above: Array, below: Array) -> Array:
    """Return Platt's targets from the weights n1 of the positive rows and n0 of the others.

    They are (n1 + 1) / (n1 + 2) for positive rows and 1 / (n0 + 2) for the others.
    """
    return np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))


def fit_sigmoid(
    decisions: Array,
    positive: Flags,
    weight: Array | None = None,
    *,
    prior_mean: float = MARGIN_SLOPE,
    prior_variance: float = _VARIANCE,
    slope_floor: float = MIN_SLOPE,
) -> Sigmoid:
    """Fit a sigmoid to the decision values of each column.

    For each column, with Platt's targets t_i, the weights w_i and z_i = a f_i + b,

        min  sum_i w_i (log(1 + exp(z_i)) - t_i z_i) + (a - m)^2 / (2 v)    s.t.  a >= floor

    over a and b. The problem is convex, so if the free minimum lies below the floor, the minimum
    under the constraint has the slope of the floor.

    ``decisions`` and ``positive`` are (n,) or (n, n_columns), of rows that were left out;
    ``weight`` is zero where a row does not belong to a column. An infinite variance is no prior.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.calibration.sigmoids import fit_sigmoid
    >>> decisions = np.array([-2.0, -1.0, 0.5, -0.5, 1.0, 2.0])
    >>> sigmoid = fit_sigmoid(decisions, np.array([0, 0, 0, 1, 1, 1], dtype=bool))
    >>> sigmoid.log_odds(np.array([0.0, 1.0])).round(2)
    array([0.  , 1.08])
    """
    data = _SigmoidData.of(decisions, positive, weight)
    precision = 1 / prior_variance
    slope = np.full(data.f.shape[0], prior_mean if precision else 0.0)
    slope, intercept = data.minimum(slope, prior_mean, precision)
    low = slope < slope_floor
    if low.any():
        slope = np.where(low, slope_floor, slope)
        intercept = np.where(low, data.minimum(slope, fixed=True)[1], intercept)
    shape = np.shape(decisions)[1:]
    return Sigmoid(slope.reshape(shape), intercept.reshape(shape))


def fit_intercept(
    slope: Array, decisions: Array, positive: Flags, weight: Array | None = None
) -> Sigmoid:
    """Fit the intercepts of sigmoids whose slopes are known, () or (n_columns,)."""
    data = _SigmoidData.of(decisions, positive, weight)
    intercept = data.minimum(np.ravel(slope), fixed=True)[1]
    return Sigmoid(slope, intercept.reshape(np.shape(slope)))


@dataclass(frozen=True)
class _SigmoidData:
    """Decision values, targets and weights, one contiguous row per sigmoid."""

    f: Array  # (n_columns, n)
    target: Array  # (n_columns, n)
    weight: Array  # (n_columns, n), or (1, n) where all columns share the weights
    start: Array  # (n_columns,), the log-odds without any decision value

    @classmethod
    def of(cls, decisions: Array, positive: Flags, weight: Array | None) -> _SigmoidData:
        f = np.ascontiguousarray(_as_columns(decisions).T)
        sides: Flags = np.ascontiguousarray(_as_columns(positive).T)
        w = np.ones((1, f.shape[1])) if weight is None else _as_columns(weight).T
        above = (w * sides).sum(axis=1)
        below = w.sum(axis=1) - above
        t = _targets(sides, above[:, None], below[:, None])
        start = np.broadcast_to(np.log((above + 1) / (below + 1)), f.shape[:1])
        t = np.ascontiguousarray(np.broadcast_to(t, f.shape))
        return cls(f, t, np.ascontiguousarray(w), start)

    def minimum(
        self, slope: Array, mean: float = 0.0, precision: float = 0.0, *, fixed: bool = False
    ) -> tuple[Array, Array]:
        """Return slopes and intercepts of least loss, by damped Newton steps from a slope.

        With ``fixed`` the slopes stay.
        """
        slope, intercept = np.array(slope, dtype=np.float64), np.array(self.start)
        data, limits = (self.f, self.target, self.weight), (MIN_DECREMENT, MAX_STEPS)
        fit_sigmoids(*data, mean, precision, fixed, *limits, slope, intercept)
        return slope, intercept


def _as_columns(values: Any) -> Any:
    return values[:, None] if values.ndim == 1 else values


def cap_slope(
    sigmoid: Sigmoid, halves: Array, positive: Flags, weight: Array | None = None
) -> tuple[Sigmoid, bool]:
    """Cap the slope of a sigmoid by the slope that two halves find for each other.

    With ax the slope on ``halves`` (n,), the decision value of each row by the half without it,

        a <- max(0.05, min(a, 1.25 ax)),

    and if the cap acts the intercept is fitted again, to the decisions of the halves. The second
    result says whether it acts.
    """
    crossed = fit_sigmoid(halves, positive, weight)
    most = np.maximum(MIN_SLOPE, CAP * crossed.slope)
    if (sigmoid.slope <= most).all():
        return sigmoid, False
    return fit_intercept(np.minimum(sigmoid.slope, most), halves, positive, weight), True
