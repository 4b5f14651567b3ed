"""Sequential minimal optimisation on a growing set of rows.

    min 1/2 b'Kb - p'b   s.t.   sum b = c,   lo <= b <= hi

Only rows that violate the optimality conditions are ever computed: the active set starts small,
is solved by second-order SMO in compiled code, and takes in the worst violators of the rest, until
none is left. The gradient of all rows is kept in float64 and updated by what changed, so that
the rounding of the compiled steps does not accumulate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._threads import single_blas
from .._typing import Array
from .gram import StoredGram
from .polish import DEAR, polish
from .problem import DualQP, Point, Solution
from .rows import GrowingRows, StoredRows
from .run import Progress, Run

_TIGHT = 1e-5  # below this tolerance float32 rows are too coarse
SMALL = 400  # rows up to which a kernel matrix is evaluated once, in float64
_PATIENCE = 50_000  # steps before the active-set method is tried
_LONGEST = 2e10  # row entries swept before a run without a limit of its own ends
_RESOLVABLE = 1e14  # largest term of a gradient whose rounding, 1e-2, leaves a margin to be seen
_FEWEST = 64  # rows that are kept in any case: with fewer no pair can be picked well
_BLOCK = 4e8  # bytes of rows kept when not all of them fit


@dataclass(frozen=True)
class SMO:
    """Solver of the dual with one equality sum b = c, warm from any start.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop when the largest gradient of what can fall is within ``tol`` of the least of what
        can rise, as LIBSVM does. Below 1e-5 the kernel is computed in float64.
    max_iter : int, default=-1
        Most steps; -1 is 10 million, fewer where many rows make them slow.
    memory : float, default=2e9
        Bytes for rows of a lazy kernel matrix. Where all of them do not fit, a small part does.
    exact : bool, default=True
        Whether to polish the solution on its free variables where that is cheap, which makes
        it exact to rounding and independent of the start.
    budget : float, default=1e5
        What counts as cheap, in kernel entries.
    callback : callable, default=None
        Called as ``callback(progress)`` with a `Progress` between compiled stretches.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF, LazyGram
    >>> from kernelwise.qp import SMO, c_svc
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1.0, -1.0, 1.0])
    >>> solution = SMO().solve(c_svc(LazyGram(RBF(), X), y, C=10.0))
    >>> solution.status, solution.violation < 1e-9
    ('converged', True)
    """

    tol: float = 1e-3
    max_iter: int = -1
    memory: float = 2e9
    exact: bool = True
    budget: float = 1e5
    callback: Callable[[Progress], Any] | None = None

    def supports(self, qp: DualQP) -> str | None:
        """Say why the problem cannot be solved.

        Parameters
        ----------
        qp : DualQP
            The problem.

        Returns
        -------
        reason : str or None
            None when it can be solved.
        """
        if qp.A.shape[0] != 1:
            return f"SMO solves problems with one equality; this one has {qp.A.shape[0]}"
        if not qp.sums_to_constant:
            return "SMO needs the equality sum b = c, a row of ones"
        return None

    def solve(self, qp: DualQP, *, start: Solution | Array | None = None) -> Solution:
        """Solve the problem.

        Parameters
        ----------
        qp : DualQP
            The problem.
        start : Solution or ndarray of shape (n,), default=None
            Where to start; any vector will do, it is projected onto the constraints.

        Returns
        -------
        solution : Solution
            The solution with its certificate.
        """
        reason = self.supports(qp)
        if reason is not None:
            raise ValueError(f"{reason}.")
        beta = _start(qp, start.beta if isinstance(start, Solution) else start)
        with single_blas():
            qp = self._with_small_kernel(qp)
            solution = self._certified(qp, qp, beta)
            within = qp if solution.converged else _resolvable(qp)
            if within is not qp:
                other = self._certified(qp, within, within.repair(beta))
                solution = min(solution, other, key=lambda each: each.violation)
        if self.callback is not None:
            self.callback(Progress(solution.n_iter, solution.violation, solution.objective, qp.n))
        return solution

    def _certified(self, qp: DualQP, within: DualQP, beta: Array) -> Solution:
        """Solve within bounds that may be narrower than the problem's own; certify for those."""
        point = self._converge(within, beta)
        if self.exact and point.status == "converged":
            point = polish(within, point, self.tol, self.budget if self.tol >= _TIGHT else DEAR)
        solution = Solution.at(qp, replace(point, beta=qp.snap(point.beta)))
        if within is not qp and solution.violation > self.tol:
            return replace(solution, status="stalled")  # at a bound that is not the problem's
        return solution

    def _with_small_kernel(self, qp: DualQP) -> DualQP:
        """Store a small kernel matrix in float64: solving and polishing then evaluate it once."""
        if isinstance(qp.gram, StoredGram) or qp.n > SMALL:
            return qp
        return replace(qp, K=qp.gram.dense(np.float64), is_psd=qp.gram.is_psd)

    def _converge(self, qp: DualQP, beta: Array) -> Point:
        """Run to the tolerance; where steps do not get there, take turns with the active set."""
        dtype, most = self._dtype(qp), self._most_steps(qp)
        patience, n_iter = max(_PATIENCE, 20 * qp.n), 0
        while True:
            point = self._run(qp, beta, dtype, min(most - n_iter, patience), n_iter)
            n_iter += point.n_iter
            point = replace(point, n_iter=n_iter)
            stalled = point.status == "stalled" and dtype == np.float64
            coarse = dtype == np.float32 and self._too_coarse(qp, np.linalg.norm(point.beta))
            if n_iter >= most or (point.status == "converged" and not coarse):
                return point
            if coarse or point.status == "stalled":
                dtype = np.float64
            if self.exact:
                point = polish(qp, replace(point, status="max_iter"), self.tol, DEAR)
            if stalled and point.status != "converged":
                point = replace(point, status="stalled")
            if stalled or point.status == "converged":
                return point
            beta, patience = point.beta, 2 * patience

    def _dtype(self, qp: DualQP) -> Any:
        if self.tol < _TIGHT or self._too_coarse(qp, 30 * _largest_bound(qp)):
            return np.float64
        return qp.gram.K.dtype if isinstance(qp.gram, StoredGram) else np.float32

    def _too_coarse(self, qp: DualQP, size: Any) -> bool:
        """Tell whether float32 rounding of K, times coefficients of this size, can be felt.

        Entries are rounded by 2e-8 in the mean; what they do to a gradient adds up as noise does.
        """
        return bool(2e-8 * np.abs(qp.gram.diag()).max(initial=0.0) * size > 0.2 * self.tol)

    def _most_steps(self, qp: DualQP) -> int:
        if self.max_iter >= 0:
            return self.max_iter
        return int(max(100 * qp.n, min(1e7, _LONGEST / max(1, qp.n))))

    def _rows(self, qp: DualQP, dtype: Any) -> StoredRows | GrowingRows:
        if isinstance(qp.gram, StoredGram):
            return StoredRows(np.ascontiguousarray(qp.gram.K, dtype=dtype))
        bytes_a_row = np.dtype(dtype).itemsize * qp.n
        fits = self.memory >= bytes_a_row * qp.n
        # Without room for all, a block of moderate size: what it saves falls, what it costs rises.
        capacity = qp.n if fits else max(_FEWEST, int(min(self.memory, _BLOCK) / bytes_a_row))
        return GrowingRows(qp.gram, dtype, capacity)

    def _run(self, qp: DualQP, beta: Array, dtype: Any, most_steps: int, before: int) -> Point:
        rows = self._rows(qp, dtype)
        try:
            run = Run(qp, beta, rows, self.tol, before)
            while run.status == "":
                run.round(most_steps)
                if self.callback is not None:
                    self.callback(run.progress())
            return run.point()
        finally:
            rows.close()


