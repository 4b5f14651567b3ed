"""SMO for thousands of rows of a kernel that is faster to compute than to store.

    min 1/2 b'Kb - p'b + kink'|b|   s.t.   sum b = c,   lo <= b <= hi

The state is b and its gradient f = K b - p, in float64. A *working set* W holds the rows that are
free or violate the optimality conditions, and those near the margin. Its square of K is stored in
16 bits; SMO runs on it, and then the gradient of all other rows is brought up to date by tiles of K
that are used where they are made. Rounding in the square does not reach the solution, because only
the changes of a round go through it.

    ROUND   while the violation exceeds the goal: choose W, solve on it, update the gradients
    WAKE    columns far from the margin are dormant for a while: bring their gradients up to date
    WIDEN   a cold start begins on a random pool of rows, and goes on with a larger one
    CHECK   measure the violation in float64; above the tolerance, the rounds go on from there
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from .. import _native
from .._typing import Array, Index, Square, Tiles
from .gram import TIGHT, KeptBuffer
from .problem import DualQP, SolverState
from .progress import Progress
from .terms import Terms, slopes

_MOST_BYTES = 1e9  # bytes of a square; filling and reading a larger one costs more than it saves
_FEWEST = 512  # rows of the smallest square, half a megabyte: with fewer, rounds are too many
_SLACK = 1.25  # length of a stored row, relative to the rows there are when it has to grow
_LINE = 32  # rows by which a capacity, and entries by which a stored row, grows


class WorkingSquare:
    """K of the rows of a working set, which come and go.

    ``tiles``: makes the entries. ``n``: number of rows of K. ``memory``: bytes that it may take.
    ``dtype``: the type of the entries: numpy.uint16 for fixed point, or numpy.float64.
    """

    def __init__(self, tiles: Tiles, n: int, memory: float, dtype: Any = np.uint16) -> None:
        self._tiles, self._itemsize = tiles, np.dtype(dtype).itemsize
        most = isqrt(int(np.clip(memory, 0, _MOST_BYTES)) // self._itemsize)
        most = max(_FEWEST, most) // _LINE
        #: Largest number of rows.
        self.capacity = _LINE * min(most, -(-n // _LINE))
        self._buffer = KeptBuffer(self._itemsize * self.capacity**2)
        self._entries = self._buffer.view(dtype)
        self._stride = 0
        #: The rows of the working set.
        self.rows = np.empty(0, dtype=np.intp)

    @property
    def K(self) -> Square:
        """The entries, a view."""
        m = len(self.rows)
        whole: Square = self._entries[: m * self._stride].reshape(m, self._stride)
        return whole[:, :m]

    def squeeze(self, kept: Index) -> None:
        """Drop all rows but those at these positions, which ascend."""
        if len(kept) < len(self.rows):
            _native.squeeze_square(self.K, kept)
            self.rows = self.rows[kept]

    def append(self, rows: Index) -> None:
        """Add rows; there must be room for them."""
        before = len(self.rows)
        self.rows = np.concatenate([self.rows, rows])
        self._make_room(before)
        self._buffer.touch(self._itemsize * len(self.rows) * self._stride)
        self._tiles.fill_square(self.rows, before, self.K)

    def _make_room(self, before: int) -> None:
        """Lay the rows that are there further apart where the new ones do not fit between."""
        m, old = len(self.rows), self._stride
        if m <= old:
            return
        # An odd multiple: with an even one, columns meet in few sets of the cache.
        lines = -(-int(min(_SLACK * m, self.capacity)) // _LINE) | 1
        self._stride = min(lines * _LINE, self.capacity)
        for i in range(before - 1, 0, -1):
            start, then = i * self._stride, i * old
            self._entries[start : start + before] = self._entries[then : then + before]

    def close(self) -> None:
        """Give the memory back."""
        self._entries, self.rows = self._entries[:0], self.rows[:0]
        self._buffer.close()


_FIRST_POOL = 4000  # rows of the first pool
_WIDER, _WIDER_KINKED = 5, 3  # growth of a pool, and with kinks (60,000 rows: 13 % less time)
_NEARLY_ALL = 0.7  # fraction of the rows from which a pool takes all of them
# Violations to which a pool, and W within it, is solved. These and the limits of scores below are
# in units of the margin, or of a part of what targets deviate, about that of the residuals.
_POOL_GOAL, _POOL_INNER = 0.3, 0.09
_RESIDUAL = 0.25  # that part (60,000 rows: 13 % less time than with one)
_FIRST_ROWS = 1500  # rows that come at a time, at least
_INNER_FRACTION = 0.1  # violation to which W is solved, as a fraction of that of all rows
_WORTH_DROPPING = 0.2  # fraction of W above which rows that are settled leave it
_WORTH_SLEEPING = 0.2  # fraction of the live columns above which those far away become dormant
_MOST_WAKES = 4  # times that columns may have been dormant in vain
_SWEEP = 3e8  # entries read per call of compiled code, which ignores Ctrl-C; about 0.2 seconds
_CHECKED_ROWS = 2000  # rows without a coefficient whose violation is measured in float64
_FLOAT32_ERROR = 2e-7  # largest error of a gradient by float32 tiles, relative to |b|
_WORD_ERROR = 4e-6  # mean error of an entry of the square in fixed point
_COARSE = 2  # failed checks, or rounds undone by that error, after which all is in float64
_SLOW_ROUNDS = 8  # rounds without a smaller violation after which all is in float64
_IDLE_ROUNDS = 30  # rounds without a smaller violation after which another method has to go on
_BYTES_PER_NUMBER = 20  # bytes of a feature of a row: in float32, and in float64 while sorting
_BYTES_PER_ROW = 250  # bytes of a row in all vectors, and in tiles beside its features
_LESS = 0.9  # a smaller violation, as a fraction of the smallest so far


class WorkingSetRun:
    """One solve; all vectors are in the order of the pools.

    ``qp``: the problem, with one equality sum b = c, and a kernel that has tiles.
    ``start``: a feasible start; its gradient is computed where it is empty. ``tol``: the tolerance
    of the stop test. ``memory``: bytes for the square of the working set, the rows as tiles read
    them, and the vectors. ``max_steps``: limit on the number of steps. ``callback``: called with a
    `Progress` after each round.
    """

    def __init__(
        self,
        qp: DualQP,
        start: SolverState,
        tol: float,
        memory: float,
        max_steps: int,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.n, self.tol, self.max_steps, self._callback = qp.n, tol, max_steps, callback
        self._order = np.random.default_rng(0).permutation(qp.n)
        self._tiles = qp.gram.tiles(self._order)
        self.b, self.p = start.beta[self._order], qp.p[self._order]
        self.lo, self.hi = qp.lo[self._order], qp.hi[self._order]
        self.kink = None if qp.kink is None else qp.kink[self._order]
        self.f = -self.p
        self._precise = tol < TIGHT  # whether all tiles and the square are in float64
        cold = not self.b.any() and len(start.gradient) == 0
        self._pool = min(self.n, _FIRST_POOL) if cold else self.n
        self._live = np.arange(self._pool)  # columns whose gradient is up to date
        self._dormant: list[tuple[Index, Array]] = []  # columns, and b when they were up to date
        self._memory = memory - qp.n * (_BYTES_PER_NUMBER * qp.gram.n_features + _BYTES_PER_ROW)
        self._square = self._new_square()
        self._moved = 0  # rows that the last round changed
        self._checked, self._wakes, self._failures = False, 0, 0
        self._best, self._idle = np.inf, 0
        self.n_iter, self.status, self.gap = start.n_iter, "", np.inf
        if len(start.gradient):
            self.f = start.gradient[self._order]
        elif not cold:
            self._add(np.flatnonzero(self.b), self.b[self.b != 0], self._live)
        self._unit = _unit(self.p, self.f)
        self.objective = self._objective()

    def run(self) -> SolverState:
        """Go from state to state until one of them ends the run.

        Returns ``state``, the final state; its status is empty where another method has to go on.
        """
        try:
            self._look()
            while not self.status and self._idle < _IDLE_ROUNDS:
                if self.gap > self._goal():
                    self._round()
                elif self._dormant:
                    self._wake()
                elif self._pool < self.n:
                    self._widen()
                elif not self._checked:
                    self._check()
                else:
                    self.status = "converged"
        finally:
            self._square.close()
        return self._state()

    def _new_square(self) -> WorkingSquare:
        dtype = np.float64 if self._precise else np.uint16
        return WorkingSquare(self._tiles, self.n, self._memory, dtype)

    def _goal(self) -> float:
        return self.tol if self._pool == self.n else _POOL_GOAL * self._unit

    def _objective(self) -> float:
        smooth = float(0.5 * self.b @ (self.f - self.p))
        return smooth if self.kink is None else smooth + float(self.kink @ np.abs(self.b))

    def _box(self, some: Index) -> tuple[Array, Array, Array | None]:
        """Return the bounds and kinks of some rows."""
        return self.lo[some], self.hi[some], None if self.kink is None else self.kink[some]

    def _look(self) -> None:
        """Measure the violation over the live columns."""
        some = self._live
        least, most = _native.reach(self.b[some], self.f[some], *self._box(some))
        self.gap, self._middle = most - least, 0.5 * (least + most)

    # --- ROUND --------------------------------------------------------------------------------

    def _round(self) -> None:
        """Choose a working set, solve on it, and bring the live gradients up to date."""
        score, priority = self._scores()
        self._choose(score, priority)
        self._let_sleep(score)
        rows, before = self._square.rows, self.b.copy()
        steps = self._solve()
        moved = rows[self.b[rows] != before[rows]]
        change, gradient = self.b[moved] - before[moved], self.f[moved]
        self._add(moved, change, self._live)
        self.objective += 0.5 * float(change @ (gradient + self.f[moved]))
        if self.kink is not None:
            bent = np.abs(self.b[moved]) - np.abs(before[moved])
            self.objective += float(self.kink[moved] @ bent)
        self._moved, self._checked = len(moved), False
        before_round = self.gap
        self._look()
        error = _WORD_ERROR * float(np.sqrt(change @ change))
        self._watch(steps)
        undone = self.gap > max(self._goal(), 0.5 * before_round) and error > 0.1 * self.gap
        if undone or self._idle >= _SLOW_ROUNDS:
            self._fail()
        if self._callback is not None:
            progress = Progress(self.n_iter, self.gap, self.objective, len(self._square.rows))
            self._callback(progress)

    def _scores(self) -> tuple[Array, Array]:
        """Return by how much each row violates the conditions, and which rows come first.

        Free rows score infinitely; rows at a bound that holds them score below zero. Free rows come
        in the order of their violation, which decides if not all of them fit.
        """
        can_rise, can_fall = self.b < self.hi, self.b > self.lo
        rising, above = slopes(self.b, self.f - self._middle, self.kink)
        score = np.where(can_rise, -rising, -np.inf)
        np.maximum(score, above, out=score, where=can_fall)
        free = can_rise & can_fall if self.kink is None else can_rise & can_fall & (self.b != 0)
        priority = np.where(free, np.abs(above), score)
        score[free] = np.inf
        resting = np.ones(self.n, dtype=bool)
        resting[self._live] = False
        score[resting] = priority[resting] = -np.inf
        return score, priority

    def _choose(self, score: Array, priority: Array) -> None:
        """Let rows that are settled leave the working set, and others come."""
        square, unit = self._square, self._unit
        stays = np.flatnonzero(score[square.rows] > -np.clip(2 * self.gap, self.tol, 0.25 * unit))
        if len(square.rows) - len(stays) <= _WORTH_DROPPING * len(square.rows):
            stays = np.arange(len(square.rows))
        outside = score > -np.clip(self.gap, 0.5 * self.tol, 0.1 * unit)
        outside[square.rows] = False
        come = np.flatnonzero(outside)
        if self.n_iter == 0 and not self.b.any():
            come = self._some_of_each_class(come)
        else:
            n_free = int(np.count_nonzero(score == np.inf))
            come = _largest(come, priority, max(_FIRST_ROWS, self._moved, n_free // 2))
        if len(stays) + len(come) > square.capacity:
            come = _largest(come, priority, square.capacity // 2)
            room = square.capacity - len(come)
            stays = np.sort(_largest(stays, priority[square.rows], room))
        square.squeeze(stays)
        square.append(come)

    def _some_of_each_class(self, rows: Index) -> Index:
        """Return the first rows, where there are classes of each: the order is random."""
        if self.kink is not None:
            return rows[:_FIRST_ROWS]
        sides = (rows[self.p[rows] > 0], rows[self.p[rows] < 0])
        return np.concatenate([side[: _FIRST_ROWS // 2] for side in sides])

    def _let_sleep(self, score: Array) -> None:
        """Leave columns far from the margin as they are for a while."""
        if self._pool < self.n or self.gap >= self._unit or self._wakes > _MOST_WAKES:
            return
        rests = score < -max(2 * self.gap, 0.1 * self._unit)
        rests[self._square.rows] = False
        sleepers = self._live[rests[self._live]]
        if len(sleepers) > _WORTH_SLEEPING * len(self._live):
            self._dormant.append((sleepers, self.b.copy()))
            self._live = self._live[~rests[self._live]]

    def _solve(self) -> int:
        """Run SMO on the square; rows that can no longer move leave it on the way."""
        aim = max(0.5 * self.tol, _INNER_FRACTION * self.gap)
        if self._pool < self.n:
            aim = max(aim, _POOL_INNER * self._unit)
        rows, steps, ended = self._square.rows, 0, _native.OUT_OF_STEPS
        b, g, box = self.b[rows], self.f[rows] - self._middle, self._box(rows)
        while ended in (_native.OUT_OF_STEPS, _native.UNFINISHED):
            left = self.max_steps - self.n_iter - steps
            _, made, ended = _native.solve_square(
                self._square.K, b, g, box[0], box[1], aim, left, _SWEEP, box[2]
            )
            self.b[self._square.rows] = b
            steps += made
            if left <= made:
                break
            if ended == _native.UNFINISHED:
                kept = _movable(b, g, *box)
                self._square.squeeze(kept)
                b, g, box = b[kept], g[kept], self._box(self._square.rows)
        self.n_iter += steps
        return steps

    def _watch(self, steps: int) -> None:
        """End the run without steps left, or where no step makes progress."""
        self._idle = 0 if self.gap < _LESS * self._best else self._idle + 1
        self._best = min(self._best, self.gap)
        if self.n_iter >= self.max_steps:
            self.status = "max_iter"
        elif steps == 0:
            self._idle = _IDLE_ROUNDS

    # --- WAKE, WIDEN --------------------------------------------------------------------------

    def _wake(self) -> None:
        """Bring the gradients of dormant columns up to date."""
        for columns, before in self._dormant:
            moved = np.flatnonzero(self.b != before)
            self._add(moved, self.b[moved] - before[moved], columns)
        self._dormant, self._live = [], np.arange(self.n)
        self._wakes += 1
        self._look()

    def _widen(self) -> None:
        """Go on with a larger pool."""
        wider = (_WIDER if self.kink is None else _WIDER_KINKED) * self._pool
        wider = self.n if wider > _NEARLY_ALL * self.n else wider
        support = np.flatnonzero(self.b)
        self._add(support, self.b[support], np.arange(self._pool, wider))
        self._pool, self._live = wider, np.arange(wider)
        self._best, self._idle = np.inf, 0
        self._look()

    def _add(self, rows: Index, change: Array, columns: Index) -> None:
        """Add K times a change of some rows to the gradient of some columns."""
        self._tiles.add_products(rows, change, columns, self.f, precise=self._precise)

    # --- CHECK --------------------------------------------------------------------------------

    def _check(self) -> None:
        """Compute the gradient anew in float64 wherever an error could hide a violation.

        That is on all support vectors, on rows so near to the margin that float32 could have hidden
        them, and on some others. Where those turn out to be further off than they should be, the
        whole gradient is computed anew. With kinks, support vectors at a bound count as other rows
        where that is less work: among all of them, a kernel value serves two rows.
        """
        band = max(self.tol, _FLOAT32_ERROR * float(np.sqrt(self.b @ self.b)))
        wanted, support = self._scores()[0] > -band, self.b != 0
        few = 2 * np.count_nonzero(wanted) < np.count_nonzero(support)
        if self.kink is None or not few:
            wanted |= support
        others = np.flatnonzero(~wanted)
        wanted[others[:_CHECKED_ROWS]] = True  # the order is random
        if self._refresh(np.flatnonzero(wanted)) > band:
            self._refresh(np.flatnonzero(~wanted))
        self._checked = True
        self._look()
        if self.gap > self.tol:
            self._fail()
        self.objective = self._objective()

    def _fail(self) -> None:
        """Count a round or check that rounding has spoilt; after several, use full precision."""
        self._failures += 1
        slow = self._failures >= _COARSE or self._idle >= _SLOW_ROUNDS
        if slow and not self._precise:
            self._precise = True
            self._square.close()
            self._square = self._new_square()
            self._best, self._idle = np.inf, 0

    def _refresh(self, columns: Index) -> float:
        """Compute the gradient of some columns in float64; return by how much it was wrong."""
        before, support = self.f[columns], np.flatnonzero(self.b)
        coefficients, rest = self.b[support], columns
        self.f[columns] = -self.p[columns]
        if np.count_nonzero(self.b[columns]) == len(support):
            rest = columns[self.b[columns] == 0]
            self._tiles.add_mutual_products(support, coefficients, self.f)
        self._tiles.add_products(support, coefficients, rest, self.f, precise=True)
        return float(np.abs(self.f[columns] - before).max(initial=0.0))

    def _state(self) -> SolverState:
        """Return the state in the order of the problem; all gradients are up to date."""
        while self._dormant or self._pool < self.n:  # the run ended before it was done
            self._wake() if self._dormant else self._widen()
        beta, gradient = np.empty(self.n), np.empty(self.n)
        beta[self._order], gradient[self._order] = self.b, self.f
        return SolverState(beta, gradient, self.gap, self.n_iter, self.status)


def _largest(rows: Index, priority: Array, most: int) -> Index:
    """Return the rows with the largest priority, at most ``most``."""
    if len(rows) <= most:
        return rows
    return rows[np.argpartition(-priority[rows], most - 1)[:most]]


def _movable(b: Array, g: Array, lo: Array, hi: Array, kink: Array | None) -> Index:
    """Return the variables that a step may still move (LIBSVM's shrinking)."""
    least, most = _native.reach(b, g, lo, hi, kink)
    rising, falling = slopes(b, g, kink)
    return np.flatnonzero(((b < hi) & (rising < most)) | ((b > lo) & (falling > least)))


def suits(terms: Terms) -> bool:
    """Return whether a problem is a machine: of classes, of targets, or of one class."""
    p = terms.p
    return terms.kink is not None or bool((np.abs(p) == 1).all()) or not p.any()


def _unit(p: Array, f: Array) -> float:
    """Return the margin of classes, or what residuals deviate; without targets what f does."""
    if (np.abs(p) == 1).all():
        return 1.0
    return float(_RESIDUAL * np.std(p) if np.ptp(p) > 0 else np.std(f)) or 1.0
