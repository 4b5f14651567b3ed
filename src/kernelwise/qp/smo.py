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
from math import sqrt
from typing import Any

import numpy as np

from .._threads import single_blas
from .._typing import Array
from .active_rows import Progress, Run, takes_all_rows
from .active_set import DEAR, affordable, polish
from .fast_path import solve_quickly
from .gram import StoredGram
from .precision import SMALL, TIGHT, dtype_for, is_coarse
from .problem import DualQP
from .rows import GrowingRows, StoredRows
from .solution import Point, Solution

_PATIENCE = 50_000  # steps before the active-set method is tried
_LONGEST = 2e10  # row entries swept before a run without a limit of its own ends
# Largest terms of a gradient with which a problem is tried again that could not be solved: of the
# first the rounding, 1e-2, leaves a margin to be seen; with the last steps get there in time.
_REACHES = (1e14, 1e8)
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
        What counts as cheap, in kernel entries; with zero only runs that do not converge by steps
        alone are helped.
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

    @property
    def polishes(self) -> bool:
        """Whether converged solutions are polished where that is cheap."""
        return self.exact and self.budget > 0

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
        if not qp.terms.sums_to_constant:
            return "SMO needs the equality sum b = c, a row of ones"
        return None

    def solve(
        self,
        qp: DualQP,
        *,
        start: Solution | Array | None = None,
        product: Array | None = None,
    ) -> Solution:
        """Solve the problem.

        Parameters
        ----------
        qp : DualQP
            The problem.
        start : Solution or ndarray of shape (n,), default=None
            Where to start; any vector will do, it is projected onto the constraints.
        product : ndarray of shape (n,), default=None
            K times the start where that is known, as along a path of C; not read where the start
            had to be projected, or K is not stored.

        Returns
        -------
        solution : Solution
            The solution with its certificate.
        """
        reason = self.supports(qp)
        if reason is not None:
            raise ValueError(f"{reason}.")
        given = start.beta if isinstance(start, Solution) else start
        beta = _start(qp, given)
        if given is None or (product is not None and _moved(beta, given)):
            product = None
        qp = self._with_small_kernel(qp)
        rows = self._all_rows(qp, beta)
        try:
            point, certificate = self._begin(qp, rows, beta, product)
            if point.status == "converged" and not self._polishes(qp, point):
                solution = Solution.at(qp, point, certificate=certificate)
            else:
                with single_blas():
                    solution = self._go_on(qp, point, beta, rows)
        finally:
            if rows is not None:
                rows.close()
        if self.callback is not None:
            self.callback(Progress(solution.n_iter, solution.violation, solution.objective, qp.n))
        return solution

    def _all_rows(self, qp: DualQP, beta: Array) -> StoredRows | GrowingRows | None:
        """Return all rows of K where they are there, or are best computed at once; else None."""
        dtype = self._dtype(qp)
        if isinstance(qp.gram, StoredGram):
            return self._rows(qp, dtype) if qp.n > 0 and qp.gram.K.dtype == dtype else None
        if not takes_all_rows(qp.n, int(np.count_nonzero(beta)), self._capacity(qp, dtype)):
            return None
        rows = self._rows(qp, dtype)
        with single_blas():
            rows.add(np.arange(qp.n))
        return rows

    def _begin(
        self, qp: DualQP, rows: Any, beta: Array, product: Array | None
    ) -> tuple[Point, Array | None]:
        """Go the quick way where all rows are there; else stay at the start."""
        if rows is None:
            return Point.start(beta), None
        stored = isinstance(qp.gram, StoredGram)
        return self._quickly(qp, rows.K, beta, product if stored else None)

    def _quickly(
        self, qp: DualQP, K: Array, beta: Array, product: Array | None
    ) -> tuple[Point, Array]:
        point, certificate = solve_quickly(qp, K, beta, self.tol, self._most_steps(qp), product)
        if point.status == "" and self.callback is not None:
            reached = qp.objective(point.beta, point.gradient)
            self.callback(Progress(point.n_iter, point.violation, reached, qp.n))
        if self._is_coarse(qp, K.dtype, point):
            point = replace(point, status="")
        return point, certificate

    def _is_coarse(self, qp: DualQP, dtype: Any, point: Point) -> bool:
        """Return whether float32 rows were too coarse to end at this point."""
        length = sqrt(point.beta @ point.beta)
        return dtype == np.float32 and is_coarse(self.tol, qp.gram.size, length)

    def _polishes(self, qp: DualQP, point: Point) -> bool:
        return self.exact and affordable(qp, point.beta, self._polish_budget())

    def _polish_budget(self) -> float:
        return self.budget if self.tol >= TIGHT else DEAR

    def _go_on(self, qp: DualQP, point: Point, start: Array, rows: Any) -> Solution:
        """Solve from a point on the way; where that fails, anew within narrower bounds."""
        point = self._exactly(qp, point, rows)
        best = Solution.at(qp, replace(point, beta=qp.terms.snap(point.beta)))
        for reach in _REACHES:
            within = _drawn_in(qp, reach)
            if point.status == "converged" or within is qp:
                break
            point = self._exactly(within, Point.start(within.terms.repair(start)), rows)
            other = Solution.at(qp, replace(point, beta=qp.terms.snap(point.beta)))
            if other.violation > self.tol:  # at a bound that is not the problem's
                other = replace(other, status="stalled")
            best = min(best, other, key=_primal)
        return best

    def _exactly(self, qp: DualQP, point: Point, rows: Any) -> Point:
        """Run to the tolerance, and polish what it leads to."""
        point = self._converge(qp, point, rows)
        if self.exact and point.status == "converged":
            point = polish(qp, point, self.tol, self._polish_budget())
        return point

    def _with_small_kernel(self, qp: DualQP) -> DualQP:
        """Store a small kernel matrix in float64: solving and polishing then evaluate it once."""
        if isinstance(qp.gram, StoredGram) or qp.n > SMALL or not self.polishes:
            return qp
        with single_blas():
            return DualQP(StoredGram(qp.gram.dense(np.float64), qp.gram.is_psd), qp.terms)

    def _converge(self, qp: DualQP, point: Point, rows: Any) -> Point:
        """Run to the tolerance; where steps do not get there, take turns with the active set.

        ``rows`` are those of K that are in memory; None has them computed.
        """
        dtype, most = self._dtype(qp), self._most_steps(qp)
        patience, n_iter = max(_PATIENCE, 20 * qp.n), point.n_iter
        while point.status == "":
            own = rows if rows is not None and rows.K.dtype == dtype else self._rows(qp, dtype)
            try:
                point = self._run(qp, point, own, min(most - n_iter, patience), n_iter)
            finally:
                if own is not rows:
                    own.close()
            n_iter += point.n_iter
            point = replace(point, n_iter=n_iter)
            stalled = point.status == "stalled" and dtype == np.float64
            coarse = self._is_coarse(qp, dtype, point)
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
            # The next run makes the gradient of its own rows, in its own type.
            point = replace(point, gradient=np.empty(0), status="")
            patience = 2 * patience
        return point

    def _dtype(self, qp: DualQP) -> Any:
        if isinstance(qp.gram, StoredGram) and qp.gram.K.dtype == np.float64:
            return qp.gram.K.dtype
        return dtype_for(self.tol, qp.gram.size, qp.terms.largest_bound)

    def _most_steps(self, qp: DualQP) -> int:
        if self.max_iter >= 0:
            return self.max_iter
        return int(max(100 * qp.n, min(1e7, _LONGEST / max(1, qp.n))))

    def _rows(self, qp: DualQP, dtype: Any) -> StoredRows | GrowingRows:
        if isinstance(qp.gram, StoredGram):
            return StoredRows(np.ascontiguousarray(qp.gram.K, dtype=dtype))
        return GrowingRows(qp.gram, dtype, self._capacity(qp, dtype))

    def _capacity(self, qp: DualQP, dtype: Any) -> int:
        """Return how many rows of a lazy matrix to keep."""
        bytes_a_row = np.dtype(dtype).itemsize * qp.n
        if self.memory >= bytes_a_row * qp.n:
            return qp.n
        # Without room for all, a block of moderate size: what it saves falls, what it costs rises.
        return max(_FEWEST, int(min(self.memory, _BLOCK) / bytes_a_row))

    def _run(self, qp: DualQP, point: Point, rows: Any, most_steps: int, before: int) -> Point:
        run = Run(qp, point, rows, self.tol, before)
        while run.status == "":
            run.round(most_steps)
            if self.callback is not None:
                self.callback(run.progress())
        return run.point()


