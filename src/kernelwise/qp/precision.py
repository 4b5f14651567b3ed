"""The one rule for the precision of a kernel matrix: float32 where its rounding cannot be felt."""

from __future__ import annotations

from typing import Any

import numpy as np

TIGHT = 1e-5  # tolerance of the optimality conditions below which float32 is too coarse
SMALL = 400  # rows up to which a kernel matrix that is read several times is stored in float64
_ROUNDING = 2e-8  # mean rounding error of a float32 kernel entry, relative to the largest entry
_FELT = 0.2  # part of the tolerance that rounding errors of a gradient may take
_LENGTH = 30.0  # Euclidean length of the coefficients to expect, relative to their largest bound

_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def is_coarse(tol: float, kernel_size: float, length: float) -> bool:
    """Return whether the rounding of a float32 kernel matrix can be felt in a gradient K b.

    The rounding errors of the entries are independent, so that their sum grows with the Euclidean
    length of b.

    ``tol``: the tolerance of the optimality conditions. ``kernel_size``: the largest absolute value
    on the diagonal of K. ``length``: the Euclidean length of b. Returns ``coarse``, whether float64
    is needed.
    """
    return _ROUNDING * kernel_size * length > _FELT * tol


def dtype_for(tol: float, kernel_size: float, bound: float) -> Any:
    """Choose the precision of a kernel matrix before its machine is solved.

    ``tol``: the tolerance of the optimality conditions. ``kernel_size``: the largest absolute value
    on the diagonal of K. ``bound``: the largest finite bound of the coefficients; zero where all
    bounds are infinite. Returns ``dtype``: float32 where it is precise enough, else float64.

    Examples
    --------
    >>> from kernelwise.qp.precision import dtype_for
    >>> dtype_for(1e-3, 1.0, 100.0), dtype_for(1e-3, 1.0, 1000.0), dtype_for(1e-6, 1.0, 1.0)
    (dtype('float32'), dtype('float64'), dtype('float64'))
    """
    tight = tol < TIGHT or is_coarse(tol, kernel_size, _LENGTH * bound)
    return _DOUBLE if tight else _SINGLE
