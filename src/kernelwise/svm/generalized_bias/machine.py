"""One machine with a generalised bias: its problem, the features of its rows, and its solution.

    min 1/2 b'Kb - y'b   s.t.   min(0, y C) <= b <= max(0, y C),   F'b = 0

The multipliers of F'b = 0 are the coefficients of the features. With a penalty rho on them F'b is
rho times the coefficients, and the machine is that of the kernel matrix K + F F'/rho.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._typing import Array, Index
from ...kernels import FunctionKernel, Kernel, Precomputed
from ...qp import SMO, DualQP, SeveralEqualities, Solution, StoredGram, Terms
from ...qp.equalities import HUGE
from ...qp.reduced import Basis
from ..base.grams import Grams
from .construction import solve_constructed

_ROUNDING = 1e-8  # rounding of an eigenvalue, relative to the largest


@dataclass(frozen=True)
class BiasMachine:
    """A solved machine."""

    solution: Solution  # the solution of its problem
    coef: Array  # (n_bias_features,), the coefficients of the features
    intercept: float  # the coefficient of the constant
    kernel_share: float  # the share of the kernel in the variance of the decision values
    reach: float  # the largest decision value of the features alone
    n_rows: int  # the number of its rows, and of its independent features, the constant included
    rank: int

    @classmethod
    def solve(
        cls,
        qp: DualQP,
        F: Array,
        weights: Array,
        *,
        constant: bool,
        penalty: float,
        solvers: tuple[SMO, SeveralEqualities],
        start: Array | None,
        constructed: bool = False,
    ) -> BiasMachine:
        """Solve a C-SVC with these features in its bias.

        ``F`` (n, l): the features of its rows. ``weights`` (n,): the weights of its rows, for the
        variances. ``constant``: whether the constant is a feature too, one that is never penalised.
        ``penalty``: the penalty rho, or zero. ``solvers``: for the constant alone, and for all
        else. ``start`` (n,): where to start. ``constructed``: whether the machine is built as in
        the paper, from scratch.
        """
        n, n_features = F.shape
        penalised = penalty > 0 and n_features > 0
        # The constant comes first: of features that depend on it, it is the one that is kept.
        phi = np.hstack([np.ones((n, int(constant))), F])
        if constructed:
            solution = solve_constructed(qp, phi, solvers[1])
        elif n_features == 0 and constant:
            solution = solvers[0].solve(qp, start=start)
        elif penalised:
            larger, start = _with_penalty(qp, phi, F, penalty, start)
            solution = _first(n, solvers[1].solve(larger, start=start))
        else:
            # `matrices` has checked that a kernel given by the user is positive semi-definite.
            gram = qp.gram if qp.gram.is_psd else StoredGram(qp.gram.dense(np.float64))
            free = DualQP(gram, Terms(qp.p, qp.lo, qp.hi, phi.T))
            solution = solvers[1].solve(free, start=start)
        coef = solution.nu[int(constant) :]
        intercept = float(solution.nu[0]) if constant else 0.0
        by_features = F @ coef
        by_kernel = solution.gradient + qp.p
        return cls(
            solution=solution,
            coef=coef,
            intercept=intercept,
            kernel_share=_share(by_kernel, by_features, weights),
            reach=float(np.abs(by_features + intercept).max()) if n_features else 0.0,
            n_rows=n,
            rank=int(constant) if penalised else _rank(phi),
        )


def _with_penalty(
    qp: DualQP, phi: Array, F: Array, penalty: float, start: Array | None
) -> tuple[DualQP, Array | None]:
    """Return the problem with penalised features, and where it starts.

    1/2 |z|^2 joins the objective for new variables z with F'b = sqrt(rho) z. The matrix
    K + F F'/rho is equivalent, but where rho is small SMO stalls along its large directions.
    """
    n, n_features = F.shape
    root = np.sqrt(penalty)
    K = np.eye(n + n_features)
    K[:n, :n] = qp.gram.dense(np.float64)
    A = np.zeros((phi.shape[1], n + n_features))
    A[:, :n] = phi.T
    A[-n_features:, n:] = -root * np.eye(n_features)
    # No more than this at the optimum, where 1/2 |z|^2 <= y'b.
    wide = np.full(n_features, np.sqrt(2 * np.maximum(qp.hi, -qp.lo).sum()))
    terms = Terms(
        p=np.append(qp.p, np.zeros(n_features)),
        lo=np.append(qp.lo, -wide),
        hi=np.append(qp.hi, wide),
        A=A,
    )
    return DualQP(K, terms), None if start is None else np.append(start, F.T @ start / root)


def _first(n: int, solution: Solution) -> Solution:
    """Return the part of a solution that belongs to the rows."""
    return replace(solution, beta=solution.beta[:n], gradient=solution.gradient[:n])


def _share(part: Array, other: Array, weights: Array) -> float:
    """Return the share of a part in the sum of both variances; zero where neither varies."""
    first, second = (_variance(values, weights) for values in (part, other))
    return first / (first + second) if first + second > 0 else 0.0


def _variance(values: Array, weights: Array) -> float:
    share = weights / weights.sum()
    return float(share @ (values - share @ values) ** 2)


def _rank(free: Array) -> int:
    """Return the rank; its bound where that is too small to matter."""
    n, most = free.shape
    return len(Basis.of(free).kept) if _is_many(most, n) else most


def _is_many(rank: int, n_rows: int) -> bool:
    """Return whether features can separate most labellings of the rows (Cover 1965)."""
    return rank > 1 and 2 * rank >= n_rows


def matrices(kernel: Kernel, X: Any, members: list[Index], memory: float, threads: int) -> Grams:
    """Return the kernel matrices of machines that store them, shared where that fits.

    A kernel that the user gave is refused where its matrix is not positive semi-definite.
    """
    given, most = isinstance(kernel, FunctionKernel | Precomputed), max(map(len, members))
    if not given and 8.0 * most**2 > memory:
        raise ValueError(
            f"A machine of {most} rows stores a kernel matrix of {8e-6 * most**2:.0f} MB, and "
            f"cache_size allows {1e-6 * memory:.0f}; raise cache_size, or fit to fewer rows."
        )
    n_machines = len(members)
    grams = Grams(
        X,
        tol=0.0,
        memory=memory,
        threads=threads,
        n_machines=n_machines,
        share=n_machines > 1,
        precise=True,
    )
    if given:
        _refuse_indefinite(grams.stored(kernel))
    return grams


def _refuse_indefinite(K: Array) -> None:
    if not np.isfinite(K).all():
        raise ValueError("The kernel gives NaN or infinite values.")
    sizes = np.linalg.eigvalsh(K)
    if sizes[0] < -_ROUNDING * max(sizes[-1], -sizes[0]):
        raise ValueError(
            "The kernel is not positive semi-definite: its matrix of the training rows has the "
            f"eigenvalue {sizes[0]:.3g} beside {sizes[-1]:.3g}. Features in the bias need such a "
            "kernel, and so does a machine without bias; use another kernel."
        )


def trouble(machines: Sequence[BiasMachine], tol: float) -> list[str]:
    """Return one text per kind of failure, with the remedy."""
    texts, count = [], f"of {len(machines)} machine(s)"
    for status in sorted({each.solution.status for each in machines} - {"converged"}):
        found = [each.solution for each in machines if each.solution.status == status]
        worst = max(solution.violation for solution in found)
        texts.append(
            f"{len(found)} {count} did not converge ({status}): {_REASONS[status]} The largest KKT "
            f"violation is {worst:.3g}; the tolerance is tol={tol:g}."
        )
    return texts


def doubts(machines: Sequence[BiasMachine]) -> list[str]:
    """Return warnings about machines that converged but may mislead their user."""
    texts, count = [], f"of {len(machines)} machine(s)"
    far = [each.reach for each in machines if each.reach > HUGE]
    if far:
        texts.append(
            f"The features of the bias alone decide with values up to {max(far):.3g} in "
            f"{len(far)} {count}: they nearly separate the rows, and their coefficients mean "
            "little. Give fewer features, or a bias_penalty, for instance 1, or a larger one."
        )
    many = [each for each in machines if _is_many(each.rank, each.n_rows)]
    if many:
        worst = max(many, key=lambda each: each.rank / each.n_rows)
        texts.append(
            f"The bias has {worst.rank} independent features for {worst.n_rows} rows in "
            f"{len(many)} {count}: with that many features almost any labelling can be "
            "separated, and the kernel has no influence (see kernel_share_). Give fewer features, "
            "more rows, or a bias_penalty, for instance 1."
        )
    return texts


_REASONS = {
    "degenerate": (
        "the features of the bias nearly separate the rows, so that their coefficients have no "
        "bound. Give fewer features, or a bias_penalty, for instance 1, which bounds them."
    ),
    "stalled": (
        "rounding stops the solver. Scale the columns of X and the features of the bias, lower C, "
        "or give a bias_penalty, for instance 1, or a larger one."
    ),
    "max_iter": "the solver is out of steps. Scale the columns of X, or lower C.",
}
