"""Scores inside a softmax: a common factor and a constant per class."""

from __future__ import annotations

import numpy as np

from .._typing import Array, Index
from .sigmoids import MAX_STEPS, MIN_DECREMENT, MIN_SLOPE

_SMOOTHING = 0.25  # rows that each class's targets give to the other classes
_OFFSET_RIDGE = 1.0  # penalty on the squares of the offsets, in units of rows


def smoothed_targets(classes: Index, n_classes: int, weight: Array) -> Array:
    """Return the targets of a softmax (n, n_classes): each row gives a little to other classes.

    With N the weight of a row's class and s = 0.25 it is (N + s) / (N + 2 s) for that class; the
    other classes divide the rest by their weights.
    """
    size = np.bincount(classes, weight, minlength=n_classes)
    own = (size + _SMOOTHING) / (size + 2 * _SMOOTHING)
    others = size.sum() - size
    rest = np.where(others > 0, (1 - own) / np.where(others > 0, others, 1.0), 0.0)
    table: Array = rest[:, None] * size
    np.fill_diagonal(table, np.where(others > 0, own, 1.0))
    return table[classes, :]


def log_sums(scores: Array) -> tuple[Array, Array]:
    """Return log sum_c exp(z_ic) of each row and its softmax, which share their exponentials.

    SciPy's functions of one of them each take five times as long for small tables.
    """
    top = scores.max(axis=1, keepdims=True)
    powers = np.exp(scores - top)
    total = powers.sum(axis=1, keepdims=True)
    return (np.log(total) + top)[:, 0], powers / total


def fit_temperature(
    scores: Array,
    classes: Index,
    weight: Array | None = None,
    *,
    prior_variance: float = 0.1,
) -> float:
    """Fit the factor t of scores inside a softmax.

    With the targets y of `smoothed_targets` and the weights w,

        min  sum_i w_i (log sum_c exp(t z_ic) - t sum_c y_ic z_ic) + (t - 1)^2 / (2 v)

    over t, at least 0.05; ``scores`` (n, n_classes) are of rows that were left out.
    """
    w = np.ones(len(classes)) if weight is None else weight
    wanted = (smoothed_targets(classes, scores.shape[1], w) * scores).sum(axis=1)

    def loss(t: float) -> tuple[float, Array]:
        logs, shares = log_sums(t * scores)
        return float(w @ (logs - t * wanted)) + (t - 1) ** 2 / (2 * prior_variance), shares

    t, (value, p) = 1.0, loss(1.0)
    for _ in range(MAX_STEPS):
        mean = (p * scores).sum(axis=1)
        slope = float(w @ (mean - wanted)) + (t - 1) / prior_variance
        curvature = float(w @ (p * (scores - mean[:, None]) ** 2).sum(axis=1)) + 1 / prior_variance
        step = -slope / curvature
        if -slope * step <= MIN_DECREMENT * (1 + abs(value)):
            return max(MIN_SLOPE, t + step)
        while (new := loss(t + step))[0] > value and abs(step) > 1e-12 * (1 + abs(t)):
            step /= 2
        t, (value, p) = (t + step, new) if new[0] <= value else (t, (value, p))
    return max(MIN_SLOPE, t)


def fit_offsets(scores: Array, classes: Index, weight: Array | None = None) -> Array:
    """Fit a constant per class that is added to scores inside a softmax.

    With the targets y of `smoothed_targets` and the weights w,

        min  sum_i w_i (log sum_c exp(z_ic + o_c) - sum_c y_ic (z_ic + o_c)) + 1/2 |o|^2

    over the offsets o (n_classes,), which sum to zero; Newton's method.
    """
    w = np.ones(len(classes)) if weight is None else weight
    wanted = w @ smoothed_targets(classes, scores.shape[1], w)
    ridge = _OFFSET_RIDGE * np.eye(scores.shape[1])

    def loss(o: Array) -> tuple[float, Array]:
        logs, shares = log_sums(scores + o)
        penalty = 0.5 * _OFFSET_RIDGE * float(o @ o)
        return float(w @ logs) - float(wanted @ o) + penalty, shares

    offsets = np.zeros(scores.shape[1])
    value, p = loss(offsets)
    for _ in range(MAX_STEPS):
        weighted = w @ p
        gradient = weighted - wanted + _OFFSET_RIDGE * offsets
        hessian = np.diag(weighted) - (p * w[:, None]).T @ p + ridge
        step = -np.linalg.solve(hessian, gradient)
        if -gradient @ step <= MIN_DECREMENT * (1 + abs(value)):
            return offsets + step
        while (new := loss(offsets + step))[0] > value and np.abs(step).max() > 1e-12:
            step = step / 2
        offsets, (value, p) = (offsets + step, new) if new[0] <= value else (offsets, (value, p))
    return offsets
