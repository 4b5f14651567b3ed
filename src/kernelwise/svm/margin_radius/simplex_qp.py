"""Quadratic programs on the simplex, the steps of sequential quadratic programming there.

    min 1/2 x'Hx + c'x   s.t.   sum x = 1,  x >= 0

by a primal active-set method: zeros are exact, and a feasible start makes it short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dposv

from ..._typing import Array

_RIDGE = 1e-11  # ridge relative to the largest diagonal entry: H may be singular
_SLACK = 1e-12  # relative tolerance on the sign of a multiplier


def simplex_qp(H: Array, c: Array, start: Array) -> Array:
    """Minimise 1/2 x'Hx + c'x over the simplex.

    Shapes: ``c`` (k,). ``H`` (k, k): a positive semi-definite matrix. A little of the identity is
    added, so that the minimum is unique. ``start`` (k,): a point of the simplex; its positive
    entries are free at first. Returns ``x`` (k,): the minimum, with exact zeros. Never above the
    start, also where rounding ends it early.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.svm.margin_radius.simplex_qp import simplex_qp
    >>> simplex_qp(np.eye(3), np.array([0.0, 0.5, 2.0]), np.full(3, 1 / 3))
    array([0.75, 0.25, 0.  ])
    """
    size = float(np.diagonal(H).max()) or 1.0
    # The same number everywhere changes no minimum of sum one, and is the curvature that H may lack
    # across the simplex. The ridge pulls towards the start.
    H, c = H + size * (1 + _RIDGE * np.eye(len(H))), c - _RIDGE * size * start
    x, free = start.copy(), start > 0
    for _ in range(10 * len(H) + 10):
        target, level = _on_face(H, c, free)
        if (target >= 0).all():
            x[free] = target
            slopes = H @ x + c - level  # gain from raising an entry above the common level
            slopes[free] = 0
            worst = int(slopes.argmin())
            if slopes[worst] >= -_SLACK * (abs(level) + np.abs(c).max()):
                break
            free[worst] = True
        else:
            x, free = _to_the_boundary(x, free, target)
    return x / x.sum()


def _on_face(H: Array, c: Array, free: Any) -> tuple[Array, float]:
    """Minimise over the free entries with sum one, signs aside; also the common slope there."""
    A, rhs = H[np.ix_(free, free)], np.column_stack([-c[free], np.ones(int(free.sum()))])
    scale = float(np.diagonal(A).max())
    for ridge in (0.0, 1e-9, 1e-6):
        A.flat[:: len(A) + 1] += ridge * scale
        _, solved, failed = dposv(A, rhs)
        if not failed:
            by_c, by_one = solved.T
            level = float((1 - by_c.sum()) / by_one.sum())
            return by_c + level * by_one, level
    # A ridge of 1e-6 suffices for anything that is nearly PSD.
    raise ValueError("H must be positive semi-definite.")  # pragma: no cover


def _to_the_boundary(x: Array, free: Any, target: Array) -> tuple[Array, Any]:
    """Go towards the target until an entry is zero, and hold that entry."""
    own = x[free]
    falling = target < 0
    room = np.where(falling, own / np.where(falling, own - target, 1.0), np.inf)
    step = float(room.min())
    moved = own + step * (target - own)
    moved[room <= step] = 0.0
    x, free = x.copy(), free.copy()
    x[free] = np.maximum(moved, 0.0)
    where = np.flatnonzero(free)
    free[where[room <= step]] = False
    return x, free
