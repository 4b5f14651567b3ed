"""A solver for bounds and several equalities: the dual of a machine with features in its bias.

    min 1/2 b'Kb - p'b   s.t.   A b = c,   lo <= b <= hi

Three methods work together. SMO on the kernel K + sigma A'A, the machine whose features are
penalised, finds roughly which variables are at which bound. From there Newton steps between sets of
bounds (`switch_bounds`) usually end at the exact solution. Where they do not, or the problem is
small, an interior-point method (`interior_point`) solves for the variables whose bound is in doubt,
with a ridge on the multipliers that keeps the systems regular and has no visible effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from .._parameters import as_real, check_kind, check_number
from .._threads import single_blas
from .._typing import Array, Index
from .interior_point import interior_point
from .kkt_system import KKTSystem
from .problem import DualQP, Solution
from .progress import Progress
from .reduced import Reduced, reduce, shortest_multipliers
from .smo import SMO
from .terms import Terms

_MOST_STEPS = 20  # limit on the number of linear systems
_SNAP = 1e-10  # distance to a bound within which a variable is put onto it, in units of the margin


@dataclass(frozen=True)
class SettledPoint:
    """A point that satisfies all conditions, and its multipliers."""

    beta: Array
    nu: Array


def switch_bounds(
    problem: Reduced, beta: Array, nu: Array, tol: float
) -> tuple[SettledPoint | None, int]:
    """Step between sets of variables at their bounds, starting from the bounds of a point.

    ``beta`` (n,): coefficients within the bounds. ``nu`` (r,): multipliers; with the coefficients
    they determine the first sets. ``tol``: tolerance for a multiplier of a bound that has the wrong
    sign. Returns ``settled``, the solution; None where the steps do not lead to it; ``n_steps``,
    number of linear systems solved.
    """
    K, Q, lo, hi = problem.K, problem.Q, problem.lo, problem.hi
    gradient = problem.product(beta) - problem.p
    residual = gradient + Q @ nu
    at_lo, at_hi = (beta <= lo) & (residual >= 0), (beta >= hi) & (residual <= 0)
    fewest, patience = np.inf, 2
    for n_steps in range(1, _MOST_STEPS + 1):
        free = np.flatnonzero(~(at_lo | at_hi))
        try:
            system = KKTSystem(K[np.ix_(free, free)], Q[free], problem.rho)
        except LinAlgError:
            break
        step, nu = system.solve(-gradient[free], -problem.excess(beta, np.zeros_like(nu)))
        reached = beta[free] + step
        residual = gradient + step @ K[free] + Q @ nu
        freed = (at_lo & (residual < -tol)) | (at_hi & (residual > tol))
        below, above = reached < lo[free], reached > hi[free]
        wrong = int(freed.sum() + below.sum() + above.sum())
        new = beta.copy()
        new[free] = np.clip(reached, lo[free], hi[free])
        if wrong == 0:
            # With the ridge centred on the multipliers the equalities hold exactly.
            closer = replace(problem, centre=nu)
            step, nu = system.solve(-gradient[free], -closer.excess(beta, np.zeros_like(nu)))
            new[free] = beta[free] + step
            return SettledPoint(_snapped(problem, new), nu), n_steps
        if not wrong < fewest:
            patience -= 1
            if patience < 0 or wrong > 2 * fewest + 10:
                break
        fewest = min(fewest, wrong)
        at_lo, at_hi = at_lo & ~freed, at_hi & ~freed
        at_lo[free], at_hi[free] = below, above
        gradient = gradient + problem.product(new - beta)
        beta = new
    return None, n_steps


def _snapped(problem: Reduced, beta: Array) -> Array:
    """Put variables onto a bound that rounding left next to it or beyond it."""
    lo, hi = problem.lo, problem.hi
    near = _SNAP * np.minimum(hi - lo, 1 / max(problem.size, 1e-300))
    snapped: Array = np.where(beta < lo + near, lo, np.where(beta > hi - near, hi, beta))
    return snapped


SMALL = 200  # rows up to which the interior-point method is as fast as a guess
HUGE = 1e6  # decision value of one feature alone above which a problem counts as degenerate
_PENALTY = 3.0  # kernel of the penalised features in the guess, relative to the diagonal of K
_GUESSED = 1e-2  # tolerance of the guess
_DOUBT = 0.3  # distance from the margin within which a row may still change its bound
_CENTRES = 4  # largest number of times that the ridge is centred on the multipliers
_INTERIOR = 0.1  # tolerance of the interior-point method, as a fraction of the tolerance
_EXACT = 1e-3  # tolerance of the steps between sets of bounds, as a fraction of the tolerance


@dataclass(frozen=True)
class SeveralEqualities:
    """Solver of the dual with any number of equalities, warm from any start.

    Parameters
    ----------
    tol : float, default=1e-3
        Largest violation of the conditions of the margin, in units of the margin, and of the
        equalities: ``|Q'b - c| / max(1, sum |b|)`` with the orthonormalised features Q.
    memory : float, default=4e9
        Bytes for the kernel matrix, which is stored in float64.
    callback : callable, default=None
        Called as ``callback(progress)`` with a `Progress` between stages.

    Notes
    -----
    Where the features alone nearly separate some rows, the multipliers are unbounded. The solution
    is within the tolerance where a small ridge on the multipliers suffices; otherwise its status
    is "degenerate", and a penalty on the features is the remedy.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import DualQP, SeveralEqualities, Terms
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> A = np.array([[1.0, 1, 1, 1], [0, 1, 1, 0]])
    >>> qp = DualQP(np.eye(4), Terms(y, lo=np.minimum(0, y), hi=np.maximum(0, y), A=A))
    >>> solution = SeveralEqualities().solve(qp)
    >>> solution.beta.round(6), solution.nu.round(6)
    (array([ 1.,  1., -1., -1.]), array([0., 0.]))
    """

    tol: float = 1e-3
    memory: float = 4e9
    callback: Callable[[Progress], Any] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_number(self.tol, "tol")
        check_number(self.memory, "memory")

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
        if qp.kink is not None:
            return "SeveralEqualities solves problems without kinks"
        if not (np.isfinite(qp.lo).all() and np.isfinite(qp.hi).all()):
            return "SeveralEqualities needs finite bounds: a finite C"
        if not qp.gram.is_psd:
            return "SeveralEqualities needs a positive semi-definite kernel"
        needed = 8.0 * np.count_nonzero(qp.lo < qp.hi) ** 2
        if needed > self.memory:
            return (
                f"SeveralEqualities stores the kernel matrix, {needed / 1e9:.1f} GB of the "
                f"{self.memory / 1e9:.1f} GB that memory allows"
            )
        return None

    def solve(self, qp: DualQP, *, start: Solution | Array | None = None) -> Solution:
        """Solve the problem.

        Parameters
        ----------
        qp : DualQP
            The problem.
        start : Solution or ndarray of shape (n,), default=None
            The starting point; any vector is accepted and clipped to the bounds.

        Returns
        -------
        solution : Solution
            The solution with its certificate. ``status`` is "converged", "stalled", or
            "degenerate" where the multipliers are unbounded.
        """
        check_kind(qp, "qp", DualQP)
        reason = self.supports(qp)
        if reason is not None:
            raise ValueError(f"{reason}.")
        rows = np.flatnonzero(qp.lo < qp.hi)
        with single_blas():
            problem, basis = reduce(qp, rows)
            if not np.isfinite(problem.K).all():
                raise ValueError("K must not hold NaN, nor values so large that products overflow.")
            run = _EqualitiesRun(self, problem)
            run.solve(_start(qp, rows, start))
            beta = qp.lo.copy()
            beta[rows] = run.beta
            return self._certified(qp, beta, basis.multipliers(run.nu), run)

    def _certified(self, qp: DualQP, beta: Array, nu: Array, run: _EqualitiesRun) -> Solution:
        problem = run.problem  # has the whole of K where no variable is fixed
        whole = problem.n == qp.n
        gradient = problem.product(beta) - qp.p if whole else qp.gradient(beta)
        margins = qp.kkt_violation(beta, nu, gradient)
        violation = max(margins, problem.imbalance(run.beta))
        far = bool((np.abs(qp.A).max(axis=1, initial=0.0) * np.abs(nu) > HUGE).any())
        status = "converged" if violation <= self.tol else "degenerate" if far else "stalled"
        gap = qp.duality_gap(beta, nu, gradient)
        objective = qp.objective(beta, gradient)
        return Solution(beta, nu, gradient, objective, gap, violation, run.n_iter, status)


@dataclass(frozen=True)
class _Start:
    """A starting point, on the rows of the problem."""

    beta: Array
    pull: Array | None  # A'nu on each row, where multipliers are known


class _EqualitiesRun:
    """The state of a solve."""

    def __init__(self, solver: SeveralEqualities, problem: Reduced) -> None:
        self.solver, self.problem, self.n_iter = solver, problem, 0
        self.tol = _EXACT * solver.tol
        self.beta: Array = np.clip(0.0, problem.lo, problem.hi)
        self.nu: Array = np.zeros(len(problem.c))
        self.violation = np.inf

    def solve(self, start: _Start | None) -> None:
        """Solve from a start, or cold."""
        if self.problem.n == 0:
            self.violation = 0.0
        elif start is None and self.problem.n <= SMALL:
            self._in_doubt()
        elif start is None or not self._ends_at(start):
            self._guess()
            if not self._settle():
                self._in_doubt()
        self._shorten()

    def _shorten(self) -> None:
        """Take the shortest multipliers where they are as good."""
        nu = shortest_multipliers(self.problem, self.beta, self.nu)
        if nu is not self.nu and self.problem.violation(self.beta, nu) <= max(
            self.violation, self.tol
        ):
            self._take(self.beta, nu)

    def _ends_at(self, start: _Start) -> bool:
        """Move to a point; return whether it is the solution."""
        problem = self.problem
        beta = np.clip(start.beta, problem.lo, problem.hi)
        nu = self.nu
        free = np.flatnonzero((beta > problem.lo) & (beta < problem.hi))
        if start.pull is not None:
            nu = problem.Q.T @ start.pull
        elif len(free):
            gradient = problem.product(beta) - problem.p
            nu = np.linalg.lstsq(problem.Q[free], -gradient[free])[0]
        self._take(beta, shortest_multipliers(problem, beta, nu))
        return self.violation <= self.solver.tol

    def _guess(self) -> None:
        """Solve the machine whose features are penalised, to a low precision, by SMO.

        The penalty is centred on the current multipliers: zero, or those of a start. An extra
        variable without curvature and bounds absorbs the sum, which is free here.
        """
        problem = self.problem
        n, n_features = problem.Q.shape
        spread = float(np.median(problem.hi - problem.lo))
        weight, scaled = 0.0, np.zeros((n + 1, n_features), dtype=np.float32)
        if n_features:
            size = max(problem.size, 1e-300)
            weight = _PENALTY * max(size, 1 / spread) * n / n_features
            scaled[:n] = problem.Q * np.sqrt(weight)
        K = scaled @ scaled.T
        K[:n, :n] += problem.K
        terms = Terms(
            p=np.append(problem.p + problem.Q @ (weight * problem.c - self.nu), 0.0),
            lo=np.append(problem.lo, -np.inf),
            hi=np.append(problem.hi, np.inf),
        )
        start = np.append(self.beta, -self.beta.sum()) if self.beta.any() else None
        solver = SMO(tol=_GUESSED, exact=False, max_iter=100 * n)
        beta = np.clip(solver.solve(DualQP(K, terms), start=start).beta[:n], problem.lo, problem.hi)
        self._take(beta, self.nu + weight * (problem.Q.T @ beta - problem.c))

    def _settle(self) -> bool:
        """Step between sets of bounds from here; return whether that led to the solution."""
        settled, n_steps = switch_bounds(self.problem, self.beta, self.nu, self.tol)
        self.n_iter += n_steps
        if settled is not None:
            better = self.problem.violation(settled.beta, settled.nu) < self.violation
            if better:  # it is not where equal or zero rows make the system singular
                self._take(settled.beta, settled.nu)
        return self.violation <= self.solver.tol

    def _in_doubt(self) -> None:
        """Solve for the variables whose bound is in doubt, and add more until none is missing."""
        problem = self.problem
        residual = np.abs(problem.residual(self.beta, self.nu))
        free = (self.beta > problem.lo) & (self.beta < problem.hi)
        least = min(problem.n, max(SMALL, 3 * len(problem.c)))
        closest = np.argsort(residual)[:least]
        doubted = free | (residual < _DOUBT)
        doubted[closest] = True
        while True:
            self._interior(np.flatnonzero(doubted))
            if self._settle() or doubted.all():
                return
            residual = problem.residual(self.beta, self.nu)
            wrong = problem.violations(self.beta, residual) > self.solver.tol
            new = ~doubted & (wrong | (np.abs(residual) < _DOUBT))
            doubted |= new if (new & wrong).any() else True

    def _interior(self, rows: Index) -> None:
        part = self.problem if len(rows) == self.problem.n else self.problem.on(rows, self.beta)
        for _ in range(_CENTRES):
            found = interior_point(part, _INTERIOR * self.solver.tol)
            self.n_iter += found.n_iter
            beta = self.beta.copy()
            beta[rows] = found.beta
            before = self.violation
            self._take(beta, found.nu)
            if part.imbalance(found.beta) <= self.solver.tol or not self.violation < before:
                return
            self.problem = replace(self.problem, centre=found.nu)
            part = replace(part, centre=found.nu)

    def _take(self, beta: Array, nu: Array) -> None:
        self.beta, self.nu, self.violation = beta, nu, self.problem.violation(beta, nu)
        if self.solver.callback is not None:
            problem = self.problem
            objective = float(0.5 * beta @ problem.product(beta) - problem.p @ beta)
            self.solver.callback(Progress(self.n_iter, self.violation, objective, problem.n))


def _start(qp: DualQP, rows: Index, start: Solution | Array | None) -> _Start | None:
    if start is None:
        return None
    solution = start if isinstance(start, Solution) else None
    given = as_real(start if solution is None else solution.beta, "start")
    if given.shape != (qp.n,) or not np.isfinite(given).all():
        raise ValueError(f"start must be a vector of {qp.n} finite numbers.")
    if solution is None or solution.nu.shape != qp.c.shape:
        return _Start(given[rows], None)
    return _Start(given[rows], solution.nu @ qp.A[:, rows])
