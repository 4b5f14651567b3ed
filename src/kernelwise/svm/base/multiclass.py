"""Several classes as a code matrix: one column a machine, entries -1, 0 (not in it) and +1."""

from __future__ import annotations

import numpy as np

from ..._typing import Array, Codes, Index


def classes_of(y: Array) -> tuple[Array, Index]:
    """Return the classes in order, and the class of each row."""
    if y.dtype.kind in "biu" and len(y):  # two of them are found without a sort
        low, high = y.min(), y.max()
        is_high = y == high
        if low != high and (is_high | (y == low)).all():
            return np.array([low, high], dtype=y.dtype), is_high.astype(np.intp)
    classes = np.unique(y)
    return classes, np.searchsorted(classes, y)


def one_vs_one(classes: Index, n_classes: int) -> Codes:
    """Return a column for each pair of classes, in the order of scikit-learn.

    With two classes the second is +1; with more the first of each pair is, as in scikit-learn's
    one-vs-one decision values.
    """
    if n_classes == 2:
        return (2 * classes - 1).astype(np.int8)[:, None]
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    codes = np.zeros((len(classes), len(pairs)), dtype=np.int8)
    for column, (i, j) in enumerate(pairs):
        codes[classes == i, column] = 1
        codes[classes == j, column] = -1
    return codes


def members_of(codes: Codes) -> list[Index]:
    """Return the rows of each machine."""
    if codes.shape[1] == 1:  # of two classes no row is left out
        return [np.arange(len(codes))]
    return [np.flatnonzero(column) for column in codes.T]


def one_vs_rest(classes: Index, n_classes: int) -> Codes:
    """Return a column for each class, +1 on its rows; with two classes one, +1 for the second."""
    if n_classes == 2:
        return one_vs_one(classes, n_classes)
    return np.where(classes[:, None] == np.arange(n_classes), 1, -1).astype(np.int8)


def vote(decisions: Array, n_classes: int) -> Index:
    """Return the class that wins most of its pairs; the first one on ties."""
    if n_classes == 2:
        return (decisions[:, 0] > 0).astype(np.intp)
    votes = np.zeros((len(decisions), n_classes), dtype=np.int64)
    column = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            wins = decisions[:, column] > 0
            votes[:, i] += wins
            votes[:, j] += ~wins
            column += 1
    return votes.argmax(axis=1)


def largest(decisions: Array) -> Index:
    """Return the column of the largest decision value, the first on ties.

    A row that is a free support vector of two machines has the value -1 in both: what rounding
    leaves between the two must not decide.
    """
    most = decisions.max(axis=1, keepdims=True)
    return (decisions >= most - 1e-9 * (1 + np.abs(most))).argmax(axis=1)


def pairs_to_classes(decisions: Array, n_classes: int) -> Array:
    """Turn one-vs-one decision values into one score per class, by votes and then confidence.

    A score is the number of votes plus the sum of the class's decision values, squashed into
    (-1/3, 1/3) so that it decides only between equal votes, as in scikit-learn.
    """
    votes, confidence = np.zeros((2, len(decisions), n_classes))
    column = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            pair = decisions[:, column]
            votes[:, i] += ~(pair < 0)
            votes[:, j] += pair < 0
            confidence[:, i] += pair
            confidence[:, j] -= pair
            column += 1
    return votes + confidence / (3 * (np.abs(confidence) + 1))


def libsvm_layout(coef: Array, classes: Index, n_classes: int) -> Array:
    """Arrange the coefficients of one-vs-one machines as LIBSVM does.

    Parameters
    ----------
    coef : ndarray of shape (n_support, n_machines)
        The signed coefficients of each machine.
    classes : ndarray of shape (n_support,)
        The class of each support vector.
    n_classes : int
        The number of classes.

    Returns
    -------
    dual_coef : ndarray of shape (n_classes - 1, n_support)
        Row r of a column holds the coefficient against the r-th of the other classes.
    """
    if n_classes == 2:
        return coef.T.copy()
    out = np.zeros((n_classes - 1, len(classes)))
    column = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            own_i, own_j = classes == i, classes == j
            out[j - 1, own_i] = coef[own_i, column]
            out[i, own_j] = coef[own_j, column]
            column += 1
    return out


def pairs_of_layout(dual_coef: Array, classes: Index, n_classes: int) -> Array:
    """Return the coefficients of each one-vs-one machine from LIBSVM's arrangement of them.

    Parameters
    ----------
    dual_coef : ndarray of shape (n_classes - 1, n_support)
        As `libsvm_layout` returns it.
    classes : ndarray of shape (n_support,)
        The class of each support vector.
    n_classes : int
        The number of classes.

    Returns
    -------
    coef : ndarray of shape (n_support, n_machines)
        The signed coefficients of each machine.
    """
    columns = []
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            columns.append(np.where(classes == i, dual_coef[j - 1], 0.0))
            columns[-1] += np.where(classes == j, dual_coef[i], 0.0)
    return np.column_stack(columns)
