"""The Kernel-Adatron (Friess, Cristianini, Campbell 1998): gradient steps on one row at a time.

    min 1/2 b'Kb - p'b   s.t.   lo <= b <= hi   [and sum b = c]

In the paper's terms alpha_i <- max(0, alpha_i + eta (1 - y_i z_i)) with z = K (alpha * y), for each
i in order. In signed form, with the multiplier nu of the sum, which is the bias,

    b_i <- clip(b_i - eta (K b - p + nu)_i, lo_i, hi_i).

The printed algorithm has no bias, nu = 0. With one, the sum of the solution decreases as nu
increases, so that nu is the root of a monotone function. The method is here for comparison: `SMO`
needs fewer sweeps by orders of magnitude.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._native import sweep
from .._parameters import as_real, check_count, check_kind, check_number
from .._threads import single_blas
from .._typing import Array
from .gram import StoredGram
from .problem import DualQP, Solution, SolverState

_SWEPT = 4e7  # kernel entries read between two checks for Ctrl-C
# Weight rho of a penalty rho/2 (sum b - c)^2 on the sum, as a fraction of max K_ii. With it the
# solution is a continuous function of nu even where K is singular; it vanishes at the right sum.
_RHO = 0.03
_INNER = 0.2  # tolerance at a trial multiplier, as a fraction of the tolerance


@dataclass(frozen=True)
class Adatron:
    """Solver of the dual without an equality, or with the one equality sum b = c.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop when the largest violation of the optimality conditions is at most ``tol``.
    max_iter : int, default=10_000
        Limit on the number of epochs: sweeps over all rows, those at trial multipliers included.
        Where no hard margin exists, the coefficients grow until the epochs are used up.
    eta : float, default=1.0
        Length of a step, 0 < eta < 2 / max K_ii; 1 / K_ii is the minimum along a coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import Adatron, hard_margin
    >>> K, y = np.array([[1.0, -0.5], [-0.5, 1.0]]), np.array([1.0, -1.0])
    >>> solution = Adatron(tol=1e-9).solve(hard_margin(K, y, bias=False))
    >>> solution.beta.round(4), solution.nu
    (array([ 0.6667, -0.6667]), array([], dtype=float64))
    """

    tol: float = 1e-3
    max_iter: int = 10_000
    eta: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_number(self.tol, "tol")
        check_count(self.max_iter, "max_iter")

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
            return "Adatron solves problems without kinks"
        n_equalities = qp.A.shape[0]
        if n_equalities > 1:
            return f"Adatron solves problems with none or one equality; this one has {n_equalities}"
        if n_equalities and not qp.terms.sums_to_constant:
            return "Adatron needs the equality sum b = c, a row of ones, or none"
        return None

    def solve(self, qp: DualQP, *, start: Solution | Array | None = None) -> Solution:
        """Solve the problem.

        Parameters
        ----------
        qp : DualQP
            The problem.
        start : Solution or ndarray of shape (n,), default=None
            The starting point; any vector is accepted and made feasible. None is the paper's
            alpha_i = 1.

        Returns
        -------
        solution : Solution
            The solution with its certificate; ``nu`` is empty without an equality.
        """
        check_kind(qp, "qp", DualQP)
        reason = self.supports(qp)
        if reason is not None:
            raise ValueError(f"{reason}.")
        self._check_step(qp)
        beta = np.sign(qp.p) if start is None else start
        balanced = len(qp.c) == 1
        with single_blas():
            sweeps = _Sweeps(self, qp, beta.beta if isinstance(beta, Solution) else beta)
            converged = _balance(sweeps) if balanced else sweeps.at(0.0, self.tol)
        beta = qp.terms.snap(sweeps.beta)
        point = SolverState(
            beta=beta,
            gradient=qp.gradient(beta),
            violation=np.inf,
            n_iter=sweeps.epochs,
            status="converged" if converged else "max_iter",
        )
        return Solution.at(qp, point, None if balanced else np.empty(0))

    def _check_step(self, qp: DualQP) -> None:
        most = 2 / qp.gram.size if qp.gram.size > 0 else np.inf
        if not 0 < self.eta < most:
            raise ValueError(
                f"eta must satisfy 0 < eta < 2 / max K_ii = {most:.6g}, else the steps of the "
                f"Adatron diverge; got eta={self.eta!r}."
            )


def epochs_at_once(n: int) -> int:
    """Return the number of sweeps over n rows between two checks for Ctrl-C."""
    return max(1, int(_SWEPT / max(1, n) ** 2))


class _Sweeps:
    """A point, its gradient, and the number of epochs so far."""

    def __init__(self, solver: Adatron, qp: DualQP, start: Any) -> None:
        start = as_real(start, "start")
        if start.shape != (qp.n,) or not np.isfinite(start).all():
            raise ValueError(f"start must be a vector of {qp.n} finite numbers.")
        dtype = qp.gram.K.dtype if isinstance(qp.gram, StoredGram) else np.float64
        self.qp, self.solver, self.epochs = qp, solver, 0
        self.total = float(qp.c.sum())
        self.K = np.ascontiguousarray(qp.gram.dense(dtype))
        self.move_to(qp.terms.repair(start))
        if np.isnan(self.gradient).any():
            raise ValueError("K must not hold NaN, nor values so large that products overflow.")

    def move_to(self, beta: Array) -> None:
        """Continue from another point."""
        self.beta = beta.copy()
        self.gradient = self.qp.gradient(self.beta)

    @property
    def left(self) -> int:
        """Number of epochs left."""
        return self.solver.max_iter - self.epochs

    def at(self, nu: float, tol: float, rho: float = 0.0) -> bool:
        """Sweep at a multiplier; return whether the conditions hold there."""
        qp, chunk = self.qp, epochs_at_once(self.qp.n)
        while True:
            epochs, converged = sweep(
                self.K,
                self.beta,
                self.gradient,
                qp.lo,
                qp.hi,
                self.total,
                float(nu),
                float(rho),
                float(self.solver.eta),
                float(tol),
                min(chunk, self.left),
            )
            self.epochs += epochs
            if converged or self.left <= 0:
                return bool(converged)

    @property
    def excess(self) -> float:
        """The sum of the point minus the required sum."""
        return float(self.beta.sum() - self.total)


@dataclass
class _End:
    """An end of a bracket of the multiplier: the solution there, and the weight of its excess."""

    nu: float
    beta: Array
    excess: float
    weight: float


class _Bracket:
    """Two multipliers between which the solution has the required sum."""

    def __init__(self, nu: float, stride: float) -> None:
        self.nu, self.stride = nu, stride
        self.ends: dict[bool, _End] = {}
        self._last: bool | None = None

    def add(self, sweeps: _Sweeps) -> None:
        """Add the solution at ``nu``, and choose the next multiplier to try."""
        above = sweeps.excess > 0
        if above is self._last and self.is_closed:
            self.ends[not above].weight *= 0.5  # this end stayed twice: the Illinois rule
        self._last = above
        self.ends[above] = _End(self.nu, sweeps.beta.copy(), sweeps.excess, sweeps.excess)
        if len(self.ends) < 2:  # the sum decreases as the multiplier increases
            self.nu += self.stride if above else -self.stride
            self.stride *= 4
            return
        high, low = self.ends[True], self.ends[False]
        part = high.weight / (high.weight - low.weight)
        self.nu = high.nu + part * (low.nu - high.nu)

    @property
    def is_closed(self) -> bool:
        """Whether both ends are known."""
        return len(self.ends) == 2

    @property
    def width(self) -> float:
        """Distance of the ends."""
        return abs(self.ends[True].nu - self.ends[False].nu) if self.is_closed else np.inf

    def between(self) -> Array:
        """Return the point between the solutions at the ends that has the required sum."""
        high, low = self.ends[True], self.ends[False]
        part = high.excess / (high.excess - low.excess)
        return high.beta + part * (low.beta - high.beta)


def _balance(sweeps: _Sweeps) -> bool:
    """Find the multiplier at which the solution has the required sum; return whether it exists.

    The point between the solutions at the ends of a bracket is tried first: where the same
    variables are free at both ends, it is the solution.
    """
    qp, tol = sweeps.qp, sweeps.solver.tol
    inner = _INNER * tol
    size = qp.gram.size
    rho, nu = _RHO * size, qp.terms.intercept(sweeps.beta, sweeps.gradient)
    bracket = _Bracket(nu, max(tol, 1e-3 * size))
    while not _is_optimal(sweeps, tol):
        if not sweeps.at(bracket.nu, inner, rho):
            sweeps.move_to(qp.terms.repair(sweeps.beta))
            return _is_optimal(sweeps, tol)
        bracket.add(sweeps)
        if bracket.is_closed:
            sweeps.move_to(qp.terms.repair(bracket.between()))
        if bracket.width <= inner:  # the tolerance is too coarse to separate the ends
            inner *= 0.1
            bracket = _Bracket(bracket.nu, max(bracket.width, inner))
    return True


def _is_optimal(sweeps: _Sweeps, tol: float) -> bool:
    """Return whether the point has the required sum and is optimal for some multiplier."""
    qp = sweeps.qp
    if abs(sweeps.excess) > 1e-12 * (1 + np.abs(sweeps.beta).sum()):
        return False
    least, most = qp.terms.reach(sweeps.beta, sweeps.gradient)
    return not most - least > tol
