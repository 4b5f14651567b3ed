"""Where the width of a kernel starts, before anything is known of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from .pairwise import PairwiseKernel
from .stationary import Laplacian

_SAMPLE = 200  # rows whose distances to each other are enough to know the typical one


def typical_gamma(kernel: PairwiseKernel, X: Array, random_state: Any) -> float:
    """Return the gamma at which typical rows are one unit apart.

    Parameters
    ----------
    kernel : Laplacian or SquaredDistanceKernel
        The kernel; its weights count, its gamma does not.
    X : ndarray of shape (n, d)
        The rows.
    random_state : RandomState
        Picks 200 rows where there are more.

    Returns
    -------
    gamma : float
        One over the median distance of some rows for the Laplacian, and over the sum of the
        columns' variances for kernels of squares; 1 where all rows are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF, Laplacian
    >>> from kernelwise.kernels.widths import typical_gamma
    >>> X, rng = np.array([[0.0, 0.0], [1.0, 1.0]]), np.random.RandomState(0)
    >>> typical_gamma(Laplacian(), X, rng), typical_gamma(RBF(), X, rng)
    (1.0, 2.0)
    """
    weights = np.ones(X.shape[1]) if kernel.weights is None else kernel.weights
    if isinstance(kernel, Laplacian):
        some = X if len(X) <= _SAMPLE else X[random_state.permutation(len(X))[:_SAMPLE]]
        size = _middle_distance(kernel.with_params(gamma=1.0), some)
    else:
        size = float(weights @ X.var(axis=0))
    return 1 / size if size > 0 else 1.0


def _middle_distance(kernel: Any, X: Array) -> float:
    """Return the median distance, of a row to itself included; the mean where that is zero."""
    left, right = kernel._sides(X, X, np.float64)
    distances = np.empty((len(X), len(X)))
    kernel._terms(left, right, distances)
    return float(np.median(distances)) or float(distances.mean())
