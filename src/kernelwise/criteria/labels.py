"""Codes, cost factors and warm starts as criteria take them, checked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .._parameters import as_real
from .._typing import Array
from ..qp import Terms


class CodedLabels:
    """Codes and weights of some rows, checked once for many evaluations.

    ``Y`` (n, m) or (n,): the codes, copied. ``weights`` (n,): the cost factor of each row, copied.
    """

    def __init__(self, Y: Any, weights: Any = None) -> None:
        self.codes = np.array(as_codes(Y))
        self.weights = np.array(as_weights(weights, len(self.codes)))
        self.largest_weight = float(self.weights.max(initial=0.0))
        self._last_terms: tuple[float, list[Terms]] | None = None

    @classmethod
    def of(cls, Y: Any, weights: Any) -> CodedLabels:
        """Return labels as they are, or check codes and weights.

        ``Y``: labels, or codes. ``weights`` (n,): the cost factors that go with codes.
        """
        return Y if isinstance(Y, CodedLabels) else cls(Y, weights)

    @property
    def n_machines(self) -> int:
        """Number of machines."""
        return int(self.codes.shape[1])

    def terms(self, C: float) -> list[Terms]:
        """Return the terms of each machine's C-SVC; the terms of the last C are kept.

        ``C``: the cost, which the cost factors multiply. Returns ``terms``: the terms, one per
        machine.
        """
        if self._last_terms is None or self._last_terms[0] != C:
            self._last_terms = C, [unit.scaled(C) for unit in self._unit_terms]
        return self._last_terms[1]

    @cached_property
    def _unit_terms(self) -> list[Terms]:
        return Terms.c_svcs(self.codes, self.weights)

    @cached_property
    def hard_terms(self) -> list[Terms]:
        """The terms of each machine with a hard margin."""
        return Terms.c_svcs(self.codes, np.inf)


def as_codes(Y: Any) -> Array:
    """Check codes.

    Parameters
    ----------
    Y : array-like of shape (n,) or (n, n_machines), or CodedLabels
        Codes -1, 0 (row not in the machine) and +1.

    Returns
    -------
    codes : ndarray of shape (n, n_machines)
        The codes in float64, one column per machine.
    """
    if isinstance(Y, CodedLabels):
        return Y.codes
    Y = as_real(Y, "Y")
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or not ((Y == 0) | (np.abs(Y) == 1)).all():
        raise ValueError("Y must hold codes -1, 0 and +1, one column per machine.")
    if not Y.any(axis=0).all():
        raise ValueError("Y has a column of zeros, that is, a machine without rows.")
    return Y


def as_weights(weights: Any, n: int) -> Array:
    """Return the cost factor of each row, ones by default."""
    if weights is None:
        return np.ones(n)
    weights = as_real(weights, "weights")
    if weights.shape != (n,) or not (weights > 0).all():
        raise ValueError(f"weights must be {n} positive numbers, one per row.")
    return weights


def starts(start: Any, n_machines: int) -> Sequence[Any]:
    """Return where each machine starts."""
    if start is None:
        return [None] * n_machines
    if len(start) != n_machines:
        raise ValueError(f"start has {len(start)} solutions, but Y has {n_machines} columns.")
    return start
