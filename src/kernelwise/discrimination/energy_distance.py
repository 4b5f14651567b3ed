"""The energy distance between the classes along each feature."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._native import squared_gaps
from .._parameters import as_real
from .._typing import Array, Index
from ._input import categories_of, classes_of, rows_of, weights_of

_BLOCK = 2**20  # entries of X sorted at a time, which bounds the memory needed beside X


def energy(X: Any, y: Any, *, sample_weight: Any = None, categorical: Any = None) -> Array:
    """Return the energy distance between the classes along each feature, relative to chance.

    The energy distance of class c to the rest is 2 m(c, not c) - m(c, c) - m(not c, not c), where
    m(a, b) is the mean of ``|x_i - x_j|`` over the rows i of a and j of b, i = j included. Classes
    are weighted by their size. The distance is divided by its mean over all permutations of the
    labels: a feature unrelated to the classes has a ratio of about 1, and relevant features have
    larger ones. Two levels of a category have the distance 1, whichever they are.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows, dense and finite.
    y : array-like of shape (n_samples,)
        The classes, at least two.
    sample_weight : array-like of shape (n_samples,), default=None
        Number of rows that each row stands for: a weight of 2 equals giving the row twice, zero
        leaves it out. Fractions are allowed; the sum must exceed 1.
    categorical : array-like of bool of shape (n_features,), default=None
        Which features are categories, given as codes from 0 on; None means none.

    Returns
    -------
    ratio : ndarray of shape (n_features,)
        The ratios, at least 0; 0 for a constant feature. Shifting or scaling a feature does not
        change them.

    See Also
    --------
    log_relevance : Factors of feature weights that follow from the ratios.

    Notes
    -----
    Each feature is sorted, and each class takes one pass over the sorted rows. The energy distance
    is twice the integral of the squared difference of the distribution functions [1]_, a sum of
    squares over the sorted rows, so that a large offset of a feature costs no precision.

    References
    ----------
    .. [1] G. J. Székely and M. L. Rizzo, "Energy statistics: A class of statistics based on
       distances", Journal of Statistical Planning and Inference 143(8), 2013.

    Examples
    --------
    >>> from kernelwise.discrimination import energy
    >>> X = [[0, 3, 7], [1, 1, 7], [8, 2, 7], [9, 2, 7]]
    >>> energy(X, ["low", "low", "high", "high"]).round(2)
    array([2.65, 1.  , 0.  ])

    Of a category, only whether two rows agree counts:

    >>> energy([[0], [0], [9], [4]], ["low", "low", "high", "high"], categorical=[True]).round(2)
    array([1.8])
    """
    X = rows_of(X)
    weights = weights_of(sample_weight, len(X))
    if sample_weight is not None and weights.sum() <= 1:
        raise ValueError(
            "sample_weight must sum to more than 1, as it counts rows; it sums to "
            f"{weights.sum():.6g}."
        )
    return energy_ratios(X, classes_of(y, len(X)), weights, categories_of(categorical, X.shape[1]))


def energy_ratios(X: Array, classes: Index, weights: Array, category: Any) -> Array:
    """Return the ratios of `energy`, of arguments that are checked.

    ``X`` (n, d): the rows, finite. ``classes`` (n,): their classes, from 0 on, each of which has
    rows. ``weights`` (n,): numbers of rows, of a sum above 1. ``category`` (d,): which features are
    categories. Returns ``ratio`` (d,).
    """
    counted = weights >= np.finfo(np.float64).tiny  # the inverse of less could overflow
    if not counted.all():
        X, weights = X[counted], weights[counted]
        classes = np.unique(classes[counted], return_inverse=True)[1]
    n, share, rest = _shares(classes, weights)
    # e = sum_c share_c 2 int (F_c - F_rest)^2, where F_c - F_rest = (F_c - F) / rest_c;
    # null = 2 n/(n-1) int F (1 - F) * sum_c 1/(n rest_c), as share_c (1/n_c + 1/(n - n_c)) is that.
    factors = (n - 1) * share / rest**2 / np.sum(1 / rest)
    between, within = np.empty((2, X.shape[1]))
    for kind, parts in ((~category, _integrals), (category, _sums)):
        if kind.any():
            own = X if kind.all() else X[:, kind]
            between[kind], within[kind] = parts(own, classes, weights, factors)
    return np.divide(between, within, out=np.zeros_like(within), where=within > 0)


def log_relevance(ratio: Any, floor: float = 0.1) -> Array:
    """Return the logarithm of the factor by which to multiply each feature's weight.

    The factors are proportional to the excess of the ratios over 1, their value by chance. They
    have mean 1, so that the weights keep their overall size.

    Parameters
    ----------
    ratio : array-like of shape (n_features,)
        The value of a measure for each feature, 1 by chance: see `energy`.
    floor : float, default=0.1
        The smallest excess, to which smaller ones are raised. It is positive, so that no feature is
        dropped.

    Returns
    -------
    logs : ndarray of shape (n_features,)
        Positive where the weight should increase, negative where it should decrease.

    See Also
    --------
    energy : A measure.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.discrimination import log_relevance
    >>> np.exp(log_relevance([6.0, 2.0, 0.9])).round(2)
    array([2.46, 0.49, 0.05])
    """
    ratio = as_real(ratio, "ratio")
    if ratio.ndim != 1 or not ratio.size or not np.isfinite(ratio).all():
        raise ValueError("ratio must be finite numbers, one per feature.")
    if not 0 < floor <= sys.float_info.max:  # a whole number may exceed every float
        raise ValueError(f"floor must be a positive number; got {floor!r}.")
    excess = np.maximum(ratio - 1, floor)
    largest = excess.max()
    logs: Array = np.log(excess) - np.log(largest) - np.log(np.mean(excess / largest))
    return logs


def _shares(classes: Index, weights: Array) -> tuple[float, Array, Array]:
    """Return the total weight, and its shares inside and outside each class."""
    n_c = np.bincount(classes, weights)
    n = float(n_c.sum())
    rest = (n - n_c) / n
    if rest.min() <= np.finfo(np.float64).eps:  # zero up to rounding
        raise ValueError("y must have at least two classes; one class has the weight of all rows.")
    return n, n_c / n, rest


def _integrals(X: Array, classes: Index, weights: Array, factors: Array) -> tuple[Array, Array]:
    """Return int sum_c factors_c (F_c - F)^2 dx and int F (1 - F) dx for each feature."""
    n, d = X.shape
    out = np.empty((d, 2))
    width = max(8, _BLOCK // n)  # fewer columns would read each cache line of X several times
    for start in range(0, d, width):
        columns = slice(start, start + width)
        Xt = _in_range(np.array(X[:, columns].T, order="C"))
        order = np.argsort(Xt, axis=1)
        squared_gaps(Xt, order, classes, weights, factors, out[columns])
    return out[:, 0], out[:, 1]


def _sums(codes: Array, classes: Index, weights: Array, factors: Array) -> tuple[Array, Array]:
    """Return 1/2 sum_l sum_c factors_c (p_cl - p_l)^2 and 1/2 (1 - sum_l p_l^2) per category.

    p_l is the share of level l among the rows, p_cl its share within class c. Twice these are what
    twice the integrals are for numbers: mean distances between and within.
    """
    out = np.empty((2, codes.shape[1]))
    n_classes = len(factors)
    for k, own in enumerate(codes.T):
        place = np.unique(own, return_inverse=True)[1] * n_classes + classes
        n_places = n_classes * (place.max() // n_classes + 1)
        table = np.bincount(place, weights, minlength=n_places).reshape(-1, n_classes)
        share = table.sum(axis=1) / weights.sum()
        gaps = table / table.sum(axis=0) - share[:, None]
        out[:, k] = (gaps**2).sum(axis=0) @ factors / 2, (1 - share @ share) / 2
    return out[0], out[1]


def _in_range(Xt: Array) -> Array:
    """Scale rows whose differences could over- or underflow by a power of two, which is exact."""
    largest = np.maximum(Xt.max(axis=1), -Xt.min(axis=1))
    far = (largest > 1e200) | (largest < 1e-200)
    if far.any():
        exponent = np.frexp(largest[far])[1]
        Xt[far] = np.ldexp(Xt[far], -exponent[:, None])
    return Xt
