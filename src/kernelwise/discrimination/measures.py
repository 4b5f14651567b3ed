"""The measures of the feature-discrimination SVM, which compare pairs of classes by feature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Array
from ._input import classes_of, rows_of, weights_of

_CAP = 10  # ratio of a feature without variance, in units of the largest finite ratio


def fisher(X: Any, y: Any, *, sample_weight: Any = None) -> Array:
    """Return Fisher's discriminant ratio of each feature.

    For two classes it is (m - m')^2 / (v + v'), of the means and the population variances of the
    feature in the classes. For several classes it is the mean over all pairs of them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows, dense. NaN is a missing value: a feature is measured on its observed rows.
    y : array-like of shape (n_samples,)
        The classes, at least two.
    sample_weight : array-like of shape (n_samples,), default=None
        Number of rows that each row stands for; zero leaves a row out.

    Returns
    -------
    ratio : ndarray of shape (n_features,)
        The ratios, at least 0. Shifting or scaling a feature does not change them.

    See Also
    --------
    separation : The gap between the classes.
    efficiency : The share of rows outside the overlap of the classes.

    Notes
    -----
    A feature that is constant in both classes has the ratio 0 if the constants are equal, or else
    10 times the largest finite ratio of that pair of classes (1 if no other is positive). Where
    one class of a pair has no observed value of a feature, the ratio for that pair is 0.

    References
    ----------
    .. [1] Y. Wang, S. Chen and H. Xue, "Support Vector Machine incorporated with feature
       discrimination", Expert Systems with Applications 38, 2011.

    Examples
    --------
    >>> from kernelwise.discrimination import fisher
    >>> X = [[0, 3, 7], [2, 1, 7], [8, 2, 7], [8, 2, 7]]
    >>> fisher(X, ["low", "low", "high", "high"])
    array([49.,  0.,  0.])
    """
    return _mean_over_pairs(_fisher, X, y, sample_weight)


def separation(X: Any, y: Any, *, sample_weight: Any = None) -> Array:
    """Return the gap between the classes along each feature, in units of the feature's range.

    For two classes it is (a - b) / (hi - lo): a is the larger of their minima, b the smaller of
    their maxima, and all values of both lie between lo and hi. It is positive where a threshold
    separates the classes; otherwise it is minus the length of their overlap. For several classes
    it is the mean over all pairs of them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows, dense. NaN is a missing value: a feature is measured on its observed rows.
    y : array-like of shape (n_samples,)
        The classes, at least two.
    sample_weight : array-like of shape (n_samples,), default=None
        Rows of weight zero are left out; other weights have no effect.

    Returns
    -------
    gap : ndarray of shape (n_features,)
        Numbers from -1 to 1. Shifting or scaling a feature does not change them.

    See Also
    --------
    fisher : The ratio of the means' distance to the variances.
    efficiency : The share of rows outside the overlap of the classes.

    Notes
    -----
    It is -1 for a constant feature, and where a class of the pair has no observed value of it.
    It is 1 only if both classes are constant, at different values.

    References
    ----------
    .. [1] Y. Wang, S. Chen and H. Xue, "Support Vector Machine incorporated with feature
       discrimination", Expert Systems with Applications 38, 2011.

    Examples
    --------
    >>> from kernelwise.discrimination import separation
    >>> X = [[0, 3, 7], [2, 1, 7], [8, 2, 7], [8, 2, 7]]
    >>> separation(X, ["low", "low", "high", "high"])
    array([ 0.75,  0.  , -1.  ])
    """
    return _mean_over_pairs(_separation, X, y, sample_weight)


def efficiency(X: Any, y: Any, *, sample_weight: Any = None) -> Array:
    """Return the share of rows outside the overlap of the classes, for each feature.

    For two classes the overlap is the closed interval from the larger of their minima to the
    smaller of their maxima; where it is empty the share is 1. For several classes it is the mean
    over all pairs of them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows, dense. NaN is a missing value: a feature is measured on its observed rows.
    y : array-like of shape (n_samples,)
        The classes, at least two.
    sample_weight : array-like of shape (n_samples,), default=None
        Number of rows that each row stands for; zero leaves a row out.

    Returns
    -------
    share : ndarray of shape (n_features,)
        Numbers from 0 to 1. Shifting or scaling a feature does not change them.

    See Also
    --------
    fisher : The ratio of the means' distance to the variances.
    separation : The gap between the classes.

    Notes
    -----
    It is 0 for a constant feature, and where a class of the pair has no observed value of it.

    References
    ----------
    .. [1] Y. Wang, S. Chen and H. Xue, "Support Vector Machine incorporated with feature
       discrimination", Expert Systems with Applications 38, 2011.

    Examples
    --------
    >>> from kernelwise.discrimination import efficiency
    >>> X = [[0, 3, 7], [2, 1, 7], [8, 2, 7], [8, 2, 7]]
    >>> efficiency(X, ["low", "low", "high", "high"])
    array([1. , 0.5, 0. ])
    """
    return _mean_over_pairs(_efficiency, X, y, sample_weight)


@dataclass(frozen=True)
class _Group:
    """The rows of one class; missing values are NaN."""

    X: Array
    weights: Array

    @cached_property
    def observed(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.X)

    @cached_property
    def count(self) -> Array:
        return _sums(self.weights, self.observed)

    @cached_property
    def low(self) -> Array:
        low: Array = np.min(self.X, axis=0, where=self.observed, initial=np.inf)
        return low

    @cached_property
    def high(self) -> Array:
        high: Array = np.max(self.X, axis=0, where=self.observed, initial=-np.inf)
        return high

    @cached_property
    def moments(self) -> tuple[Array, Array]:
        """The mean minus the minimum, and the population variance; NaN where nothing is observed.

        Measured from the minimum, the moments of a constant are exactly zero, and a large offset
        costs no precision.
        """
        weights = self.weights / self.weights.max()
        total = _sums(weights, self.observed)
        above = np.where(self.observed, self.X - self.low, 0.0)
        with np.errstate(invalid="ignore"):
            mean = _sums(weights, above) / total
            squares = np.where(self.observed, above - mean, 0.0) ** 2
            return mean, _sums(weights, squares) / total


def _mean_over_pairs(
    measure: Callable[[_Group, _Group], Array], X: Any, y: Any, sample_weight: Any
) -> Array:
    groups = _groups(X, y, sample_weight)
    n_pairs = len(groups) * (len(groups) - 1) // 2
    total: Array = np.zeros(groups[0].X.shape[1])
    for one, other in combinations(groups, 2):
        total += measure(one, other)
    return total / n_pairs


def _groups(X: Any, y: Any, sample_weight: Any) -> list[_Group]:
    """Return the classes, each with its rows of positive weight."""
    X = rows_of(X, missing=True)
    weights = weights_of(sample_weight, len(X))
    classes = classes_of(y, len(X))
    counted = np.unique(classes[weights > 0])
    if len(counted) < 2:
        raise ValueError("y must have at least two classes; one class has the weight of all rows.")
    X = _to_about_one(X)
    weights = weights / weights.max()
    members = [np.flatnonzero((classes == c) & (weights > 0)) for c in counted]
    return [_Group(X[rows], weights[rows]) for rows in members]


def _sums(weights: Array, table: Any) -> Array:
    """Return the weighted sums of the columns, without BLAS: equal columns need equal sums."""
    sums: Array = (weights[:, None] * table).sum(axis=0)
    return sums


def _to_about_one(X: Array) -> Array:
    """Scale each column by a power of two, which is exact, so that no square overflows."""
    largest = np.max(np.abs(X), axis=0, where=~np.isnan(X), initial=0.0)
    scaled: Array = np.ldexp(X, -np.frexp(largest)[1])
    return scaled


def _fisher(one: _Group, other: _Group) -> Array:
    """Measure a pair of classes: eq. 3."""
    (mean, variance), (other_mean, other_variance) = one.moments, other.moments
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gap = (one.low - other.low) + (mean - other_mean)
        ratio: Array = gap**2 / (variance + other_variance)
    ratio[np.isnan(ratio)] = 0.0  # no variance and equal means, or nothing observed
    endless = np.isinf(ratio)
    largest = ratio[~endless].max(initial=0.0)
    ratio[endless] = _CAP * largest if largest > 0 else 1.0
    return ratio


def _overlap(one: _Group, other: _Group) -> tuple[Array, Array]:
    """Return the start and end of the overlap; the end comes first where there is none."""
    return np.maximum(one.low, other.low), np.minimum(one.high, other.high)


def _separation(one: _Group, other: _Group) -> Array:
    """Measure a pair of classes: eq. 4."""
    start, end = _overlap(one, other)
    width = np.maximum(one.high, other.high) - np.minimum(one.low, other.low)
    known = (one.count > 0) & (other.count > 0) & (width > 0)
    return np.divide(start - end, width, out=np.full(len(width), -1.0), where=known)


def _efficiency(one: _Group, other: _Group) -> Array:
    """Measure a pair of classes: eq. 5."""
    start, end = _overlap(one, other)
    inside, count = np.zeros(len(start)), one.count + other.count
    for weights, values in ((one.weights, one.X), (other.weights, other.X)):
        inside += _sums(weights, (values >= start) & (values <= end))
    known = (one.count > 0) & (other.count > 0)
    return 1 - np.divide(inside, count, out=np.ones(len(start)), where=known)
