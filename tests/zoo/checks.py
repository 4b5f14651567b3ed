"""What must hold for every problem of the zoo, checked without the library's own code."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning

import kernelwise

from .family import optimality
from .problems import FAMILY, Problem
from .truth import kernel_matrix, objective, pairs, resolved, violation

_SLOW, _PEER_FAST = 60.0, 6.0  # CPU seconds of a fit, and of scikit-learn's that makes it a failure
_PEER_STEPS = 10**6  # steps per machine after which scikit-learn's solver gives up
_MAX_PEER_ROWS = 300  # rows up to which scikit-learn solves the problem, too
_SUBSET = 5  # one problem in so many is checked for invariances
REFUSALS = ("scale", "overflow", "finite", "too large", "too small", "StandardScaler", "lower C")


@dataclass(frozen=True)
class Outcome:
    """What came of a problem.

    Parameters
    ----------
    kind : {"held", "refused", "unconverged", "broken"}
        Whether all checks held; whether a clear error refused the problem; whether a warning said
        that the solver ended early.
    failures : tuple of str
        The checks that did not hold.
    worst : float
        The largest true violation in units of the tolerance, of a fit that claims to be converged.
    seconds : float
        CPU time of the fit.
    """

    kind: str
    failures: tuple[str, ...] = ()
    worst: float = 0.0
    seconds: float = 0.0


def check(problem: Problem) -> Outcome:
    """Fit the estimator of a problem, and check what must hold."""
    begin = time.process_time()
    try:
        model, caught = fitted(problem)
    except ValueError as error:
        if any(word in str(error) for word in REFUSALS):
            return Outcome("refused", seconds=time.process_time() - begin)
        return Outcome("broken", (f"unclear refusal: {error}",))
    except Exception as error:
        return Outcome("broken", (f"{type(error).__name__}: {error}",))
    seconds = time.process_time() - begin
    failures = [f"undocumented warning: {each}" for each in caught if _undocumented(each)]
    worst = 0.0
    if problem.estimator in ("SVC", *FAMILY):
        check_one = _optimality if problem.estimator == "SVC" else optimality
        worst, found = check_one(problem, model)
        failures += found
    if seconds > _SLOW and _peer_seconds(problem) < _PEER_FAST:
        failures.append(f"the fit took {seconds:.0f} s")
    if problem.number % _SUBSET == 0:
        failures += _invariances(problem, model)
    kind = "unconverged" if getattr(model, "fit_status_", 0) else "held"
    return Outcome("broken" if failures else kind, tuple(failures), worst, seconds)


def fitted(problem: Problem) -> tuple[Any, list[warnings.WarningMessage]]:
    """Return the fitted classifier and the warnings of the fit and of a prediction."""
    model = getattr(kernelwise, problem.estimator)(**problem.params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
        decisions = decide(model)(problem.X)
    if not np.isfinite(decisions).all():
        raise ArithmeticError("decision values are not finite")
    return model, caught


def decide(model: Any) -> Callable[[Any], Any]:
    """Return the function of a model whose values are compared."""
    return getattr(model, "decision_function", model.predict)


def _undocumented(caught: warnings.WarningMessage) -> bool:
    return not issubclass(caught.category, ConvergenceWarning)


def _optimality(problem: Problem, model: Any) -> tuple[float, list[str]]:
    """Check the claim of convergence, and the objective against scikit-learn's solver."""
    with np.errstate(all="ignore"):
        K = kernel_matrix(problem.X, resolved(problem))
    weights = np.ones(len(problem.y)) if problem.sample_weight is None else problem.sample_weight
    if not np.isfinite(K).all():
        return 0.0, ["the kernel overflows in float64, and the fit did not say so"]
    tol, worst, failures = model.tol, 0.0, []
    for rows, codes, beta in pairs(model, problem.y):
        counted = weights[rows] > 0
        rows, codes, beta = rows[counted], codes[counted], beta[counted]
        bound = problem.params["C"] * weights[rows]
        found, rounding = violation(K[np.ix_(rows, rows)], codes, beta, bound)
        if np.any(np.abs(beta) > bound * (1 + 1e-9)) or np.any(beta * codes < 0):
            failures.append("a coefficient leaves its bounds")
        if model.fit_status_ == 0:
            worst = max(worst, (found - rounding) / tol)
    if worst > 1.001:
        failures.append(f"claims to be converged with a violation of {worst:.3g} times tol")
    if model.fit_status_ == 0 and problem.params["kernel"] != "sigmoid":
        failures += _compared(problem, model, K)
    return worst, failures


