"""The nu forms: nu bounds the fraction of support vectors, and C or epsilon follows from it.

    nu-SVC   min 1/2 a'Ka - r y'a       s.t.  sum a = 0,  0 <= y_i a_i <= w_i,  sum |a| = nu sum w
    nu-SVR   min 1/2 a'Ka - y'a + e|a|  s.t.  sum a = 0,  |a_i| <= C w_i,       sum |a| = C nu sum w

The multiplier of the last equality is r, or e = epsilon. With the multiplier given there is one
equality, so that `SMO` solves the problem, and sum |a| is a monotone function of the multiplier,
whose root is searched. Solutions are piecewise linear in the multiplier: between two of them with
the same free variables, the point with the right sum is the solution. Its violation tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from .._parameters import as_matrix, as_real
from .._threads import single_blas
from .._typing import Array, Gram, Index
from .gram import SMALL, TIGHT, StoredGram, as_gram, is_coarse
from .problem import DualQP, Solution, SolverState
from .smo import SMO
from .terms import Terms, checked_costs

_MOST_SOLVES = 100  # limit on the number of solves
_INNER = 0.4  # tolerance of a solve, as a fraction of that of the solution
_EQUAL = 1e-12  # relative difference of two sums that is rounding
_LEAST_FACTOR, _LARGEST_FACTOR = 1.1, 5.0  # between multipliers until the root is enclosed
_BEYOND = 1.2  # step from there, relative to the one by which a line leads to the root
_MOST_DIGITS = 100  # digits of a kernel value beyond which products of coefficients may overflow
_NONE = 1e-9  # margin that counts as zero, relative to the largest that there can be
_NEARLY_NONE = 0.05  # epsilon below which zero is tried, relative to the first one
_LOOSE = (100.0, 10.0, 1.0)  # tolerances of the stages, each of which starts from the one before
# Part of a bracket that may be left after so many solves; where more is, it is halved.
_SLOW, _PATIENCE = 0.25, 3
_SAMPLED, _SHARE = (
    1000,
    4,
)  # rows from which one in so many is solved first, to guess the multiplier


@dataclass(frozen=True)
class NuSolution(Solution):
    """The solution of a nu form, which is that of a C-SVC or an epsilon-SVR.

    ``C``: its cost; 1 / r for a nu-SVC, whose coefficients are a / r. ``epsilon``: its epsilon;
    zero for a nu-SVC.
    """

    C: float
    epsilon: float


@dataclass(frozen=True)
class _Point:
    """A solution with a given multiplier, in the scale of the nu form."""

    multiplier: float
    a: Array
    product: Array  # K a
    n_iter: int = 0
    status: str = "converged"

    @property
    def size(self) -> float:
        """The sum of the absolute values of a."""
        return float(np.abs(self.a).sum())

    def between(self, other: _Point, size: float) -> _Point:
        """Return the point on the line to another one where sum |a| has a given value."""
        step = other.a - self.a
        part = float(brentq(lambda t: np.abs(self.a + t * step).sum() - size, 0, 1, xtol=1e-15))
        return _Point(
            self.multiplier + part * (other.multiplier - self.multiplier),
            self.a + part * step,
            self.product + part * (other.product - self.product),
        )


@dataclass(frozen=True)
class _NuSVC:
    """The machines of a nu-SVC. `SMO` solves for a / r, with the bounds w / r and a margin of 1."""

    gram: Gram
    y: Array
    weights: Array
    nu: float
    falls = False  # whether sum |a| falls as the multiplier rises

    @property
    def size(self) -> float:
        return float(self.nu * self.weights.sum())

    def qp(self, r: float) -> DualQP:
        return DualQP(self.gram, Terms.c_svc(self.y, self.weights * (1 / r)))

    def scale(self, r: float) -> float:
        return r

    def first(self) -> float:
        """Return the margin when all rows of a class have equal shares."""
        shares = [np.where(self.y == side, self.weights, 0.0) for side in (1.0, -1.0)]
        shares = [each / each.sum() for each in shares]
        f = self.gram.matvec(self.size / 2 * (shares[0] - shares[1]))
        return abs(float((shares[0] - shares[1]) @ f)) / 2 or 1.0

    def guess(self, decisions: Array) -> float:
        """Return the margin that as many rows miss as nu says, were the decisions to stay."""
        return _quantile(self.y * decisions, self.weights, self.nu)

    def sample(self, rows: Index, gram: Gram) -> tuple[_NuSVC, float]:
        """Return the family of some rows, and by what its multiplier is multiplied."""
        part = _NuSVC(gram, self.y[rows], self.weights[rows], self.nu)
        return part, float(np.sqrt(len(self.y) / len(rows)))  # between that of tiny and large C

    def is_feasible(self) -> bool:
        return 0 < self.size <= 2 * min(self.weights[self.y == s].sum() for s in (1, -1))


@dataclass(frozen=True)
class _NuSVR:
    """The machines of a nu-SVR."""

    gram: Gram
    y: Array
    costs: Array
    nu: float
    falls = True

    @property
    def size(self) -> float:
        return float(self.nu * self.costs.sum())

    def qp(self, epsilon: float) -> DualQP:
        return DualQP(self.gram, Terms.epsilon_svr(self.y, self.costs, epsilon))

    def scale(self, epsilon: float) -> float:
        return 1.0

    def first(self) -> float:
        middle = _quantile(self.y, self.costs, 0.5)
        return _quantile(np.abs(self.y - middle), self.costs, 1 - self.nu) / 2

    def guess(self, decisions: Array) -> float:
        """Return the deviation that as many rows exceed as nu says, were the decisions to stay."""
        found = _quantile(np.abs(self.y - decisions), self.costs, 1 - self.nu)
        return found or float(np.ptp(self.y)) / 4 or 1.0

    def sample(self, rows: Index, gram: Gram) -> tuple[_NuSVR, float]:
        return _NuSVR(gram, self.y[rows], self.costs[rows], self.nu), 1.0

    def is_feasible(self) -> bool:
        return self.size > 0


class _Ends:
    """The last points with too small and with too large a sum."""

    def __init__(self) -> None:
        self._points: dict[bool, _Point] = {}
        self._widths = [np.inf] * _PATIENCE
        self._last, self._is_at_root = False, False

    @property
    def enclose(self) -> bool:
        """Whether the root is between two multipliers."""
        return len(self._points) == 2

    @property
    def low(self) -> _Point:
        return self._points[False]

    @property
    def high(self) -> _Point:
        return self._points[True]

    def add(self, point: _Point, too_large: bool) -> _Point | None:
        """Take a point, and return the one that it replaces."""
        before = self._points.get(too_large)
        self._points[too_large], self._last = point, too_large
        return before

    def next(self, size: float, tiny: float, rises: bool) -> float:
        """Return the multiplier to try: the root of a line, or one just beyond it.

        Roots alone would move one end again and again. Beyond is as far as the last point fell
        short of the root, at least a tiny step. Where that is slow, it is the middle.
        """
        last, other = (self._points[end].multiplier for end in (self._last, not self._last))
        self._widths.append(abs(last - other))
        if self._widths[-1] > _SLOW * self._widths[-1 - _PATIENCE]:
            return (last + other) / 2
        root = _root(self.low, self.high, size, rises)
        self._is_at_root = not self._is_at_root
        if self._is_at_root:
            return root
        step, room = max(abs(root - last), tiny), (other - root) / 2
        return root + float(np.clip(step, 0, abs(room)) * np.sign(room))


class _Search:
    """The search for the multiplier of a family of machines."""

    def __init__(self, family: _NuSVC | _NuSVR, solver: SMO) -> None:
        self.family, self.n_iter, self._goal = family, 0, solver
        self._slope: float | None = None  # of log sum |a| by the multiplier, near the root

    def run(self, multiplier: float) -> _Point:
        """Return the solution from a first multiplier, or where a solve fails its last point."""
        self._first, tol = multiplier, self._goal.tol
        point: Any = None
        for factor in _LOOSE:
            self.tol, exact = factor * tol, factor == _LOOSE[-1]
            budget = self._goal.budget if exact else 0.0
            self._solver = replace(self._goal, tol=_INNER * self.tol, budget=budget)
            point = self._stage(multiplier, point)
            multiplier = point.multiplier
        found: _Point = point
        return found

    def _stage(self, multiplier: float, start: _Point | None) -> _Point:
        """Search to a tolerance."""
        size, ends = self.family.size, _Ends()
        least = 0.0 if self.family.falls else _NONE * self.family.gram.size * size
        for _ in range(_MOST_SOLVES):
            point = self._solve(multiplier, start)
            surplus = point.size - size
            exact = abs(surplus) <= _EQUAL * size or (multiplier == 0 and surplus < 0)
            if exact or point.status != "converged":
                return point
            before = ends.add(point, surplus > 0)
            if ends.enclose:
                start = ends.high.between(ends.low, size)
                self._slope = _slope(ends.low, ends.high)
                if self._violation(start) <= self.tol:
                    return start
                multiplier = ends.next(size, self._tiny(multiplier), not self.family.falls)
            elif multiplier < least:
                return replace(point, status="degenerate")  # no margin has so few errors
            else:
                start, multiplier = point, self._further(point, before)
        return replace(point, status="max_iter")

    def _tiny(self, multiplier: float) -> float:
        """Return a step of the multiplier that violates no more than part of the tolerance."""
        return _INNER * self.tol * self.family.scale(multiplier)

    def _solve(self, multiplier: float, start: _Point | None) -> _Point:
        qp, scale = self.family.qp(multiplier), self.family.scale(multiplier)
        warm = {} if start is None else {"start": start.a / scale, "product": start.product / scale}
        solution = self._solver.solve(qp, **warm)
        self.n_iter += solution.n_iter
        product = scale * (solution.gradient + qp.p)
        return _Point(multiplier, scale * solution.beta, product, status=solution.status)

    def _violation(self, point: _Point) -> float:
        beta, gradient, terms = self._at(point)
        least, most = terms.reach(beta, gradient)
        return most - least

    def _at(self, point: _Point) -> tuple[Array, Array, Terms]:
        terms, scale = self.family.qp(point.multiplier).terms, self.family.scale(point.multiplier)
        return point.a / scale, point.product / scale - terms.p, terms

    def _further(self, point: _Point, before: _Point | None) -> float:
        """Return a multiplier on the way to the root from a point and from the one before."""
        now, size = point.multiplier, self.family.size
        nearest = _LEAST_FACTOR * now  # and as far below
        if before is None and self._slope is not None:  # the root is near
            missed = abs(np.log(max(point.size / size, 1e-3)))
            step = max(_BEYOND * missed / abs(self._slope), self._tiny(now))
            nearest = now + step
            aim = now
        elif before is None or now == 0:
            beta, gradient, terms = self._at(point)
            decisions = gradient + terms.p + terms.intercept(beta, gradient)
            aim = self.family.guess(self.family.scale(now) * decisions)
        else:
            root = _root(point, before, size, not self.family.falls)
            aim = now + _BEYOND * (root - now)
        if (point.size > size) == self.family.falls:  # it has to rise
            return float(np.clip(aim, nearest, max(nearest, _LARGEST_FACTOR * now) or np.inf))
        least = float(np.clip(aim, now / _LARGEST_FACTOR, now**2 / (nearest or 1.0)))
        return 0.0 if self.family.falls and least < _NEARLY_NONE * self._first else least

    def solution(self, point: _Point, C: float) -> NuSolution:
        """Certify a point as the solution of the machine with its multiplier."""
        qp = self.family.qp(point.multiplier)
        beta, gradient, terms = self._at(point)
        state = SolverState(terms.snap(beta), gradient, np.inf, self.n_iter, point.status)
        found = Solution.at(qp, state)
        epsilon = point.multiplier if self.family.falls else 0.0
        return NuSolution(
            **found.__dict__, C=C * (1 / self.family.scale(point.multiplier)), epsilon=epsilon
        )


def _root(first: _Point, second: _Point, size: float, logarithmic: bool) -> float:
    """Return where log sum |a| has a value on the line through two points.

    The line is in the multiplier or, for a margin, in its logarithm.
    """
    heights = np.log([max(each.size / size, 1e-3) for each in (first, second)])
    places = np.array([first.multiplier, second.multiplier])
    places = np.log(places) if logarithmic else places
    if heights[0] == heights[1]:
        return second.multiplier
    root = places[0] + (places[1] - places[0]) * heights[0] / (heights[0] - heights[1])
    root = np.clip(root, places.min() - 10, places.max() + 10) if logarithmic else root
    return float(np.exp(root) if logarithmic else root)


def _slope(first: _Point, second: _Point) -> float | None:
    """Return the slope of log sum |a| between two points."""
    step = second.multiplier - first.multiplier
    if step == 0 or first.size == 0:
        return None
    return float(np.log(second.size / first.size) / step) or None


def _length(b: Array) -> float:
    """Return the Euclidean length, of numbers whose squares may overflow."""
    largest = float(np.abs(b).max(initial=0.0))
    return largest * float(np.linalg.norm(b / largest)) if largest else 0.0


def _quantile(values: Array, weights: Array, part: float) -> float:
    """Return the value below which a part of the weight is."""
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    at = int(np.searchsorted(sums, part * sums[-1]))
    return float(values[order[min(at, len(order) - 1)]])


def _guess(family: _NuSVC | _NuSVR, solver: SMO) -> float:
    """Return the multiplier of a sample of the rows, or what the family says without one."""
    n = len(family.y)
    if n < _SAMPLED:
        return family.first()
    rows = np.sort(np.random.default_rng(0).choice(n, n // _SHARE, replace=False))
    gram = StoredGram(family.gram.block(rows, rows), family.gram.is_psd)
    part, factor = family.sample(rows, gram)
    if not part.is_feasible():
        return family.first()
    return factor * _Search(part, solver).run(_guess(part, solver)).multiplier


def _solve(family: _NuSVC | _NuSVR, C: float, solver: SMO) -> NuSolution:
    """Solve on a kernel matrix in memory where it fits, as every solve reads it."""
    n, lazy = len(family.y), family.gram
    fits = not isinstance(lazy, StoredGram) and not solver.is_large(family.qp(1.0))
    with single_blas():
        if not fits or 8 * n**2 > solver.memory:
            return _searched(family, C, solver)
        for dtype in (np.float32, np.float64)[n <= SMALL or solver.tol < TIGHT :]:
            family = replace(family, gram=StoredGram(lazy.dense(dtype), lazy.is_psd))
            found = _searched(family, C, solver)
            if dtype is np.float32 and not is_coarse(solver.tol, lazy.size, _length(found.beta)):
                break
    return found


def _searched(family: _NuSVC | _NuSVR, C: float, solver: SMO) -> NuSolution:
    search = _Search(family, solver)
    return search.solution(search.run(_guess(family, solver)), C)


def solve_nu_svc(
    K: Array | Gram, y: Any, nu: float, solver: SMO, weights: Any = None
) -> NuSolution:
    """Solve the nu-SVC; the solution is that of the C-SVC with the cost ``C`` that is found.

    Shapes: ``K`` (n, n), ``y`` (n,) codes -1 and +1, ``weights`` (n,) weights of the rows.
    """
    y = as_real(y, "y")
    weights = np.ones(len(y)) if weights is None else as_real(weights, "weights")
    family = _NuSVC(as_gram(as_matrix(K, len(y))), y, weights, nu)
    _check_nu(nu)
    if family.gram.size > 0 and abs(np.log10(family.gram.size)) > _MOST_DIGITS:
        raise ValueError(
            f"the kernel matrix has values of about {family.gram.size:.3g}, whose inverses are the "
            "coefficients of a nu-SVC: scale the columns, for example with StandardScaler."
        )
    if not family.is_feasible():
        smaller = min(weights[y == side].sum() for side in (1, -1))
        most = 2 * float(smaller) / float(weights.sum())
        raise ValueError(
            f"nu={nu!r} is infeasible: for these classes it can be at most {most:.6g}."
        )
    return _solve(family, 1.0, solver)


def solve_nu_svr(
    K: Array | Gram, y: Any, C: float, nu: float, solver: SMO, weights: Any = None
) -> NuSolution:
    """Solve the nu-SVR; the solution is that of the SVR with the ``epsilon`` that is found.

    Shapes: ``K`` (n, n), ``y`` (n,) targets, ``weights`` (n,) weights of the rows.
    """
    y = as_real(y, "y")
    weights = np.ones(len(y)) if weights is None else as_real(weights, "weights")
    _check_nu(nu)
    family = _NuSVR(as_gram(as_matrix(K, len(y))), y, checked_costs(C * weights, len(y)), nu)
    return _solve(family, C, solver)


def _check_nu(nu: float) -> None:
    if not 0 < nu <= 1:
        raise ValueError(f"nu must satisfy 0 < nu <= 1; got {nu!r}.")
