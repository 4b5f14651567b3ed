"""Blocks of a matrix in memory, compiled: several times as fast as an open mesh of indices.

Import this module inside functions: it loads numba.
"""

# mypy: ignore-errors

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def gather(K, rows, columns, out):
    """Copy a block of K."""
    for i in range(rows.shape[0]):
        source, target = K[rows[i]], out[i]
        for j in range(columns.shape[0]):
            target[j] = source[columns[j]]


@njit(cache=True, nogil=True)
def square_block(K, some):
    """Return the rows and columns ``some`` of K."""
    out = np.empty((some.shape[0], some.shape[0]), K.dtype)
    gather(K, some, some, out)
    return out