def _compared(problem: Problem, model: Any, K: Any) -> list[str]:
    """Compare the objective with that of scikit-learn's solver on the same matrix."""
    if len(problem.y) > _MAX_PEER_ROWS or problem.params["C"] > 1e4 or problem.number % _SUBSET:
        return []
    peer = sklearn.svm.SVC(kernel="precomputed", C=problem.params["C"], tol=1e-5, max_iter=10**6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            peer.fit(K, problem.y, sample_weight=problem.sample_weight)
        except ValueError:  # coefficients that overflow: nothing to compare with
            return []
    ours, theirs = (
        sum(objective(K[np.ix_(r, r)], codes, beta) for r, codes, beta in pairs(each, problem.y))
        for each in (model, peer)
    )
    # A violation of tol may cost tol times the sum of all coefficients.
    size = sum(np.abs(beta).sum() for _, _, beta in pairs(model, problem.y))
    if ours - theirs > model.tol * size + 1e-9 * abs(theirs):
        return [f"objective {ours:.9g}, scikit-learn has {theirs:.9g}"]
    return []


def _peer_seconds(problem: Problem) -> float:
    """Return the CPU time of scikit-learn's solver, which has no kernel of absolute differences."""
    params = {"kernel": "rbf", "max_iter": _PEER_STEPS} | problem.params
    if params["kernel"] == "laplacian":
        params["kernel"] = "rbf"
    family = problem.estimator if problem.estimator in FAMILY else "SVC"
    peer = getattr(sklearn.svm, family)(**params)
    begin = time.process_time()
    peer.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
    return time.process_time() - begin


def _invariances(problem: Problem, model: Any) -> list[str]:
    """Check that nothing but the data decides: the same fit again, other names, another order."""
    decisions = decide(model)(problem.X)
    failures = []
    if not np.array_equal(decide(fitted(problem)[0])(problem.X), decisions):
        failures.append("the same fit again decides otherwise")
    if problem.estimator in FAMILY:
        return failures
    names = np.array([f"class {label:03d}" for label in range(100)])
    renamed = fitted(replace(problem, y=names[problem.y]))[0]
    if not np.array_equal(renamed.decision_function(problem.X), decisions):
        failures.append("other names of the classes change decisions")
    if problem.estimator == "SVC" and model.fit_status_ == 0 and _is_unique(problem):
        for what, change in CHANGES.items():
            changed = change(problem)
            rows = changed.X if what == "other units" else problem.X
            other = fitted(changed)[0].decision_function(rows)
            if other.shape == decisions.shape and _differ(problem, other, decisions):
                failures.append(
                    f"{what} changes decisions by {np.abs(other - decisions).max():.3g}"
                )
    return failures


def _is_unique(problem: Problem) -> bool:
    """Return whether decisions may be compared: of two classes, with a positive definite kernel."""
    return len(np.unique(problem.y)) == 2 and problem.params["kernel"] in ("rbf", "laplacian")


def _differ(problem: Problem, first: Any, second: Any) -> bool:
    """Return whether decisions differ by more than two solutions within the tolerance may.

    Two solutions whose gaps are at most tol sum|b| are within sqrt of that of each other in the
    norm of the kernel, whose values are at most one; the intercept adds the tolerance itself.
    """
    size = problem.params["C"] * len(problem.y)
    return bool(np.abs(first - second).max() > 2 * np.sqrt(2e-3 * size) + 2e-3)


def _shuffled(problem: Problem) -> Problem:
    order = np.random.default_rng(problem.number).permutation(len(problem.y))
    weights = None if problem.sample_weight is None else problem.sample_weight[order]
    return replace(problem, X=problem.X[order], y=problem.y[order], sample_weight=weights)


def _doubled(problem: Problem) -> Problem:
    """Return the problem with half of the cost on each of two copies of every row."""
    params = problem.params | {"C": problem.params["C"] / 2}
    weights = None if problem.sample_weight is None else np.tile(problem.sample_weight, 2)
    X, y = np.tile(problem.X, (2, 1)), np.tile(problem.y, 2)
    return replace(problem, X=X, y=y, sample_weight=weights, params=params)


def _split(problem: Problem) -> Problem:
    """Return the problem with half of the rows given twice, their weights split between both."""
    n, random = len(problem.y), np.random.default_rng(problem.number)
    twice, share = np.flatnonzero(random.random(n) < 0.5), random.uniform(0.1, 0.9, size=n)
    weights = np.ones(n) if problem.sample_weight is None else problem.sample_weight
    X, y = np.vstack([problem.X, problem.X[twice]]), np.append(problem.y, problem.y[twice])
    first, second = weights.copy(), (weights * (1 - share))[twice]
    first[twice] *= share[twice]
    return replace(problem, X=X, y=y, sample_weight=np.append(first, second))


def _in_other_units(problem: Problem) -> Problem:
    """Return the problem with all columns in another unit, and a gamma that goes with it."""
    factor = 2.0**-10 if np.abs(problem.X).max() > 1 else 2.0**10
    params = dict(problem.params)
    if params["gamma"] == "auto":
        params["gamma"] = 1 / problem.X.shape[1]
    if params["gamma"] != "scale":
        params["gamma"] /= factor if params["kernel"] == "laplacian" else factor**2
    return replace(problem, X=problem.X * factor, params=params)


CHANGES: dict[str, Callable[[Problem], Problem]] = {
    "another order of the rows": _shuffled,
    "copies in place of cost": _doubled,
    "copies in place of weight": _split,
    "other units": _in_other_units,
}
