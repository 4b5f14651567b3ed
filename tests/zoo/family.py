"""What must hold for SVR, NuSVR, OneClassSVM and NuSVC, by formulas of our own in float64.

A machine has coefficients lo <= b_i <= hi and slopes of its objective where b_i rises and falls:

    f_i = (K b)_i - p_i,   up_i = f_i + e sign(b_i) (e at zero),   down_i = ... (-e at zero)

with p the targets, or zero. It is optimal if no `down` of what may fall exceeds an `up` of what may
rise. With a nu, these are compared among positive and among negative coefficients, as both sums are
given: a row rises among the positive from zero on, and falls among the negative from zero on.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import sklearn.svm

from kernelwise._typing import Array

from .problems import Problem
from .truth import kernel_matrix, resolved

_EPS = float(np.finfo(np.float64).eps)
_MAX_PEER_ROWS, _MAX_PEER_COST = 300, 1e4  # up to which scikit-learn solves the problem, too


def optimality(problem: Problem, model: Any) -> tuple[float, list[str]]:
    """Check the bounds, the sum and the claim of convergence; return the violation over tol."""
    with np.errstate(all="ignore"):
        K = kernel_matrix(problem.X, resolved(problem))
    if not np.isfinite(K).all():
        return 0.0, ["the kernel overflows in float64, and the fit did not say so"]
    n, ended_early = len(problem.y), bool(model.fit_status_)
    weights = np.ones(n) if problem.sample_weight is None else problem.sample_weight
    beta, failures = _coefficients(model, n), []
    p, lo, hi = _box(problem, model, weights, beta)
    if ended_early and problem.estimator == "NuSVC":  # then the sum does not tell the cost
        return 0.0, []
    if np.any(beta < lo - 1e-9 * (hi - lo)) or np.any(beta > hi + 1e-9 * (hi - lo)):
        failures.append("a coefficient leaves its bounds")
    size, total = float(np.abs(beta).sum()), float(beta.sum())
    wanted = problem.params["nu"] * weights.sum() if problem.estimator == "OneClassSVM" else 0.0
    if abs(total - wanted) > 1e-12 + 1e-9 * max(size, wanted):
        failures.append(f"the coefficients sum to {total:.9g} instead of {wanted:.9g}")
    if ended_early:
        return 0.0, failures
    found, rounding = _violation(problem, K, p, lo, hi, beta)
    worst = (found - rounding) / model.tol
    if worst > 1.001:
        failures.append(f"claims to be converged with a violation of {worst:.3g} times tol")
    return worst, failures + _compared(problem, model, K, p, weights, beta)


def _coefficients(model: Any, n: int) -> Array:
    beta = np.zeros(n)
    beta[model.support_] = np.ravel(model.dual_coef_)
    return beta


def _box(problem: Problem, model: Any, weights: Array, beta: Array) -> tuple[Array, Array, Array]:
    """Return the linear term and the bounds; the cost of a NuSVC is in its coefficients."""
    zeros = np.zeros(len(beta))
    if problem.estimator == "OneClassSVM":
        return zeros, zeros, weights
    if problem.estimator == "NuSVC":
        codes = np.where(problem.y == model.classes_[1], 1.0, -1.0)
        cost = float(np.abs(beta).sum()) / (problem.params["nu"] * float(weights.sum()))
        bound = codes * cost * weights
        return codes, np.minimum(0, bound), np.maximum(0, bound)
    bound = problem.params["C"] * weights
    return problem.y, -bound, bound


def _violation(
    problem: Problem, K: Array, p: Array, lo: Array, hi: Array, beta: Array
) -> tuple[float, float]:
    """Return the violation, and how much of it may be rounding of K and of p in float64."""
    f = (K.astype(np.longdouble) @ beta - p).astype(np.float64)
    rounding = 4 * _EPS * float((np.abs(K) @ np.abs(beta) + np.abs(p)).max(initial=0.0))
    inside = hi - lo > 0
    # Coefficients that a division rounded off their bound or off zero are there.
    near = 1e-12 * np.abs(beta).max(initial=0.0)
    rises, falls = inside & (beta < hi - near), inside & (beta > lo + near)
    above, below = beta > near, beta < -near
    if problem.estimator == "NuSVR":
        size, full = np.abs(beta).sum(), problem.params["nu"] * hi.sum()
        if size >= full * (1 - 1e-9):
            first = _excess(f, rises & ~below, falls & above)
            return max(first, _excess(f, rises & below, falls & ~above)), rounding
    epsilon = problem.params.get("epsilon", 0.0)
    up, down = f + np.where(below, -epsilon, epsilon), f + np.where(above, epsilon, -epsilon)
    if not rises.any() or not falls.any():
        return 0.0, rounding
    return max(0.0, float(down[falls].max() - up[rises].min())), rounding


def _excess(f: Array, rises: Array, falls: Array) -> float:
    return max(0.0, float(f[falls].max(initial=-np.inf) - f[rises].min(initial=np.inf)))


def _compared(
    problem: Problem, model: Any, K: Array, p: Array, weights: Array, beta: Array
) -> list[str]:
    """Compare the objective with that of scikit-learn's solver on the same matrix."""
    params = {key: value for key, value in problem.params.items() if key in ("C", "epsilon", "nu")}
    definite = problem.params["kernel"] != "sigmoid"
    cheap = len(beta) <= _MAX_PEER_ROWS and params.get("C", 1.0) <= _MAX_PEER_COST
    if not (definite and cheap) or problem.estimator == "NuSVC" or problem.number % 3:
        return []
    peer = getattr(sklearn.svm, problem.estimator)(
        kernel="precomputed", tol=1e-2 * model.tol, max_iter=10**6, **params
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kept = np.flatnonzero(weights)  # LIBSVM confuses rows of K after one without weight
            peer.fit(K[np.ix_(kept, kept)], problem.y[kept], sample_weight=weights[kept])
        except ValueError:  # coefficients that overflow, or an empty model: nothing to compare with
            return []
    epsilon = params.get("epsilon", 0.0)
    other = np.zeros(len(beta))
    other[kept] = _coefficients(peer, len(kept))
    ours, theirs = (
        float(0.5 * b @ (K @ b) - p @ b + epsilon * np.abs(b).sum()) for b in (beta, other)
    )
    size = float(np.abs(beta).sum() + np.abs(other).sum())
    if ours - theirs > model.tol * size + 1e-9 * abs(theirs):
        return [f"objective {ours:.9g}, scikit-learn has {theirs:.9g}"]
    return []
