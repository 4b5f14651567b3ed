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
from .polish import polish
from .problem import DualQP, Solution
from .rows import GrowingRows, StoredRows, exchange

_WHOLE = 2200  # up to this many rows a growing set costs more than it saves
_FIRST_ROWS = 512
_GROWTH = 0.5
_THR = 0.1
_INNER_FRACTION = 0.2  # an active set is solved to this part of the violation of all rows
_TIGHT = 1e-5  # below this tolerance float32 rows are too coarse
_STEPS_A_CALL = 4e7  # row entries swept between two looks at Ctrl-C, about 50 ms


@dataclass(frozen=True)
class SMO:
    """Solver of the dual with one equality sum b = c, warm from any start.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop when the largest gradient of what can fall is within ``tol`` of the least of what
        can rise, as LIBSVM does. Below 1e-5 the kernel is computed in float64.
    max_iter : int, default=-1
        Most steps; -1 is 10 million, or 100 a row.
    memory : float, default=2e9
        Bytes for rows of a lazy kernel matrix. Where all of them do not fit, a small part does.
    exact : bool, default=True
        Whether to polish the solution on its free variables where that is cheap, which makes
        it exact to rounding and independent of the start.
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
        beta = start.beta if isinstance(start, Solution) else start
        beta = _feasible_start(qp) if beta is None else qp.project(beta)
        with single_blas():
            solution = self._run(qp, beta, self._dtype(qp))
            coarse = self._dtype(qp) == np.float32
            if coarse and (not solution.converged or self._too_coarse(qp, solution)):
                finer = replace(self, max_iter=max(1, self._most_steps(qp) - solution.n_iter))
                again = finer._run(qp, solution.beta, np.float64)
                solution = replace(again, n_iter=again.n_iter + solution.n_iter)
            if self.exact:
                solution = polish(qp, solution, self.tol)
        return solution

    def _dtype(self, qp: DualQP) -> Any:
        if self.tol < _TIGHT:
            return np.float64
        return qp.gram.K.dtype if isinstance(qp.gram, StoredGram) else np.float32

    def _too_coarse(self, qp: DualQP, solution: Solution) -> bool:
        """Tell whether float32 rounding of K may move a gradient by a tenth of the tolerance."""
        size = np.abs(qp.gram.diag()).max(initial=0.0)
        return bool(6e-8 * size * np.linalg.norm(solution.beta) > 0.1 * self.tol)

    def _most_steps(self, qp: DualQP) -> int:
        return self.max_iter if self.max_iter >= 0 else max(10_000_000, 100 * qp.n)

    def _rows(self, qp: DualQP, dtype: Any) -> StoredRows | GrowingRows:
        if isinstance(qp.gram, StoredGram):
            return StoredRows(np.ascontiguousarray(qp.gram.K, dtype=dtype))
        bytes_a_row = np.dtype(dtype).itemsize * qp.n
        fits = self.memory >= bytes_a_row * qp.n
        # Without room for all, a block of moderate size: what it saves falls, what it costs rises.
        capacity = qp.n if fits else int(min(self.memory, 4e8) / bytes_a_row)
        return GrowingRows(qp.gram, dtype, capacity)

    def _run(self, qp: DualQP, beta: Array, dtype: Any) -> Solution:
        run = _Run(qp, beta, self._rows(qp, dtype), self.tol)
        most_steps = self._most_steps(qp)
        while run.status == "":
            run.round(most_steps)
            if self.callback is not None:
                self.callback(run.progress())
        return run.solution()


@dataclass(frozen=True)
class Progress:
    """How far a solve has come.

    Parameters
    ----------
    n_iter : int
        Steps so far.
    violation : float
        The stop test: at convergence it is below the tolerance.
    objective : float
        The objective so far.
    n_active : int
        Rows of the kernel in memory.
    machine : int, default=0
        Which machine of an estimator is being solved.
    n_machines : int, default=1
        How many machines the estimator has.
    """

    n_iter: int
    violation: float
    objective: float
    n_active: int
    machine: int = 0
    n_machines: int = 1


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


class _Run:
    """One solve: vectors in the order of the rows, the active ones first."""

    def __init__(self, qp: DualQP, beta: Array, rows: StoredRows | GrowingRows, tol: float) -> None:
        self.qp, self.rows, self.tol = qp, rows, tol
        self.b, self.p = beta.copy(), qp.p.copy()
        self.lo, self.hi = qp.lo.copy(), qp.hi.copy()
        self.diag = qp.gram.diag().astype(rows.K.dtype)
        self.gradient = -self.p
        self.n_iter, self.status = 0, ""
        self._best, self._idle = np.inf, 0
        self._start_rows()
        self._look()

    def _start_rows(self) -> None:
        """Give the start's support its rows, and compute the gradient there."""
        support = np.flatnonzero(self.b)
        if isinstance(self.rows, GrowingRows) and len(support) > self.rows.capacity // 2:
            self.gradient = self.qp.gradient(self.b)
            return
        self._take(support)
        m = self.rows.n_rows
        if len(support):
            self._update_gradient(self.b[:m])

    def _take(self, positions: Any) -> None:
        for a, b in self.rows.add(positions):
            self._exchange(a, b)

    def _exchange(self, a: Any, b: Any) -> None:
        for vector in (self.b, self.p, self.lo, self.hi, self.diag, self.gradient):
            exchange(vector, a, b)

    def _update_gradient(self, change: Array) -> None:
        """Add K times a change of the active variables."""
        from ._compiled import add_rows

        moved = np.flatnonzero(change)
        add_rows(self.rows.K, moved, change[moved].astype(self.rows.K.dtype), self.gradient)

    def _look(self) -> None:
        """Compute the violation over all rows, and end where it is small enough."""
        self._up = np.where(self.b < self.hi, self.gradient, np.inf)
        self._down = np.where(self.b > self.lo, self.gradient, -np.inf)
        self.least, self.most = self._up.min(initial=np.inf), self._down.max(initial=-np.inf)
        self.violation = float(self.most - self.least)
        if not self.violation > self.tol:
            self.status = "converged"

    def round(self, most_steps: int) -> None:
        """Take in violators, solve the active set for a while, look at all rows."""
        from ._compiled import NEVER, OUT_OF_STEPS, smo

        if self.status:
            return
        if self._settled():
            self._grow()
        m, dtype = self.rows.n_rows, self.rows.K.dtype
        whole = m == self.qp.n
        tol = 0.9 * self.tol if whole else max(0.9 * self.tol, _INNER_FRACTION * self.violation)
        b, lo, hi = self.b[:m], self.lo[:m], self.hi[:m]
        before = b.copy()
        steps, self._ended = smo(
            self.rows.K,
            self.diag[:m],
            b,
            self.gradient[:m].astype(dtype),
            lo,
            hi,
            np.where(b < hi, 0, NEVER).astype(dtype),
            np.where(b > lo, 0, NEVER).astype(dtype),
            dtype.type(tol),
            int(min(most_steps - self.n_iter, max(1000, _STEPS_A_CALL / m))),
        )
        self.n_iter += steps
        self._update_gradient(b - before)
        self._look()
        if not self.status and self._ended == OUT_OF_STEPS and self.n_iter >= most_steps:
            self.status = "max_iter"
        self._watch()

    def _settled(self) -> bool:
        """Tell whether the active set is solved as well as it needs to be."""
        from ._compiled import OUT_OF_STEPS

        return getattr(self, "_ended", None) != OUT_OF_STEPS

    def _watch(self) -> None:
        """End the run where rounds bring nothing any more."""
        from ._compiled import OUT_OF_STEPS

        objective = self._objective()
        better = objective < self._best - 1e-13 * abs(self._best) or np.isinf(self._best)
        self._idle = 0 if better or self._ended == OUT_OF_STEPS else self._idle + 1
        self._best = min(self._best, objective)
        if not self.status and self._idle >= 3:
            self.status = "stalled"

    def _objective(self) -> float:
        return float(0.5 * self.b @ (self.gradient - self.p))

    def _grow(self) -> None:
        """Take in the worst violators among the rows that are not active."""
        m, n, capacity = self.rows.n_rows, self.qp.n, self.rows.capacity
        if m == n:
            return
        if n <= _WHOLE and capacity == n:
            self._take(np.arange(m, n))
            return
        wanted = self._violators(
            max(_FIRST_ROWS, int(_GROWTH * m)) if capacity == n else capacity // 2
        )
        if m + len(wanted) > capacity:
            self._make_room(m + len(wanted) - capacity)
        self._take(wanted)

    def _violators(self, most: int) -> Any:
        """Return the positions of the worst violators beyond the active set, sorted."""
        m = self.rows.n_rows
        middle = 0.5 * (self.least + self.most)
        score = np.maximum(middle - self._up[m:], self._down[m:] - middle)
        found = np.flatnonzero(score > _THR * self.violation)
        if len(found) > most:
            order = np.argsort(-score[found], kind="stable")
            if score[found[order[0]]] == score[found[order[-1]]]:  # a cold start: all alike
                return m + self._spread(found, most)
            found = np.sort(found[order[:most]])
        return m + found

    def _spread(self, found: Any, most: int) -> Any:
        """Pick evenly from those that may rise and those that may fall."""
        p = self.p[self.rows.n_rows :][found]
        sides = [found[p >= 0], found[p < 0]]
        picked = [
            side[np.linspace(0, len(side) - 1, min(most // 2, len(side))).astype(int)]
            for side in sides
            if len(side)
        ]
        return np.unique(np.concatenate(picked))

    def _make_room(self, count: int) -> None:
        """Drop rows of the active set that are least likely to move: far inside their bounds."""
        m = self.rows.n_rows
        middle = 0.5 * (self.least + self.most)
        b, residual = self.b[:m], self.gradient[:m] - middle
        free = (b > self.lo[:m]) & (b < self.hi[:m])
        distance = np.where(free, -1.0, np.abs(residual))
        dropped = np.sort(np.argsort(-distance, kind="stable")[: min(count, m)])
        positions = self.rows.drop(dropped)
        for a, b_ in positions:
            self._exchange(a, b_)

    def progress(self) -> Progress:
        return Progress(self.n_iter, self.violation, self._objective(), self.rows.n_rows)

    def solution(self) -> Solution:
        beta, gradient = np.empty_like(self.b), np.empty_like(self.gradient)
        beta[self.rows.order], gradient[self.rows.order] = self.b, self.gradient
        return Solution.at(self.qp, beta, gradient, self.n_iter, self.status)
