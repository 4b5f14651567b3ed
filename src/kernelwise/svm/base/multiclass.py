"""Several classes as machines of two: one against the rest, or every pair.

A code matrix has one column per machine, with entries -1, +1, and 0 for rows outside the machine.
A scheme makes the codes, names the machines, and turns their decision values into classes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from ..._typing import Array, Codes, Index
from ...qp.pairs import pairs_of

MachineName = tuple[Any, Any]  # the classes on the two sides of a machine


class Multiclass(Protocol):
    """How several classes become machines of two classes, and back."""

    name: str

    def n_machines(self, n_classes: int) -> int:
        """Return the number of machines."""

    def codes(self, classes: Index, n_classes: int) -> Codes:
        """Return the code matrix."""

    def machine_names(self, labels: Any) -> list[MachineName]:
        """Return names that identify the machines across fits."""

    def sign_of_first(self, n_classes: int) -> int:
        """Return the code that the first class of a machine's name has."""

    def layout(self, coef: Array, classes: Index, n_classes: int) -> Array:
        """Arrange coefficients of shape (n_support, n_machines) as ``dual_coef_``."""

    def scores(self, decisions: Array, n_classes: int, shape: str) -> Array:
        """Return ``decision_function`` from one decision value per machine."""

    def winners(self, decisions: Array, n_classes: int, break_ties: bool) -> Index:
        """Return the class of each row from one decision value per machine."""

    def pairs(self, n_classes: int) -> Array | None:
        """Return the classes of machines of pairs; None where there is one machine per class."""


class OneVsRest:
    """One machine per class; the largest decision value wins. Two classes need one machine."""

    name = "ovr"

    def n_machines(self, n_classes: int) -> int:
        """Return the number of classes, or one for two classes."""
        return 1 if n_classes == 2 else n_classes

    def codes(self, classes: Index, n_classes: int) -> Codes:
        """Return one column per class, +1 on its rows; for two classes +1 is the second."""
        return one_vs_rest(classes, n_classes)

    def machine_names(self, labels: Any) -> list[MachineName]:
        """Return the class that each machine separates from the rest."""
        names = np.asarray(labels).tolist()
        return [(name, "rest") for name in (names[1:] if len(names) == 2 else names)]

    def sign_of_first(self, n_classes: int) -> int:
        """Return +1: a machine's own class is positive."""
        return 1

    def layout(self, coef: Array, classes: Index, n_classes: int) -> Array:
        """Return one row per machine."""
        return coef.T

    def scores(self, decisions: Array, n_classes: int, shape: str) -> Array:
        """Return one column per class, or a vector for two classes."""
        return decisions.ravel() if n_classes == 2 else decisions

    def winners(self, decisions: Array, n_classes: int, break_ties: bool) -> Index:
        """Return the class of the largest decision value, the first on ties."""
        if n_classes == 2:
            return (decisions[:, 0] > 0).astype(np.intp)
        return largest(decisions)

    def pairs(self, n_classes: int) -> Array | None:
        """Return None: there is one machine per class."""
        return None


class OneVsOne:
    """One machine per pair of classes; the class that wins most pairs is predicted."""

    name = "ovo"

    def n_machines(self, n_classes: int) -> int:
        """Return the number of pairs of classes."""
        return n_classes * (n_classes - 1) // 2

    def codes(self, classes: Index, n_classes: int) -> Codes:
        """Return one column per pair of classes."""
        return one_vs_one(classes, n_classes)

    def machine_names(self, labels: Any) -> list[MachineName]:
        """Return the pair of classes of each machine."""
        names = np.asarray(labels).tolist()
        return [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]

    def sign_of_first(self, n_classes: int) -> int:
        """Return the code of the first class of a pair."""
        return -1 if n_classes == 2 else 1

    def layout(self, coef: Array, classes: Index, n_classes: int) -> Array:
        """Arrange the coefficients as LIBSVM does."""
        return libsvm_layout(coef, classes, n_classes)

    def scores(self, decisions: Array, n_classes: int, shape: str) -> Array:
        """Return one column per class ("ovr") or per pair ("ovo"); a vector for two classes."""
        if n_classes == 2:
            return decisions.ravel()
        return pairs_to_classes(decisions, n_classes) if shape == "ovr" else decisions

    def winners(self, decisions: Array, n_classes: int, break_ties: bool) -> Index:
        """Return the class with most votes; ties go to the first, or to the highest score."""
        if break_ties and n_classes > 2:
            return pairs_to_classes(decisions, n_classes).argmax(axis=1)
        return vote(decisions, n_classes)

    def pairs(self, n_classes: int) -> Array | None:
        """Return +1 for the first class of each machine and -1 for the second, row by row."""
        if n_classes == 2:
            return None
        return one_vs_one(np.arange(n_classes), n_classes).T.astype(np.float64)


ONE_VS_REST: Multiclass = OneVsRest()
ONE_VS_ONE: Multiclass = OneVsOne()
SCHEMES: dict[str, Multiclass] = {"ovr": ONE_VS_REST, "ovo": ONE_VS_ONE}


def one_vs_one(classes: Index, n_classes: int) -> Codes:
    """Return one column for each pair of classes, in the order of scikit-learn.

    With two classes the second is +1; with more the first of each pair is, as in scikit-learn's
    one-vs-one decision values.
    """
    if n_classes == 2:
        return (2 * classes - 1).astype(np.int8)[:, None]
    first, second = pairs_of(n_classes)
    machines = np.arange(len(first))
    of_class = np.zeros((n_classes, len(machines)), dtype=np.int8)
    of_class[first, machines] = 1
    of_class[second, machines] = -1
    return of_class[classes]


def one_vs_rest(classes: Index, n_classes: int) -> Codes:
    """Return one column per class, +1 on its rows; for two classes one, +1 for the second."""
    if n_classes == 2:
        return one_vs_one(classes, n_classes)
    return np.where(classes[:, None] == np.arange(n_classes), 1, -1).astype(np.int8)


def members_of(codes: Codes) -> list[Index]:
    """Return the rows of each machine."""
    return [np.flatnonzero(column) for column in codes.T]


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

    A row that is a free support vector of two machines has the value -1 in both, so differences
    at the level of rounding count as ties.
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

    ``coef`` (n_support, n_machines): the signed coefficients of each machine. ``classes``
    (n_support,): the class of each support vector. Returns ``dual_coef`` (n_classes - 1,
    n_support), row r of a column holds the coefficient against the r-th of the other classes.
    """
    if n_classes == 2:
        return coef.T.copy()
    return coef[np.arange(len(classes))[:, None], _machines_of(n_classes)[classes]].T.copy()


def pairs_of_layout(dual_coef: Array, classes: Index, n_classes: int) -> Array:
    """Return the coefficients of each one-vs-one machine from LIBSVM's arrangement of them.

    ``dual_coef`` (n_classes - 1, n_support): as `libsvm_layout` returns it. ``classes``
    (n_support,): the class of each support vector. Returns ``coef`` (n_support, n_machines), the
    signed coefficients of each machine.
    """
    coef = np.zeros((len(classes), n_classes * (n_classes - 1) // 2))
    coef[np.arange(len(classes))[:, None], _machines_of(n_classes)[classes]] = dual_coef.T
    return coef


@lru_cache(maxsize=16)
def _machines_of(n_classes: int) -> Index:
    """Return the one-vs-one machines of each class, in the order of the other classes."""
    first, second = pairs_of(n_classes)
    machines = np.empty((n_classes, n_classes - 1), dtype=np.intp)
    machines[first, second - 1] = machines[second, first] = np.arange(len(first))
    return machines
