"""Square blocks of a matrix."""

from __future__ import annotations

import numpy as np

from ._native import gather
from ._typing import Array, Index


def square_block(K: Array, rows: Index) -> Array:
    """Copy some rows and the same columns of a matrix of float32 or float64."""
    block = np.empty((len(rows), len(rows)), dtype=K.dtype)
    gather(np.ascontiguousarray(K), rows, rows, block)
    return block