def _drawn_in(qp: DualQP, reach: float) -> DualQP:
    """Draw in finite bounds so far out that terms of the gradient exceed the reach there."""
    if qp.terms.largest_bound * qp.gram.size <= reach:
        return qp
    limit = reach / qp.gram.size
    lo = np.where(np.isinf(qp.lo), qp.lo, np.maximum(qp.lo, -limit))
    hi = np.where(np.isinf(qp.hi), qp.hi, np.minimum(qp.hi, limit))
    return DualQP(qp.gram, replace(qp.terms, lo=lo, hi=hi))


def _primal(solution: Solution) -> float:
    """Return the primal objective, regularisation and loss: what tells which machine is of use.

    The violation does not: far from the optimum it is that of one row. Without a gap it has to do.
    """
    primal = solution.gap - solution.objective
    return solution.violation if np.isnan(primal) else primal


def _start(qp: DualQP, start: Any) -> Array:
    """Check where to start, and make it feasible."""
    if start is None:
        return qp.terms.start()
    start = np.asarray(start, dtype=np.float64)
    if start.shape != (qp.n,) or not np.isfinite(start).all():
        raise ValueError(f"start must be a vector of {qp.n} finite numbers.")
    return qp.terms.repair(start)


def _moved(beta: Array, given: Array) -> bool:
    """Tell whether a start was moved by more than the rounding of its bounds."""
    if (beta == given).all():  # which costs a fourth of what follows
        return False
    largest = float(np.abs(beta).max(initial=0.0))
    return float(np.abs(beta - given).max(initial=0.0)) > 1e-13 * largest
