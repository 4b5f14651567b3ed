"""Categories whose order says something: levels that are neighbours have similar classes.

Codes of communes, schools or industries are often numbered region by region, so that neighbours
are alike. With the weight n_l of level l, its rows i and the share p of each class, the vectors

    e_l = sum_i w_i (t_i - p) / sqrt(n_l)

have about the same spread at all levels. Where the order means nothing, the sum over the pairs of
levels that are at most a few steps apart

    S = sum_(l, m) e_l' e_m

has a mean of about zero and the variance (number of pairs) tr(C^2), with C the mean of e_l e_l'. A
category with S far above zero is read as a number as well: two rows may be of the same level, of
levels that are near, or of levels that are far apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._typing import Array, Index
from .columns import OTHER, CategoryCodes, OrderedCodes
from .raw_columns import Level

LEAST_ROWS = 1000  # rows from which the order of levels is looked at
_LEAST_LEVELS = 40  # levels from which it is: fewer have rows enough of their own
_STEPS = 8  # places between two levels up to which they are neighbours
_LEAST_SCORE = 4.0  # deviations above zero from which S is not chance


def ordered_codes(
    categories: Sequence[CategoryCodes], X: Array, classes: Index, weight: Array
) -> tuple[OrderedCodes, ...]:
    """Find the categories whose order says something of the classes.

    Parameters
    ----------
    categories : sequence of CategoryCodes
        The codes of each category.
    X : ndarray of shape (n, d)
        Encoded rows.
    classes : ndarray of shape (n,)
        The number of each row's class.
    weight : ndarray of shape (n,)
        The weight of each row.

    Returns
    -------
    ordered : tuple of OrderedCodes
        The place of each code, for these categories.
    """
    found = []
    for own in categories:
        if len(own.levels) < _LEAST_LEVELS:
            continue
        places = _places(own.levels)
        code = X[:, own.column].astype(np.intp)
        is_level = (code != OTHER) & (code <= len(own.levels))
        place = places[code[is_level] - 1]
        if order_score(place, classes[is_level], weight[is_level]) >= _LEAST_SCORE:
            of_code = np.full(own.n_codes, np.median(place))
            of_code[1 : 1 + len(places)] = places
            found.append(OrderedCodes(own.column, of_code))
    return tuple(found)


def order_score(place: Index, classes: Index, weight: Array) -> float:
    """Return how many deviations neighbouring levels are more alike than by chance.

    Parameters
    ----------
    place : ndarray of shape (n,)
        The place of each row's level.
    classes : ndarray of shape (n,)
        The number of each row's class.
    weight : ndarray of shape (n,)
        The weight of each row.

    Returns
    -------
    score : float
        S over its standard deviation; zero where all levels have the same shares of the classes.
    """
    level = np.unique(place, return_inverse=True)[1]
    sums = np.column_stack(
        [np.bincount(level, weight * (classes == k)) for k in range(int(classes.max()) + 1)]
    )
    total = sums.sum(axis=1, keepdims=True)
    e = (sums - total * (sums.sum(axis=0) / total.sum())) / np.sqrt(total)
    steps = range(1, min(_STEPS, len(e) - 1) + 1)
    S = sum(float(np.sum(e[step:] * e[:-step])) for step in steps)
    n_pairs = sum(len(e) - step for step in steps)
    deviation = float(np.sqrt(n_pairs) * np.linalg.norm(e.T @ e) / len(e))
    return S / deviation if deviation > 0 else 0.0


def _places(levels: Sequence[Level]) -> Index:
    """Return the place of each level: numbers by their value, also those that are words."""
    keys = [_key(level) for level in levels]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return places


def _key(level: Level) -> tuple[bool, float, str]:
    """Return what levels are sorted by: numbers come first, then words."""
    try:
        number = float(level)
    except ValueError:
        number = np.nan
    return (False, number, "") if np.isfinite(number) else (True, 0.0, str(level))
