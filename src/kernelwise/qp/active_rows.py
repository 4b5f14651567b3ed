"""One run of SMO on an active set of rows that grows, shrinks, and is solved in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import OUT_OF_STEPS, add_rows, solve_some, solve_stored
from .._typing import Array, Index
from .fast_path import SWEEP
from .gram import GrowingRows, StoredRows, exchange
from .problem import DualQP, SolverState
from .progress import Progress
from .terms import slopes

# Numbers of rows up to which computing all of them at once is cheaper than a growing active set:
_WHOLE = 3200  # from a cold start
WARM_WHOLE = 1500  # from a warm start with few support vectors
_HARD_WHOLE = 6000  # for a hard problem
_MOST_SUPPORT = 0.75  # fraction of the rows up to which support vectors are few
_HARD = 0.25  # fraction of inactive rows that violate the conditions, above which a problem is hard
_FIRST_ROWS = 512  # least number of rows that are added at a time
_GROWTH = 0.5  # largest number of rows added at a time, as a fraction of the active rows
_WORTH_TAKING = 0.1  # least violation of a row that is added, as a fraction of the largest
_INNER_FRACTION = 0.2  # tolerance on the active set, as a fraction of the violation of all rows
_FIRST_SWEEP = 4e6  # matrix entries read before the active set is shrunk for the first time
_WORTH_SHRINKING = 0.6  # fraction of movable active rows above which shrinking does not pay


def takes_all_rows(n: int, n_support: int, capacity: int) -> bool:
    """Return whether a problem is so small that all rows are computed at once.

    ``n``: number of rows of the problem. ``n_support``: number of non-zeros of the start.
    ``capacity``: number of rows that fit into memory. Returns ``takes_all``, whether a growing set
    of rows would cost more.
    """
    few = 0 < n_support <= _MOST_SUPPORT * n
    return n <= (WARM_WHOLE if few else _WHOLE) and n <= min(_WHOLE, capacity)


class ActiveRowsRun:
    """One solve. All vectors are in the order of the rows, those in memory first.

    ``tol``: the tolerance of the stop test. ``steps_before``: steps of earlier runs, for progress
    reports.
    """

    def __init__(
        self,
        qp: DualQP,
        start: SolverState,
        rows: StoredRows | GrowingRows,
        tol: float,
        steps_before: int = 0,
    ) -> None:
        self.qp, self.rows, self.tol, self._steps_before = qp, rows, tol, steps_before
        self.b, self.p = start.beta.copy(), qp.p.copy()
        self.lo, self.hi = qp.lo.copy(), qp.hi.copy()
        self.kink = None if qp.kink is None else qp.kink.copy()
        self.diag = qp.gram.diag().astype(rows.K.dtype)
        self.gradient = -self.p
        self.n_iter, self.status = 0, ""
        self._stale = False  # whether rows were dropped since the last full gradient
        self._settled = True  # whether the active set is solved, so that it may grow
        self._best, self._idle = np.inf, 0
        if len(start.gradient) == rows.n_rows == qp.n:  # rows in the order of the problem
            self.gradient = start.gradient.copy()
        else:
            self._give_rows_to_the_start()
        self._look()

    def _give_rows_to_the_start(self) -> None:
        """Compute the rows of the start's support, and the gradient at the start."""
        support = np.flatnonzero(self.b)
        n, capacity = self.qp.n, self.rows.capacity
        self._takes_all = takes_all_rows(n, len(support), capacity)
        if capacity < n and len(support) > capacity // 2:
            self.gradient = self.qp.gradient(self.b)
        elif len(support):
            if self.rows.n_rows < n:
                self._take(np.arange(n) if self._takes_all else support)
            self._update_gradient(np.flatnonzero(self.b), self.b[self.b != 0])

    def round(self, most_steps: int) -> None:
        """Add violators, take some steps on the active set, and check all rows."""
        if self._settled:
            self._grow()
        m = self.rows.n_rows
        if m == self.qp.n:
            self.n_iter += self._solve_all(most_steps - self.n_iter)
        else:
            some = np.arange(m) if self._settled else self._movable()
            if len(some) >= _WORTH_SHRINKING * m:
                some = np.arange(m)
            self.n_iter += self._solve(some, self._step_limit(len(some), most_steps))
        self._look()
        if not self.status and not self._settled and self.n_iter >= most_steps:
            self.status = "max_iter"
        self._watch()

    def _step_limit(self, size: int, most_steps: int) -> int:
        sweep = SWEEP if self.n_iter else _FIRST_SWEEP
        return int(min(most_steps - self.n_iter, max(1000, sweep / max(1, size))))

    def _solve_all(self, limit: int) -> int:
        """Take some steps on all rows."""
        vectors = self.b, self.gradient, self.p, self.lo, self.hi
        total, certificate = self.qp.c[0], np.empty(4)  # not used: this run makes its own
        _, steps, _ = solve_stored(
            self.rows.K, *vectors, True, self.tol, limit, SWEEP, total, certificate, self.kink
        )
        self._settled = steps == 0 and limit > 0
        return steps

    def _solve(self, some: Index, limit: int) -> int:
        """Take some steps on some of the rows in memory, on a copy of their block of K."""
        copies = len(some) < self.rows.n_rows
        vectors = self.diag, self.b, self.gradient, self.lo, self.hi
        limits = self._inner_tol(), limit
        steps, ended = solve_some(self.rows.K, *vectors, some, copies, *limits, self.kink)
        self._settled = ended != OUT_OF_STEPS
        return steps

    def _inner_tol(self) -> float:
        return max(0.9 * self.tol, _INNER_FRACTION * self.violation)

    def _update_gradient(self, moved: Index, change: Array) -> None:
        """Add K times a change of some active variables."""
        add_rows(self.rows.K, moved, change, self.gradient)

    def _look(self) -> None:
        """Compute the violation over all rows, and end if it is small enough."""
        rising, falling = slopes(self.b, self.gradient, self.kink)
        self._up = np.where(self.b < self.hi, rising, np.inf)
        self._down = np.where(self.b > self.lo, falling, -np.inf)
        self.least, self.most = self._up.min(initial=np.inf), self._down.max(initial=-np.inf)
        self.violation = float(self.most - self.least)
        if np.isnan(self.violation) or np.isnan(self.gradient).any():
            raise ValueError("K must not hold NaN, nor values so large that products overflow.")
        if not self.violation > self.tol:
            if self._stale:
                self._refresh()
            else:
                self.status = "converged"

    def _refresh(self) -> None:
        """Recompute the gradient, in which dropped and recomputed rows leave rounding errors."""
        beta = np.empty_like(self.b)
        beta[self.rows.order] = self.b
        self.gradient, self._stale = self.qp.gradient(beta)[self.rows.order], False
        self._look()

    def _watch(self) -> None:
        """End the run when rounds improve the objective by no more than rounding."""
        objective = self._objective()
        better = np.isinf(self._best) or objective < self._best - 1e-13 * abs(self._best)
        self._idle = 0 if better or not self._settled else self._idle + 1
        self._best = min(self._best, objective)
        if not self.status and (self._idle >= 3 or self.violation < self._rounding()):
            self.status = "stalled"

    def _rounding(self) -> float:
        """Estimate the rounding error of the gradient, which is kept in float64."""
        size = float(np.abs(self.diag).max(initial=0.0)) * float(np.abs(self.b).sum())
        return float(np.finfo(np.float64).eps) * size

    def _objective(self) -> float:
        smooth = float(0.5 * self.b @ (self.gradient - self.p))
        return smooth if self.kink is None else smooth + float(self.kink @ np.abs(self.b))

    def _movable(self) -> Index:
        """Return the active variables that a step may still move (LIBSVM's shrinking)."""
        m = self.rows.n_rows
        return np.flatnonzero((self._up[:m] < self.most) | (self._down[:m] > self.least))

    def _grow(self) -> None:
        """Add the worst violators among the inactive rows."""
        m, n, capacity = self.rows.n_rows, self.qp.n, self.rows.capacity
        if m == n:
            return
        if self._takes_all:
            self._take(np.arange(m, n))
            return
        most = max(_FIRST_ROWS, int(_GROWTH * m)) if capacity == n else capacity // 2
        wanted = self._violators(most)
        if m + len(wanted) > capacity:
            self._make_room(m + len(wanted) - capacity)  # leaves the positions beyond m alone
        self._take(wanted)

    def _take(self, positions: Index) -> None:
        for a, b in self.rows.add(positions):
            self._exchange(a, b)

    def _exchange(self, a: Index, b: Index) -> None:
        for vector in (self.b, self.p, self.lo, self.hi, self.kink, self.diag, self.gradient):
            if vector is not None:
                exchange(vector, a, b)

    def _violators(self, most: int) -> Index:
        """Return the positions of the worst violators beyond the active set, sorted."""
        m = self.rows.n_rows
        middle = 0.5 * (self.least + self.most)
        score = np.maximum(middle - self._up[m:], self._down[m:] - middle)
        worth = _WORTH_TAKING * self.violation
        found = np.flatnonzero(score > worth)
        few = self.qp.n <= min(_HARD_WHOLE, self.rows.capacity)
        if few and self.n_iter > 0 and len(found) > _HARD * len(score):
            return np.arange(m, self.qp.n)
        if len(found) > most:
            order = np.argsort(-score[found], kind="stable")
            if score[found[order[0]]] == score[found[order[-1]]]:  # a cold start: all are equal
                return m + self._spread(found, most)
            found = np.sort(found[order[:most]])
        return m + found

    def _spread(self, found: Index, most: int) -> Index:
        """Choose evenly from the variables that may rise and those that may fall."""
        p = self.p[self.rows.n_rows :][found]
        picked = [
            side[np.linspace(0, len(side) - 1, min(most // 2, len(side))).astype(int)]
            for side in (found[p >= 0], found[p < 0])
            if len(side)
        ]
        return np.unique(np.concatenate(picked))

    def _make_room(self, count: int) -> None:
        """Drop the rows that are least likely to move: those held most firmly at a bound."""
        m = self.rows.n_rows
        middle = 0.5 * (self.least + self.most)
        held = np.minimum(self._up[:m] - middle, middle - self._down[:m])
        firmness = np.where(self._free()[:m], -1.0, np.abs(held))
        dropped = np.sort(np.argsort(-firmness, kind="stable")[: min(count, m)])
        for a, b in self.rows.drop(dropped):
            self._exchange(a, b)
        self._stale = True

    def _free(self) -> Any:
        free = (self.b > self.lo) & (self.b < self.hi)
        return free if self.kink is None else free & (self.b != 0)

    def progress(self) -> Progress:
        """Return the progress of the run."""
        steps = self._steps_before + self.n_iter
        return Progress(steps, self.violation, self._objective(), self.rows.n_rows)

    def state(self) -> SolverState:
        """Return the state of the run, in the order of the problem."""
        beta, gradient = np.empty_like(self.b), np.empty_like(self.gradient)
        beta[self.rows.order], gradient[self.rows.order] = self.b, self.gradient
        return SolverState(beta, gradient, self.violation, self.n_iter, self.status)
