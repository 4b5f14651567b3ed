"""Sequential minimal optimisation on a growing set of rows.

    min 1/2 b'Kb - p'b + kink'|b|   s.t.   sum b = c,   lo <= b <= hi

Only rows that violate the optimality conditions are ever computed: the active set starts small,
is solved by second-order SMO in compiled code, and takes in the worst violators of the rest until
none is left. The gradient of all rows is kept in float64 and updated by the change of the active
set, so that the rounding errors of the compiled steps do not accumulate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from .._parameters import as_real, check_count, check_kind, check_number
from .._threads import single_blas
from .._typing import Array
from .active_rows import ActiveRowsRun, takes_all_rows
from .active_set import DEAR, affordable, polish
from .factored import solve_factored
from .fast_path import solve_quickly
from .gram import SMALL, TIGHT, GrowingRows, StoredGram, StoredRows, dtype_for, is_coarse
from .problem import DualQP, Solution, SolverState
from .progress import Progress
from .working_set import WorkingSetRun, suits

_PATIENCE = 50_000  # least number of steps before the active-set method is tried
_LONGEST = 2e10  # matrix entries read by steps before a solve without max_iter ends
# Largest terms of a gradient, in units of the margin, to which the bounds are narrowed in turn when
# a problem could not be solved. Terms of 1e14 round by 1e-2, which still shows a margin; with terms
# of 1e8 steps converge in time.
_REACHES = (1e14, 1e8)
_LARGE = 6000  # rows from which a kernel that has tiles is not stored
_WIDE, _LARGE_AND_WIDE = 30, 11_000  # features above which that is so from more rows on
_CHECKED = 5000  # rows from which its solution is checked in float64
_FEWEST = 64  # least number of rows in memory: with fewer no pair can be chosen well
_BLOCK = 4e8  # bytes of rows in memory when not all of them fit


@dataclass(frozen=True)
class SMO:
    """Solver of the dual with one equality sum b = c, warm from any start.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop when the largest gradient of the variables that can decrease exceeds the smallest
        gradient of those that can increase by at most ``tol``, as LIBSVM does. Below 1e-5 the
        kernel is computed in float64.
    max_iter : int, default=-1
        Limit on the number of steps; -1 is 10 million, fewer where many rows make them slow.
    memory : float, default=2e9
        Bytes for rows of a lazy kernel matrix; infinity sets no limit. Where they do not all fit, a
        small part is kept.
    exact : bool, default=True
        Whether to solve exactly on the free variables at the end where that is cheap. The solution
        is then exact to rounding and independent of the start.
    budget : float, default=1e5
        The cost that counts as cheap, in kernel entries. With zero, only solves that do not
        converge by steps alone are polished.
    callback : callable, default=None
        Called as ``callback(progress)`` with a `Progress` between calls of compiled code.

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

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_number(self.tol, "tol")
        check_count(self.max_iter, "max_iter", least=-1)
        if self.memory != np.inf:
            check_number(self.memory, "memory")
        check_number(self.budget, "budget")

    @property
    def polishes(self) -> bool:
        """Whether converged solutions are polished where that is cheap."""
        return self.exact and self.budget > 0

    def supports(self, qp: DualQP) -> str | None:
        """Return the reason why the problem cannot be solved.

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
            The starting point; any vector is accepted and made feasible.
        product : ndarray of shape (n,), default=None
            K times the start where it is known, as along a path of C. It is ignored where the start
            was not feasible, or the solver computes rows of K.

        Returns
        -------
        solution : Solution
            The solution with its certificate.
        """
        check_kind(qp, "qp", DualQP)
        reason = self.supports(qp)
        if reason is not None:
            raise ValueError(f"{reason}.")
        given = start.beta if isinstance(start, Solution) else start
        beta = _start(qp, given, is_solution=given is not start)
        if given is None or (product is not None and _moved(beta, given)):
            product = None
        qp = self._with_small_kernel(qp)
        rows = None
        try:
            if self.is_large(qp):
                begin = SolverState.start(beta)
                if product is not None:
                    begin = replace(begin, gradient=product - qp.p)
                state, certificate = self._by_working_set(qp, begin), None
            else:
                rows = self._all_rows(qp, beta)
                state, certificate = self._begin(qp, rows, beta, product)
            if state.status == "converged" and not self._polishes(qp, state):
                solution = Solution.at(qp, state, certificate=certificate)
            else:
                with single_blas():
                    solution = self._go_on(qp, state, beta, rows)
        finally:
            if rows is not None:
                rows.close()
        self._report(qp, solution)
        return solution

    def resume(self, qp: DualQP, state: SolverState) -> Solution:
        """Go on with a problem whose solve has begun elsewhere, and polish the result.

        Parameters
        ----------
        qp : DualQP
            The problem.
        state : SolverState
            Where it is: a feasible point with its gradient.

        Returns
        -------
        solution : Solution
            The solution with its certificate.
        """
        with single_blas():
            solution = self._go_on(qp, state, qp.terms.start(), None)
        self._report(qp, solution)
        return solution

    def _report(self, qp: DualQP, solution: Solution) -> None:
        if self.callback is not None:
            self.callback(Progress(solution.n_iter, solution.violation, solution.objective, qp.n))

    def _has_tiles(self, qp: DualQP) -> bool:
        """Return whether a working set with tiles can solve the problem, and check its solution."""
        return qp.n >= _CHECKED and suits(qp.terms) and qp.gram.has_tiles

    def is_large(self, qp: DualQP) -> bool:
        """Return whether a working set is faster than rows in memory.

        Parameters
        ----------
        qp : DualQP
            The problem.

        Returns
        -------
        is_large : bool
            Whether `solve` takes a working set.
        """
        fits = self.memory >= 4.0 * qp.n**2  # bytes in float32
        if (fits and qp.n < _LARGE) or not self._has_tiles(qp):
            return False
        # Tiles of many features take longer to make than stored rows to fetch.
        return not fits or qp.n >= _LARGE_AND_WIDE or qp.gram.n_features <= _WIDE

    def _by_working_set(self, qp: DualQP, start: SolverState) -> SolverState:
        """Solve on a working set; a start that is solved is only checked."""
        steps = self._most_steps(qp)
        with single_blas():
            return WorkingSetRun(qp, start, self.tol, self.memory, steps, self.callback).run()

    def _all_rows(self, qp: DualQP, beta: Array) -> StoredRows | GrowingRows | None:
        """Return all rows of K if they are stored or best computed at once, else None."""
        dtype, gram = self._dtype(qp), qp.gram
        if isinstance(gram, StoredGram):
            fits = len(beta) > 0 and gram.K.dtype == dtype
            return StoredRows(np.ascontiguousarray(gram.K)) if fits else None
        if not takes_all_rows(qp.n, int(np.count_nonzero(beta)), self._capacity(qp, dtype)):
            return None
        rows = self._rows(qp, dtype)
        with single_blas():
            rows.add(np.arange(qp.n))
        return rows

    def _begin(
        self, qp: DualQP, rows: Any, beta: Array, product: Array | None
    ) -> tuple[SolverState, Array | None]:
        """Take the fast path where all rows are in memory; else stay at the start."""
        if rows is None:
            return SolverState.start(beta), None
        stored = isinstance(qp.gram, StoredGram)
        return self._quickly(qp, rows.K, beta, product if stored else None)

    def _quickly(
        self, qp: DualQP, K: Array, beta: Array, product: Array | None
    ) -> tuple[SolverState, Array]:
        state, certificate = solve_quickly(qp, K, beta, self.tol, self._most_steps(qp), product)
        if state.status == "" and self.callback is not None:
            reached = qp.objective(state.beta, state.gradient)
            self.callback(Progress(state.n_iter, state.violation, reached, qp.n))
        if self._is_coarse(qp, K.dtype, state):
            state = replace(state, status="")
        return state, certificate

    def _is_coarse(self, qp: DualQP, dtype: Any, state: SolverState) -> bool:
        """Return whether float32 rows were too coarse to end at this state."""
        if dtype != np.float32:
            return False
        return is_coarse(self.tol, qp.gram.size, sqrt(state.beta @ state.beta))

    def _polishes(self, qp: DualQP, state: SolverState) -> bool:
        budget = self.polish_budget if self.exact else 0.0
        return budget > 0 and affordable(qp, state.beta, budget)

    @property
    def polish_budget(self) -> float:
        """The cost of a polish up to which converged solutions get one."""
        return self.budget if self.tol >= TIGHT else DEAR

    def _go_on(self, qp: DualQP, state: SolverState, start: Array, rows: Any) -> Solution:
        """Continue from a state; where that fails, start again within narrower bounds."""
        state = self._exactly(qp, state, rows)
        if state.status == "converged" and not self.is_large(qp) and self._has_tiles(qp):
            state = self._by_working_set(qp, state)  # goes on where float64 shows a violation
        best = Solution.at(qp, replace(state, beta=qp.terms.snap(state.beta)))
        for reach in _REACHES:
            within = _narrowed(qp, reach)
            if state.status == "converged" or within is qp:
                break
            state = self._exactly(within, SolverState.start(within.terms.repair(start)), rows)
            other = Solution.at(qp, replace(state, beta=qp.terms.snap(state.beta)))
            if other.violation > self.tol:  # it is at a narrowed bound
                other = replace(other, status="stalled")
            best = min(best, other, key=_primal)
        return best

    def _exactly(self, qp: DualQP, state: SolverState, rows: Any) -> SolverState:
        """Run to the tolerance, and polish the result."""
        state = self._converge(qp, state, rows)
        if self.exact and state.status == "converged":
            state = polish(qp, state, self.tol, self.polish_budget)
        return state

    def _with_small_kernel(self, qp: DualQP) -> DualQP:
        """Store a small kernel matrix in float64, so that it is evaluated once."""
        if isinstance(qp.gram, StoredGram) or qp.n > SMALL or not self.polishes:
            return qp
        with single_blas():
            return DualQP(StoredGram(qp.gram.dense(np.float64), qp.gram.is_psd), qp.terms)

    def _converge(self, qp: DualQP, state: SolverState, rows: Any) -> SolverState:
        """Run to the tolerance, in turns with the active-set method where steps do not converge.

        ``rows`` are the rows of K in memory; None computes them.
        """
        dtype, most = self._dtype(qp), self._most_steps(qp)
        patience, n_iter = max(_PATIENCE, 20 * qp.n), state.n_iter
        while state.status == "":
            own = rows if rows is not None and rows.K.dtype == dtype else self._rows(qp, dtype)
            try:
                state = self._run(qp, state, own, min(most - n_iter, patience), n_iter)
            finally:
                if own is not rows:
                    own.close()
            n_iter += state.n_iter
            state = replace(state, n_iter=n_iter)
            stalled = state.status == "stalled" and dtype == np.float64
            coarse = self._is_coarse(qp, dtype, state)
            if n_iter >= most or (state.status == "converged" and not coarse):
                return state
            if coarse or state.status == "stalled":
                dtype = np.float64
            if self.exact:
                state = polish(qp, replace(state, status="max_iter"), self.tol, DEAR)
            if state.status != "converged":
                state = solve_factored(qp, state, self.tol)
            if stalled and state.status != "converged":
                state = replace(state, status="stalled")
            if stalled or state.status == "converged":
                return state
            # The next run computes the gradient from its own rows, in its own precision.
            state = replace(state, gradient=np.empty(0), status="")
            patience = 2 * patience
        return state

    def _dtype(self, qp: DualQP) -> Any:
        if isinstance(qp.gram, StoredGram) and qp.gram.K.dtype == np.float64:
            return qp.gram.K.dtype
        return dtype_for(self.tol, qp.gram.size, qp.terms.largest_bound)

    def most_steps(self, n: int) -> int:
        """Return the limit on the steps of a problem.

        Parameters
        ----------
        n : int
            The number of its variables.

        Returns
        -------
        most_steps : int
            The limit.
        """
        return (
            self.max_iter
            if self.max_iter >= 0
            else int(max(100 * n, min(1e7, _LONGEST / max(1, n))))
        )

    def _most_steps(self, qp: DualQP) -> int:
        most = self.most_steps(qp.n)
        # Where rounding exceeds the margin, steps go on for ever: narrower bounds are to follow.
        blurred = self.max_iter < 0 and qp.terms.largest_bound * qp.gram.size >= _REACHES[0]
        return most // 10 if blurred else most

    def _rows(self, qp: DualQP, dtype: Any) -> StoredRows | GrowingRows:
        if isinstance(qp.gram, StoredGram):
            return StoredRows(np.ascontiguousarray(qp.gram.K, dtype=dtype))
        return GrowingRows(qp.gram, dtype, self._capacity(qp, dtype))

    def _capacity(self, qp: DualQP, dtype: Any) -> int:
        """Return how many rows of a lazy matrix to keep."""
        bytes_per_row = np.dtype(dtype).itemsize * qp.n
        if self.memory >= bytes_per_row * qp.n:
            return qp.n
        # Without room for all rows, a block of moderate size: a larger one saves little more.
        return max(_FEWEST, int(min(self.memory, _BLOCK) / bytes_per_row))

    def _run(
        self, qp: DualQP, state: SolverState, rows: Any, most_steps: int, before: int
    ) -> SolverState:
        run = ActiveRowsRun(qp, state, rows, self.tol, before)
        while run.status == "":
            run.round(most_steps)
            if self.callback is not None:
                self.callback(run.progress())
        return run.state()


