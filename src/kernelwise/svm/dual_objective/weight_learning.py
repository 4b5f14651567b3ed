"""Learning the feature weights of a kernel: the problem, the descent and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ... import criteria
from ..._typing import Array, Codes
from ...criteria import Alignment, Criterion, LeaveOneOut, Objective, RadiusMargin
from ...kernels import Kernel
from ...outer import LBFGS, Domain, L1Sphere, LogPositive, Method, Minimum, Simplex, minimize
from ...qp import SMO, Solution
from ..base.feature_weights import spreads, varying_columns, weight_names
from ..base.progress import FitProgress


@dataclass(frozen=True)
class Recipe:
    """A criterion and the parameters that are learned by it."""

    criterion: Callable[..., Criterion]  # makes the criterion from C, solver and threads
    # whether the sum of the weights is learned too. The dual objective falls with it without end,
    # so it is kept there
    free_scale: bool = True
    learns_C: bool = True  # whether C is learned too
    # whether the logarithm is minimised, of a criterion that spans orders of magnitude
    log: bool = False
    # whether the machines are solved exactly on the way: a derivative of their solutions, unlike
    # that of their objectives, feels what is left undone
    exact: bool = False
    # "l1" or "l2": a penalty on the weights that takes the place of their fixed sum
    penalty: str | None = None

    @classmethod
    def of(cls, criterion: str | Criterion) -> Recipe:
        """Return the recipe of a name, or of a criterion that is used as it is."""
        if isinstance(criterion, str):
            return CRITERIA[criterion]

        def given(C: float, **settings: Any) -> Criterion:
            return criterion  # with its own C and solver

        return cls(given, not isinstance(criterion, criteria.DualObjective), learns_C=False)


def _on_first_use(name: str, *args: Any, **settings: Any) -> Criterion:
    """Make a criterion that the package imports when it is first asked for."""
    made: Criterion = getattr(criteria, name)(*args, **settings)
    return made


CRITERIA = {
    "dual": Recipe(partial(_on_first_use, "DualObjective"), free_scale=False, learns_C=False),
    "radius_margin": Recipe(RadiusMargin, log=True),
    "span": Recipe(LeaveOneOut, exact=True),
    "cv": Recipe(partial(_on_first_use, "CrossValidation"), learns_C=False, exact=True),
    "alignment": Recipe(Alignment, learns_C=False),
}


# The logarithms of gamma * weight, on columns of spread one, and of C stay between these.
_WEIGHT_BOUNDS = (-14.0, 4.0)
_COST_BOUNDS = (-5.0, 9.0)


@dataclass(frozen=True)
class WeightProblem:
    """A criterion as a function of feature weights, and of C where the criterion has one."""

    kernel: Any
    names: tuple[str, ...]  # the parameters of the kernel that are feature weights
    X: Any  # (n, d)
    Y: Codes | Array  # (n, n_machines)
    cost_factor: Array  # (n,), the factor of C of each row
    recipe: Recipe  # the criterion, and the parameters that are learned by it
    C: float  # the cost, or where its learning starts
    weights: Array  # (n_names * d,), where the learning starts
    varying: Any  # (d,), the columns whose weights are learned; the weights of the others are zero
    spread: Array  # (d,), the spread of each column, in the unit of its weight's term
    learns: bool  # whether there is anything to learn; else the weights stay

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        X: Any,
        Y: Codes,
        cost_factor: Array,
        *,
        recipe: Recipe,
        C: float = 1.0,
    ) -> WeightProblem:
        """Learn the weights of all columns that are not constant."""
        d, names, params = X.shape[1], weight_names(kernel, X), kernel.get_params()
        varying = varying_columns(X)
        learns = bool(varying.any())
        if not learns:
            varying = np.ones(d, dtype=bool)  # the weights stay as they are
        given = [np.ones(d) if params[name] is None else params[name] for name in names]
        if not any(own[varying].any() for own in given):
            raise ValueError(
                f"kernel={kernel!r} has weights of zero only; start from positive ones."
            )
        return cls(
            kernel=kernel,
            names=tuple(names),
            X=X,
            Y=Y,
            cost_factor=cost_factor,
            recipe=recipe,
            C=C,
            weights=np.concatenate([np.where(varying, own, 0) for own in given]),
            varying=varying,
            spread=spreads(kernel, X, cost_factor),
            learns=learns,
        )

    @cached_property
    def free(self) -> Any:
        """Which of all weights are learned."""
        return np.tile(self.varying, len(self.names))

    @property
    def n_parameters(self) -> int:
        """Number of parameters that are learned."""
        return int(self.free.sum()) + self.recipe.learns_C

    @property
    def theta(self) -> Array:
        """The parameters where the learning starts."""
        own = self.weights[self.free]
        return np.append(own, self.C) if self.recipe.learns_C else own

    def everywhere(self, theta: Array) -> Array:
        """Put the learned weights at their columns; constant ones have zero."""
        if self.free.all():
            return theta
        n_own = int(self.free.sum())
        full = np.zeros(len(self.free))
        full[self.free] = theta[:n_own]
        return np.append(full, theta[n_own:])

    def gradient(self, gradient: Array) -> Array:
        """Return the derivative by the learned parameters, from that by all weights."""
        if self.free.all():
            return gradient
        own = gradient[: len(self.free)][self.free]
        return np.append(own, gradient[len(self.free) :])

    def domain(self, *, sphere: bool = False) -> Domain:
        """Return the domain of the parameters; a fixed sum is kept on a simplex or a sphere."""
        if not self.recipe.free_scale:
            total = float(self.weights[self.free].sum())
            return L1Sphere(total) if sphere else Simplex(total)
        unit = float(getattr(self.kernel, "gamma", 1.0)) * np.tile(self.spread, len(self.names))
        unit = np.where(unit > 0, unit, 1.0)[self.free]
        lo, hi = (np.exp(bound) / unit for bound in _WEIGHT_BOUNDS)
        if self.recipe.learns_C:
            lo, hi = (
                np.append(own, np.exp(end)) for own, end in zip((lo, hi), _COST_BOUNDS, strict=True)
            )
        return LogPositive(lo, hi)

    def objective(self, solver: SMO, threads: int) -> Objective:
        """Return the criterion as a function of all weights, and of C."""
        recipe = self.recipe
        criterion = recipe.criterion(self.C, solver=solver, threads=threads)
        names = [*self.names, "C"] if recipe.learns_C else list(self.names)
        weights = self.cost_factor
        return criterion.of(self.kernel, names, self.X, self.Y, weights=weights, log=recipe.log)


def penalty_of(kind: str, weights: Array) -> tuple[float, Array]:
    """Return a penalty on weights and its gradient: sum v, or sum v^2 / 2."""
    if kind == "l1":
        return float(weights.sum()), np.ones_like(weights)
    return 0.5 * float(weights @ weights), weights


@dataclass(frozen=True)
class LearnedWeights:
    """Final state of a weight learning."""

    problem: WeightProblem
    kernel: Any  # the kernel with the learned weights
    criterion: Criterion  # the criterion with the learned C
    minimum: Minimum  # the parameters that were learned, and all evaluations
    # the machines at the learned weights, as far as the criterion solves them
    machines: tuple[Solution, ...]

    @property
    def C(self) -> float:
        """The cost."""
        return self.criterion.C

    @property
    def theta(self) -> Array:
        """The learned parameters, from which a later learning may start."""
        return self.minimum.theta

    @property
    def weights(self) -> Array:
        """One weight per feature, the mean over the parts of a composed kernel."""
        return self._weights_at(self.theta)

    def shrunk(self, share: float) -> LearnedWeights:
        """Return the weights drawn towards those where the learning began."""
        if share == 0:
            return self
        problem, theta = self.problem, self.theta.copy()
        own = problem.weights[problem.free]
        theta[: len(own)] = (1 - share) * theta[: len(own)] + share * own
        parts = problem.everywhere(theta)[: len(problem.free)].reshape(len(problem.names), -1)
        kernel = self.kernel.with_params(**dict(zip(problem.names, parts, strict=True)))
        return replace(self, kernel=kernel, minimum=replace(self.minimum, theta=theta))

    def solve(self, solver: SMO) -> list[Solution]:
        """Solve the machines themselves at the learned weights, from where the learning ended."""
        problem = self.problem
        return self.criterion.machines(
            self.kernel,
            problem.X,
            problem.Y,
            weights=problem.cost_factor,
            solver=solver,
            start=self.machines,
        )

    def _weights_at(self, theta: Array) -> Array:
        own = self.problem.everywhere(theta)[: len(self.problem.free)]
        return own.reshape(len(self.problem.names), -1).mean(axis=0)

    def history(self) -> dict[str, Array]:
        """Return a table with one row per evaluation."""
        steps = self.minimum.history
        learns_C = self.problem.recipe.learns_C
        costs = [step.theta[-1] if learns_C else self.C for step in steps]
        return {
            "value": np.array([step.value for step in steps]),
            "weights": np.array([self._weights_at(step.theta) for step in steps]),
            "C": np.array(costs, dtype=np.float64),
            "n_iter": np.array([step.n_iter for step in steps]),
            "seconds": np.array([step.seconds for step in steps]),
        }


def histories(learned: Sequence[LearnedWeights], name: str, values: Sequence[Any]) -> Any:
    """Join the histories of several learnings; a column of that name tells them apart."""
    tables = [each.history() for each in learned]
    columns = {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}
    counts = [len(table["value"]) for table in tables]
    return {name: np.repeat(np.array(values), counts)} | columns


def learn_weights(
    problem: WeightProblem,
    solver: SMO,
    *,
    start: Array | None = None,
    method: Method | None = None,
    domain: Domain | None = None,
    max_evaluations: int,
    tol: float = 0.0,
    threads: int = 1,
    progress: FitProgress | None = None,
) -> LearnedWeights:
    """Minimise a criterion over the feature weights of a kernel.

    ``solver``: the solver of the machines on the way. ``start`` (n_parameters,): where to start;
    None is the start of the problem. ``method``: the descent; None is L-BFGS. ``domain``: the
    domain of the parameters; None is that of the problem. ``max_evaluations``: most evaluations of
    the criterion. ``tol``: the relative improvement of a step that ends the learning. ``threads``:
    threads over the machines. ``progress``: told of each evaluation; it may end the learning.
    Returns ``learned``, the kernel and C of the lowest value.
    """
    objective = problem.objective(solver, threads)
    minimum = minimize(
        _Reported(objective, problem, progress),
        problem.theta if start is None else start,
        domain=problem.domain() if domain is None else domain,
        method=LBFGS() if method is None else method,
        max_evaluations=max_evaluations if problem.learns else 1,
        tol=tol,
        callback=None if progress is None else progress.stops,
    )
    kernel, criterion = objective.at(problem.everywhere(minimum.theta))
    machines = () if objective.best is None else objective.best.machines
    return LearnedWeights(problem, kernel, criterion, minimum, machines)


class _Reported:
    """The objective of the learned parameters, each evaluation a task that is reported."""

    def __init__(
        self, objective: Objective, problem: WeightProblem, progress: FitProgress | None
    ) -> None:
        self._objective, self._problem, self._progress = objective, problem, progress

    @property
    def n_iter(self) -> int:
        """Steps of the inner solver in the last evaluation."""
        return self._objective.n_iter

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Evaluate value and gradient."""
        progress = self._progress
        with nullcontext() if progress is None else progress.task("step"):
            value, gradient = self._objective(self._problem.everywhere(theta))
            if self._problem.recipe.penalty is not None:
                added = penalty_of(self._problem.recipe.penalty, theta)
                value, gradient = value + added[0], gradient + self._problem.everywhere(added[1])
        if progress is not None:
            progress.line(f"step {self._objective.n_solves}: {value:.6g}")
        return value, self._problem.gradient(gradient)
