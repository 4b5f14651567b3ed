"""Kernel-target alignment: the similarity of kernel and classes (Cristianini 2001).

    A = <K, y y'> / (|K| |y y'|),   with both centred on request (Cortes 2012)

No machine is solved, so it is cheap, but it says nothing about a margin.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._parameters import as_matrix
from .._typing import Array, Gram
from ..kernels import Cotangent
from ..qp import SMO
from ..qp.gram import as_gram
from .base import CriterionValue
from .labelled import LabelledCriterion
from .labels import CodedLabels, as_codes


def alignment(K: Array, y: Any, *, centered: bool = True) -> float:
    """Compute the kernel-target alignment.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The kernel matrix.
    y : array-like of shape (n,)
        Codes -1, 0 (row left out) and +1.
    centered : bool, default=True
        Whether kernel and target are centred first.

    Returns
    -------
    alignment : float
        At most one.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import alignment
    >>> y = np.array([-1.0, 1.0, 1.0, -1.0])
    >>> round(alignment(np.outer(y, y), y), 6)
    1.0
    """
    codes = as_codes(y)
    if codes.shape[1] != 1:
        raise ValueError(f"y must be one vector of codes; got {codes.shape[1]} columns.")
    y = codes[:, 0]
    rows = np.flatnonzero(y)
    K = as_gram(as_matrix(K, len(y))).block(rows, rows)
    return _alignment(K, y[rows], centered)[0]


@dataclass(frozen=True)
class Alignment(LabelledCriterion):
    """One minus the kernel-target alignment, summed over the machines.

    Parameters
    ----------
    C : float, default=1.0
        Ignored, as no machine is solved.
    solver : SMO, default=SMO(tol=1e-6)
        Only its tolerance is read: below 1e-5 the kernel is in float64.
    threads : int, default=1
        Ignored.
    centered : bool, default=True
        Whether kernel and target are centred first.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import Alignment
    >>> y = np.array([-1.0, 1.0, 1.0, -1.0])
    >>> round(Alignment().evaluate(np.eye(4), y).value, 3)
    0.423
    """

    solver: SMO = field(default_factory=lambda: SMO(tol=1e-6))
    centered: bool = True

    def _evaluate(
        self, K: Array | Gram, labels: CodedLabels, start: Any, gradient: bool
    ) -> CriterionValue:
        Y = labels.codes
        K = self.dense(K).astype(np.float64, copy=False)
        if K.shape != (len(Y), len(Y)):
            raise ValueError(f"K must be {len(Y)} by {len(Y)}, as Y has {len(Y)} rows.")
        value, dense = 0.0, np.zeros_like(K) if gradient else None
        for y in Y.T:
            rows = np.flatnonzero(y)
            own, slope = _alignment(K[np.ix_(rows, rows)], y[rows], self.centered)
            value += 1 - own
            if dense is not None:
                dense[np.ix_(rows, rows)] -= slope
        return CriterionValue(value, None if dense is None else Cotangent.of(dense))


def _alignment(K: Array, y: Array, centered: bool) -> tuple[float, Array]:
    """Return the alignment and its derivative by K; zero where kernel or target is constant."""
    target = y - y.mean() if centered else y
    whole = float(np.linalg.norm(K))
    K = _centre(K) if centered else K
    size, length = float(np.linalg.norm(K)), float(target @ target)
    if size <= 1e-12 * whole or length == 0:
        return 0.0, np.zeros_like(K)
    value = float(target @ K @ target) / (size * length)
    slope = np.outer(target, target) / (size * length) - (value / size**2) * K
    return value, slope  # where K and y are centred, both terms are as well


def _centre(K: Array) -> Array:
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()
