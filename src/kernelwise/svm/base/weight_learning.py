"""Learning the weights of a kernel: where it starts, what is watched, what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._typing import Array, Codes
from ...criteria import Criterion, Objective
from ...kernels import Kernel
from ...outer import Domain, L1Sphere, LogPositive, Minimum, Simplex
from ...qp import SMO, Solution
from .feature_weights import spreads, varying_columns, weight_names
from .progress import FitProgress
from .recipes import Recipe


@dataclass(frozen=True)
class Start:
    """What the learning starts from, on the columns that are not constant."""

    kernel: Kernel
    names: list[str]
    recipe: Recipe
    varying: Any
    spread: Array
    weights: Array
    C: float
    last: list[Array] | None
    learns: bool

    @classmethod
    def of(cls, estimator: Any, kernel: Kernel, X: Any, weights: Array, last: Any = None) -> Start:
        """Find what an estimator with a resolved kernel starts from on these rows."""
        d = X.shape[1]
        names, params = weight_names(kernel, X), kernel.get_params()
        varying = varying_columns(X)
        learns = bool(varying.any())
        if not learns:
            varying = np.ones(d, dtype=bool)  # the weights stay what they are
        given = [np.ones(d) if params[name] is None else params[name] for name in names]
        recipe = Recipe.of(estimator.criterion)
        if not any(own[varying].any() for own in given):
            raise ValueError(
                f"kernel={kernel!r} has weights of zero only; start from positive ones."
            )
        return cls(
            kernel=kernel,
            names=names,
            recipe=recipe,
            varying=varying,
            spread=spreads(kernel, X, weights),
            weights=np.concatenate([np.where(varying, w, 0) for w in given]),
            C=estimator.C,
            last=_last_parameters(last, names, varying, recipe),
            learns=learns,
        )

    @cached_property
    def _free(self) -> Any:
        """Tell which of all weights are learned."""
        return np.tile(self.varying, len(self.names))

    def theta(self, group: int) -> Array:
        """Return the first parameters of a group of machines."""
        if self.last is not None:
            return self.last[min(group, len(self.last) - 1)]
        own = self.weights[self._free]
        return np.append(own, self.C) if self.recipe.learns_C else own

    @cached_property
    def _all_free(self) -> bool:
        return bool(self._free.all())

    def everywhere(self, theta: Array) -> Array:
        """Put the learned weights at their columns; constant ones have zero."""
        if self._all_free:
            return theta
        n_free = int(self._free.sum())
        full = np.zeros(len(self._free))
        full[self._free] = theta[:n_free]
        return np.append(full, theta[n_free:])

    def gradient(self, gradient: Array) -> Array:
        """Return the derivative by what is learned, from the derivative by all weights."""
        if self._all_free:
            return gradient
        return np.append(gradient[: len(self._free)][self._free], gradient[len(self._free) :])

    def domain(self, optimizer: str) -> Domain:
        """Return where the parameters live."""
        if not self.recipe.free_scale:
            total = float(self.weights[self._free].sum())
            return L1Sphere(total) if optimizer == "paper" else Simplex(total)
        # On columns of unit spread the products gamma * weight stay between exp(-14) and exp(4).
        unit = float(getattr(self.kernel, "gamma", 1.0)) * np.tile(self.spread, len(self.names))
        unit = np.where(unit > 0, unit, 1.0)[self._free]
        lo, hi = np.exp(-14) / unit, np.exp(4) / unit
        if self.recipe.learns_C:
            lo, hi = np.append(lo, np.exp(-5)), np.append(hi, np.exp(9))
        return LogPositive(lo, hi)

    def mean_weights(self, theta: Array) -> Array:
        """Return one weight a feature, the mean over the parts of a composed kernel."""
        return theta[: len(self._free)].reshape(len(self.names), -1).mean(axis=0)


def _last_parameters(
    last: Any, names: list[str], varying: Any, recipe: Recipe
) -> list[Array] | None:
    """Return where the last fit ended, if it was a fit of the same parameters."""
    columns, thetas = (None, []) if last is None else last
    if columns is None or not np.array_equal(columns, varying):
        return None
    size = len(names) * int(varying.sum()) + recipe.learns_C
    return thetas if all(len(theta) == size for theta in thetas) else None


class Watched:
    """An objective on the columns that vary, each evaluation of which is a reported task."""

    def __init__(self, progress: FitProgress, objective: Objective, start: Start) -> None:
        self._progress, self._objective, self._start = progress, objective, start

    @property
    def n_iter(self) -> int:
        """Steps of the inner solver in the last evaluation."""
        return self._objective.n_iter

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Evaluate value and gradient."""
        number = self._objective.n_solves + 1
        with self._progress.task("step"):
            value, gradient = self._objective(self._start.everywhere(theta))
        self._progress.line(f"step {number}: {value:.6g}")
        return value, self._start.gradient(gradient)


@dataclass(frozen=True)
class Learned:
    """The outcome for machines that share their weights."""

    objective: Objective
    theta: Array
    minimum: Minimum
    Y: Codes

    @property
    def kernel(self) -> Kernel:
        """The kernel with the learned weights."""
        return self.objective.at(self.theta)[0]

    @property
    def criterion(self) -> Criterion:
        """The criterion with the learned C."""
        return self.objective.at(self.theta)[1]

    def machines(self, solver: SMO, X: Any, weights: Array) -> list[Solution]:
        """Solve the machines themselves at the learned weights, from where the learning ended."""
        best = self.objective.best
        starts = best.machines if best is not None else ()
        return self.criterion.machines(
            self.kernel, X, self.Y, weights=weights, solver=solver, start=starts
        )


def history(learned: list[Learned], start: Start) -> dict[str, Array]:
    """Return a table with one row an evaluation."""
    steps = [(g, step) for g, each in enumerate(learned) for step in each.minimum.history]
    thetas = [start.everywhere(step.theta) for _, step in steps]
    C = learned[0].criterion.C
    costs = [theta[-1] if start.recipe.learns_C else C for theta in thetas]
    return {
        "value": np.array([step.value for _, step in steps]),
        "weights": np.array([start.mean_weights(theta) for theta in thetas]),
        "C": np.array(costs, dtype=np.float64),
        "n_iter": np.array([step.n_iter for _, step in steps]),
        "seconds": np.array([step.seconds for _, step in steps]),
        "machine": np.array([group for group, _ in steps]),
    }