def _narrowed(qp: DualQP, reach: float) -> DualQP:
    """Narrow finite bounds at which terms of the gradient would exceed the reach.

    Zero stays feasible; where it is not, narrower bounds may leave no point at all.
    """
    if qp.terms.largest_bound * qp.gram.size <= reach or not qp.terms.allows_zero:
        return qp
    limit = reach / qp.gram.size
    lo = np.where(np.isinf(qp.lo), qp.lo, np.maximum(qp.lo, -limit))
    hi = np.where(np.isinf(qp.hi), qp.hi, np.minimum(qp.hi, limit))
    return DualQP(qp.gram, replace(qp.terms, lo=lo, hi=hi))


def _primal(solution: Solution) -> float:
    """Return the primal objective, the sum of regularisation and loss, by which machines compare.

    The violation is no measure: far from the optimum it is that of a single row. It is used only
    for indefinite kernels, which have no duality gap.
    """
    primal = solution.gap - solution.objective
    return solution.violation if np.isnan(primal) else primal


def _start(qp: DualQP, start: Any, *, is_solution: bool = False) -> Array:
    """Check the starting point, and make it feasible; the numbers of a solution are finite."""
    if start is None:
        return qp.terms.start()
    start = as_real(start, "start")
    if start.shape != (qp.n,) or not (is_solution or np.isfinite(start).all()):
        raise ValueError(f"start must be a vector of {qp.n} finite numbers.")
    return qp.terms.repair(start)


def _moved(beta: Array, given: Array) -> bool:
    """Return whether making a start feasible moved it by more than rounding."""
    if (beta == given).all():  # a quarter of the time of the test below
        return False
    largest = float(np.abs(beta).max(initial=0.0))
    return float(np.abs(beta - given).max(initial=0.0)) > 1e-13 * largest
