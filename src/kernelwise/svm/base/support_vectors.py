"""What the support vector machines with a given kernel share, whatever they are fitted to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..._memory import allowance
from ..._parameters import Interval, Options
from ..._typing import Array, Flags, Gram
from ...kernels import Linear
from ...qp import SMO, DualQP, Solution, Terms
from ...qp.gram import as_gram
from .estimator import certificate_of, convergence_warnings
from .grams import Grams
from .kernel_spec import KERNEL_NAMES
from .left_out import LeftOutDecisions, solved_without
from .predictor import Predictor, predictor_of
from .solve import solve_each
from .task import FitTask, Fitted

_POLISH = 1e5  # kernel values spent on exactness, over all machines
_LEAST_POLISH = 2e3  # kernel values of a machine below which its share is not worth the overhead

# The parameters of all of them, as they are checked.
PARAMETERS: dict[str, Any] = {
    "kernel": [Options(KERNEL_NAMES), callable],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "gamma": [
        Options({"scale", "auto"}),
        Interval(Real, 0, None, closed="left"),
        "array-like",
    ],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "shrinking": ["boolean"],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "cache_size": [Interval(Real, 0, None, closed="neither"), None],
    "verbose": ["verbose", Options({"auto"})],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "feature_weights": ["array-like", None],
    "n_jobs": [Integral, None],
    "callback": [callable, None],
}

# Those of the classifiers among them.
CLASSES: dict[str, Any] = {
    "probability": ["boolean", Options({"deprecated"}, is_hidden=True)],
    "class_weight": [Options({"balanced"}), dict, None],
    "calibration": [Options({"loo", "halves"}), None],
    "decision_function_shape": [Options({"ovo", "ovr"})],
    "break_ties": ["boolean"],
    "random_state": ["random_state"],
}

Starts: TypeAlias = Sequence[Array | None] | None
# Solves all machines of a task, from these starts.
Solve: TypeAlias = Callable[[SMO, Starts], Sequence[Solution]]
# Returns the terms of a machine, from its number and the weights of the rows.
TermsOf: TypeAlias = Callable[[int, Array], Terms]


class SupportVectorMixin:
    """Adds the fit by a solver, and `coef_`, to an estimator with the `PARAMETERS`."""

    tol: float
    max_iter: int
    cache_size: float | None
    probability: bool | str

    def _solved(
        self, task: FitTask, solve: Solve, left_out: Callable[..., LeftOutDecisions]
    ) -> Fitted:
        """Solve the machines of a task, warm where the last fit is known.

        ``left_out``: called with the task, the predictor and the solutions.
        """
        warm = task.warm() if task.warm_start else None
        solver = SMO(
            tol=self.tol,
            max_iter=self.max_iter,
            memory=allowance(self.cache_size, min(task.threads, task.n_machines)),
            budget=_polish_budget(task.n_machines),
        )
        task.progress.begin(task.n_machines)
        solutions = solve(solver, None if warm is None else warm.starts(task.members))
        predictor = Predictor.of(task, solutions)
        return Fitted(
            predictor,
            solutions,
            last=None if warm is None else warm.ended(solutions, task.members),
            left_out=partial(left_out, task, predictor, solutions),
        )

    def _solved_on_all_rows(self, task: FitTask, terms: TermsOf, largest: float) -> Fitted:
        """Solve machines that all have all rows, by their terms.

        ``largest``: the largest coefficient that the terms allow.
        """

        def solve(solver: SMO, start: Starts) -> Sequence[Solution]:
            gram = shared_gram(task, solver, largest, store=task.n_machines > 1)

            def solve_one(j: int) -> Solution:
                qp, own = DualQP(gram, terms(j, task.sample_weight)), listened(solver, task, j)
                return own.solve(qp, start=None if start is None else start[j])

            return solve_each(solve_one, task.n_machines, task.progress, task.threads)

        return self._solved(task, solve, partial(without_rows, terms, largest, tol=self.tol))

    def _with_probability_warning(self, fitted: Fitted) -> Fitted:
        """Add the warning of a deprecated parameter of the classifiers to the usual ones."""
        if self.probability == "deprecated":
            return fitted
        name = type(self).__name__
        text = (
            "The `probability` parameter is deprecated, as in scikit-learn 1.9. Use "
            f"`{name}(calibration='loo')`, or `CalibratedClassifierCV({name}(), ensemble=False)`, "
            f"instead of `{name}(probability=True)`."
        )
        usual = convergence_warnings(certificate_of(fitted.solutions), self.tol)
        return replace(fitted, warnings=[*usual, (text, FutureWarning)])

    @property
    def coef_(self) -> Any:
        """Weights of the features, for a linear kernel."""
        kernel = getattr(self, "kernel_", None)
        if not isinstance(kernel, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        scales = kernel.gamma * (np.ones(1) if kernel.weights is None else kernel.weights)
        vectors = predictor_of(self).vectors
        if sp.issparse(vectors.rows):
            coef = sp.csr_matrix(vectors.coef.T) @ vectors.rows.multiply(scales).tocsr()
            coef.data.flags.writeable = False
            return coef
        coef = vectors.coef.T @ (vectors.rows * scales)
        coef.flags.writeable = False
        return coef


def shared_gram(task: FitTask, solver: SMO, largest: float, *, store: bool) -> Gram:
    """Return the kernel matrix of all rows; ``store``: whether it is stored, where it fits."""
    grams = Grams(
        task.X,
        tol=solver.tol,
        memory=solver.memory,
        threads=task.threads,
        n_machines=task.n_machines,
        share=store,
    )
    K = grams.machine(task.kernel, np.arange(task.X.shape[0]), largest)
    return as_gram(K, task.kernel.is_psd)


def listened(solver: SMO, task: FitTask, machine: int) -> SMO:
    """Return the solver, with a callback where somebody listens to this machine."""
    listener = task.progress.of_machine(machine, task.n_machines)
    return solver if listener is None else replace(solver, callback=listener)


def without_rows(
    terms: TermsOf,
    largest: float,
    task: FitTask,
    predictor: Predictor,
    solutions: Sequence[Solution],
    *,
    tol: float,
) -> LeftOutDecisions:
    """Compute the decision values of rows by machines on all rows but these."""

    def without(j: int, K: Array | Gram, kept: Flags) -> DualQP:
        gram = as_gram(K, predictor.kernels[j].is_psd)
        return DualQP(gram, terms(j, task.sample_weight * kept))

    return solved_without(task, predictor, solutions, without, [largest] * len(solutions), tol=tol)


def _polish_budget(n_machines: int) -> float:
    """Return the kernel values that one of several machines may spend on exactness."""
    share = _POLISH / n_machines
    return share if share >= _LEAST_POLISH else 0.0
