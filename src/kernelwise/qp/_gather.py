"""A compiled leaf: a block of a stored matrix. Loads numba."""

# mypy: ignore-errors

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def gather(K, rows, columns):
    """Copy a block of K in float64: three to five times as fast as an open mesh of indices."""
    out = np.empty((rows.shape[0], columns.shape[0]), np.float64)
    for i in range(rows.shape[0]):
        source, target = K[rows[i]], out[i]
        for j in range(columns.shape[0]):
            target[j] = source[columns[j]]
    return out