def _resolvable(qp: DualQP) -> DualQP:
    """Draw in finite bounds so far out that float64 could not tell what cancels there."""
    size = float(np.abs(qp.gram.diag()).max(initial=0.0))
    if _largest_bound(qp) * size <= _RESOLVABLE:
        return qp
    limit = _RESOLVABLE / size
    lo = np.where(np.isinf(qp.lo), qp.lo, np.maximum(qp.lo, -limit))
    hi = np.where(np.isinf(qp.hi), qp.hi, np.minimum(qp.hi, limit))
    return replace(qp, lo=lo, hi=hi)


def _largest_bound(qp: DualQP) -> float:
    """Return the largest finite bound; infinite ones say nothing of the solution."""
    bounds = np.concatenate([np.abs(qp.lo), np.abs(qp.hi)])
    return float(bounds[np.isfinite(bounds)].max(initial=0.0))


def _start(qp: DualQP, start: Any) -> Array:
    """Check where to start, and make it feasible."""
    if start is None:
        return _feasible_start(qp)
    start = np.asarray(start, dtype=np.float64)
    if start.shape != (qp.n,) or not np.isfinite(start).all():
        raise ValueError(f"start must be a vector of {qp.n} finite numbers.")
    return qp.repair(start)


def _feasible_start(qp: DualQP) -> Array:
    """Return a feasible point with as few non-zeros as the bounds allow."""
    beta = np.clip(0.0, qp.lo, qp.hi)
    rest = qp.c[0] - beta.sum()
    for i in np.flatnonzero(qp.lo < qp.hi):
        if rest == 0:
            return beta
        room = qp.hi[i] - beta[i] if rest > 0 else qp.lo[i] - beta[i]
        move = min(rest, room) if rest > 0 else max(rest, room)
        beta[i] += move
        rest -= move
    if abs(rest) > 1e-12 * (1 + abs(qp.c[0])):
        raise ValueError("no point satisfies both the bounds and sum b = c.")
    return beta
