"""Factors of the features, from their importances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parameters import as_real
from .._typing import Array
from ._input import rows_of, weights_of
from .energy_distance import energy
from .measures import efficiency, fisher, separation

_LARGEST = float(np.finfo(np.float64).max)

MEASURES = {
    "fisher": fisher,
    "separation": separation,
    "efficiency": efficiency,
    "energy": energy,
}
NORMALIZATIONS = {"inverse", "trace"}
ETA_UNITS = {"data", "raw"}

_LOG_SPREAD = np.log(1e4)  # logarithm of the largest ratio of two factors
# The same in the paper's units, which have no limit: the largest factor whose square is finite.
_LOG_PAPER_SPREAD = np.log(1e75)
_EQUAL = 1e-12  # relative difference of importances that is only rounding


def importances(importance: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Array:
    """Return the importance of each feature, measured or given.

    Parameters
    ----------
    importance : {"fisher", "separation", "efficiency", "energy"}, array-like, callable or None
        The measure; or the importances themselves, one per feature; or a function
        ``importance(X, y)`` that computes them from the rows of positive weight; or None, zero for
        every feature.
    X : array-like of shape (n_samples, n_features)
        The rows, dense. NaN is a missing value, which "energy" does not accept.
    y : array-like of shape (n_samples,)
        The classes.
    sample_weight : array-like of shape (n_samples,), default=None
        Number of rows that each row stands for; read by the measures.

    Returns
    -------
    q : ndarray of shape (n_features,)
        The importances: finite numbers, larger for more important features.

    See Also
    --------
    log_scales : The factors that follow.

    Examples
    --------
    >>> from kernelwise.discrimination import importances
    >>> X, y = [[0, 3], [2, 1], [8, 2], [8, 2]], [0, 0, 1, 1]
    >>> importances("separation", X, y)
    array([0.75, 0.  ])
    >>> importances([1, 5], X, y)
    array([1., 5.])
    """
    X = rows_of(X, missing=True)
    if importance is None:
        return np.zeros(X.shape[1])
    if isinstance(importance, str):
        if importance not in MEASURES:
            known = ", ".join(map(repr, MEASURES))
            raise ValueError(f"importance must be one of {known}; got {importance!r}.")
        return MEASURES[importance](X, y, sample_weight=sample_weight)
    if not callable(importance):
        return _numbers("importance", importance, X.shape[1])
    counted = np.flatnonzero(weights_of(sample_weight, len(X)))
    values = importance(X[counted], np.asarray(y)[counted])
    return _numbers("the return value of the function importance", values, X.shape[1])


def log_scales(
    q: Any, eta: float, *, normalization: str = "inverse", eta_units: str = "data"
) -> Array:
    """Return the logarithms of the factors by which the features are multiplied.

    A linear machine penalises the squared coefficient of feature k by a_k = exp(-eta q_k) up to a
    common factor: eq. 6 of [1]_. That is a plain machine on features that are multiplied by
    a_k^(-1/2), the factors whose logarithms are returned.

    Parameters
    ----------
    q : array-like of shape (n_features,)
        The importances, larger for more important features.
    eta : float
        The strength of the scaling; zero ignores the importances.
    normalization : {"inverse", "trace"}, default="inverse"
        The choice of the common factor. With "inverse" the squared factors have mean 1, so that
        ``eta=0`` changes nothing; with "trace" sum a = 1, as in the paper, so that ``eta=0``
        multiplies all features by the root of their number.
    eta_units : {"data", "raw"}, default="data"
        Whether q is first scaled to the range from 0 to 1 ("data") or taken as it is ("raw"), as
        in the paper.

    Returns
    -------
    logs : ndarray of shape (n_features,)
        The logarithms. The largest factor is at most 10,000 times the smallest; smaller ones are
        raised to that limit. With ``normalization="trace"`` and ``eta_units="raw"``, the paper's
        own choices, there is no limit but that of double precision (a ratio of 1e75).

    See Also
    --------
    importances : The numbers q.

    Notes
    -----
    With ``eta_units="data"``, importances that differ only by rounding count as equal, and so the
    factors are equal.

    References
    ----------
    .. [1] Y. Wang, S. Chen and H. Xue, "Support Vector Machine incorporated with feature
       discrimination", Expert Systems with Applications 38, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.discrimination import log_scales
    >>> np.exp(log_scales([3.0, 1.0, 1.0], eta=2.0)).round(3)
    array([1.537, 0.565, 0.565])
    >>> np.exp(log_scales([3.0, 1.0, 1.0], eta=0.0))
    array([1., 1., 1.])
    """
    q = _numbers("q", q)
    if not 0 <= eta <= _LARGEST:
        raise ValueError(f"eta must be a finite number that is not negative; got {eta!r}.")
    _check_choice("normalization", normalization, NORMALIZATIONS)
    _check_choice("eta_units", eta_units, ETA_UNITS)
    with np.errstate(over="ignore"):
        squared = eta * _below_the_best(q, in_units_of_the_data=eta_units == "data")
    is_paper = normalization == "trace" and eta_units == "raw"
    spread = _LOG_PAPER_SPREAD if is_paper else _LOG_SPREAD
    squared = np.maximum(squared, -2 * spread)  # log of a_best / a_k
    if normalization == "inverse":
        # sum 1/a = d. The mean of equal numbers is exact, so eta = 0 gives factors of exactly one.
        return 0.5 * (squared - np.log(np.mean(np.exp(squared))))
    # sum a = 1, relative to the worst feature, whose a is the largest, so that nothing overflows.
    squared = squared - squared.min()
    return 0.5 * (squared + np.log(np.sum(np.exp(-squared))))


def _below_the_best(q: Array, *, in_units_of_the_data: bool) -> Array:
    """Return each importance minus the largest one."""
    halves = q / 2  # their differences cannot overflow
    below = halves - halves.max()
    if not in_units_of_the_data:
        return np.maximum(2 * below, -np.finfo(np.float64).max)
    span = -below.min()
    if span <= _EQUAL * np.abs(halves).max():
        return np.zeros(len(q))
    return below / span


def _check_choice(name: str, value: Any, choices: set[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {sorted(choices)}; got {value!r}.")


def _numbers(name: str, values: Any, d: int | None = None) -> Array:
    expected = "one per feature" if d is None else f"one for each of the {d} features of X"
    try:
        vector = as_real(values, name).copy()
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, {expected}.") from None
    if vector.ndim != 1 or not vector.size or d not in (None, len(vector)):
        raise ValueError(f"{name} must be numbers, {expected}; got shape {vector.shape}.")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} must be finite numbers, {expected}.")
    return vector
