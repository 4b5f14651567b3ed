"""Feature weights that minimise the dual objective (the WRBF method), and other criteria.

    min_v L(v),   L(v) = max_alpha  sum alpha - 1/2 alpha' (y y' * K_v) alpha,   v >= 0, sum v = p

    dL/dv_k = -1/2 sum_ij b_i b_j dK_v(x_i, x_j) / dv_k          (envelope theorem, b = alpha * y)

A low dual objective is a wide margin with little slack: weights move to the features that give it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from ..._memory import allowance
from ..._parameters import Interval, Options
from ..._threads import n_threads
from ..._typing import Array, Codes
from ...criteria import Criterion
from ...kernels import Kernel
from ...outer import (
    LBFGS,
    ExponentiatedGradient,
    FixedStep,
    Method,
    ProjectedGradient,
    Step,
)
from ...qp import SMO, Solution
from ..base.classifier import KernelClassifier
from ..base.feature_weights import no_weights, weight_shares
from ..base.kernel_spec import KernelSpec
from ..base.left_out import kernel_machines_left_out
from ..base.predictor import Predictor
from ..base.progress import FitProgress
from ..base.task import FitTask, Fitted
from .shrinkage import choose_share
from .weight_learning import (
    CRITERIA,
    LearnedWeights,
    Recipe,
    WeightProblem,
    histories,
    learn_weights,
)

_METHODS: dict[str, Callable[[], Method]] = {
    "lbfgs": LBFGS,
    "projected_gradient": ProjectedGradient,
    "exponentiated_gradient": ExponentiatedGradient,
}
_PAPER_UPDATES = 100  # updates of the weights in the paper
_EVALUATIONS = 16  # evaluations of the criterion; one more solve gives the machine itself
_TOLERANCE = 1e-4  # learning ends when a step improves the criterion by less, relatively
# Limits on solver steps during learning, in total and per row; the last solve has none.
_FEWEST_STEPS, _STEPS_PER_ROW = 100_000, 200


class DualObjectiveSVC(KernelClassifier):
    """Support vector classification with feature weights learned from the training rows.

    The weights minimise the machine's own dual objective (the WRBF method), for any kernel with
    feature weights, or another criterion.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a margin violation, positive. The sample and class weights multiply it. Criteria
        that learn C start from it.
    kernel : str or Kernel, default="rbf"
        One of "linear", "poly", "rbf", "laplacian", "matern32" and "matern52", or a positive
        semi-definite object of `kernelwise.kernels` that has weights somewhere.
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        The inverse width at equal weights; see `SVC`.
    coef0 : float, default=0.0
        The constant of "poly".
    criterion : {"dual", "radius_margin", "span", "cv", "alignment"} or Criterion, default="dual"
        The criterion that the weights minimise. "dual" keeps the sum of the weights and C.
        "radius_margin" (of the L2-SVM, which then is the machine as well) and "span" (the smooth
        leave-one-out estimate) learn the scale and C too; "cv" (logistic loss on held-out rows)
        and "alignment" learn the scale. A `kernelwise.criteria.Criterion` is used as it is, for
        the scale and the weights.
    optimizer : {"lbfgs", "projected_gradient", "exponentiated_gradient", "paper"}, default="lbfgs"
        The descent method. "paper" takes fixed steps, clips and rescales, and keeps the best.
    penalty : {"l1", "l2"} or None, default=None
        A penalty on the weights in place of their fixed sum, for ``criterion="dual"``: their sum,
        or half the sum of their squares (generalised multiple kernel learning). The scale of the
        kernel is then learned, too; C is what balances slack and weights.
    weights : {"shared", "per_class"}, default="shared"
        Whether all one-vs-rest machines share their weights, or each has its own; the paper does
        not say which. With two classes there is one machine.
    shrinkage : float, "cv" or "auto", default="auto"
        The share of equal weights in the weights used, from 0, the learned ones, to 1, those of
        `SVC`. "cv" chooses 0, 1/2 or 1 by held-out rows of five folds, in each of which weights
        are learned anew. "auto" is "cv" for ``criterion="dual"`` unless ``optimizer="paper"``, and
        0 for all else.
    eta : float, default=0.001
        The step size of ``optimizer="paper"``, whose printed gradient is twice the true one.
    max_iter : int, default=None
        Maximum number of evaluations; None is 16, and 101 (100 updates) for "paper".
    tol : float, default=1e-3
        The tolerance of the machines, in units of the margin.
    {class_weight}
    {calibration}
    cache_size : float, default=None
        Megabytes for the kernel; None is a quarter of the machine's memory, at most 2000.
    warm_start : bool, default=False
        Whether a re-fit starts from the last weights, where the same columns vary.
    n_jobs : int, default=None
        Threads, for the kernel and over the machines; None is one.
    verbose : bool, default=False
        Whether to print one line per step.
    callback : callable, default=None
        Called with a `kernelwise.outer.Step` after each evaluation; returning True ends the
        learning, and the best weights so far are used.

    Attributes
    ----------
    {machines}
    feature_weights_ : ndarray of shape (n_features,) or (n_classes, n_features)
        The weights used, learned and shrunk; one row per machine for ``weights="per_class"``.
    shrinkage_ : float
        The share of equal weights in them.
    feature_importances_ : ndarray of shape (n_features,)
        The learned weights, before they are shrunk, times the spread of their columns (the
        contribution of each feature to a distance), scaled to sum one and averaged over machines.
    dual_objective_ : float
        The machines' dual objective at the learned weights, summed.
    criterion_value_ : float
        The criterion at the learned weights, before they are shrunk.
    history_ : dict of ndarray
        One entry per evaluation: "value", "weights", "C", "n_iter" (steps of the inner solver),
        "seconds" and "machine"; a table for ``pandas.DataFrame`` without "weights".
    n_solves_ : int
        Number of kernel matrices for which machines were solved, including the final exact one,
        without those of the choice of ``shrinkage``.
    C_ : float
        The cost used; learned by some criteria.
    gamma_ : float
        The inverse width of the kernel, where it has one.
    kernel_ : Kernel or list of Kernel
        The kernel with its learned weights; one per machine for ``weights="per_class"``.
    margin_ : ndarray of shape (n_machines,)
        The margin 1 / ||w|| of each machine.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support vectors.
    dual_coef_ : {ndarray, sparse matrix} of shape (n_machines, n_support)
        The dual coefficients times the signs.
    intercept_ : ndarray of shape (n_machines,)
        The intercepts.
    n_iter_ : int
        Number of evaluations of the criterion.
    certificate_ : Bunch
        Arrays ``violation``, ``gap``, ``objective`` and ``status``, one entry per machine.
    {features}

    See Also
    --------
    SVC : The same machine with given weights.
    AdaptiveKernelSVC : Learns one width and C.

    Notes
    -----
    Several classes are one-vs-rest: the largest decision value wins. Constant columns get the
    weight zero and do not count in the sum of the weights. Scale the columns first: the weights
    start from one.

    A weight of two is the same as the row given twice up to ``tol``: machines on the way are solved
    to the tolerance, and steps of the weights carry their differences on. Where many weights are
    as good, as with copies of columns, such differences, or another order of rows or columns, can
    end at other weights; a smaller ``tol`` makes that rarer. With ``criterion="radius_margin"``
    a copy of a row is another point of the ball, which a weight is not.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelwise import DualObjectiveSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> noise = np.random.default_rng(0).normal(size=(150, 4))
    >>> X = np.hstack([StandardScaler().fit_transform(X), noise])
    >>> model = DualObjectiveSVC().fit(X, y)
    >>> bool(model.feature_importances_[:4].sum() > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [
            Options({"linear", "poly", "rbf", "laplacian", "matern32", "matern52"}),
            Kernel,
        ],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Options({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "criterion": [Options(set(CRITERIA)), Criterion],
        "optimizer": [Options({"paper", *_METHODS})],
        "penalty": [Options({"l1", "l2"}), None],
        "weights": [Options({"shared", "per_class"})],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), Options({"cv", "auto"})],
        "eta": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [Options({"balanced"}), dict, None],
        "calibration": [Options({"loo", "halves"}), None],
        "cache_size": [Interval(Real, 0, None, closed="neither"), None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "callback": [callable, None],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        criterion: str | Criterion = "dual",
        optimizer: str = "lbfgs",
        penalty: str | None = None,
        weights: str = "shared",
        shrinkage: float | str = "auto",
        eta: float = 0.001,
        max_iter: int | None = None,
        tol: float = 1e-3,
        class_weight: Any = None,
        calibration: str | None = None,
        cache_size: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callable[[Step], Any] | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.criterion = criterion
        self.optimizer = optimizer
        self.penalty = penalty
        self.weights = weights
        self.shrinkage = shrinkage
        self.eta = eta
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.calibration = calibration
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _check_parameters(self) -> None:
        if not KernelSpec.of(self).reads_rows:
            raise no_weights(self.kernel)
        if self.penalty is not None and (self.criterion != "dual" or self.optimizer == "paper"):
            raise ValueError(
                f"penalty={self.penalty!r} is for criterion='dual' and an optimizer other than "
                f"'paper'; got criterion={self.criterion!r}, optimizer={self.optimizer!r}."
            )

    def _evaluations(self) -> int:
        if self.max_iter is not None:
            return self.max_iter
        return 1 + _PAPER_UPDATES if self.optimizer == "paper" else _EVALUATIONS

    def _fit_machines(self, task: FitTask) -> Fitted:
        Y, recipe, solver = task.Y, Recipe.of(self.criterion), self._solver()
        if self.penalty is not None:
            recipe = replace(recipe, free_scale=True, penalty=self.penalty)
        groups = [Y] if self.weights == "shared" else [Y[:, [j]] for j in range(Y.shape[1])]
        task.progress.begin(len(groups) * self._evaluations() + self._chooses_share())
        problem = WeightProblem.of(
            task.kernel, task.X, groups[0], task.cost_factor, recipe=recipe, C=self.C
        )
        last = _last_parameters(task.last, problem)
        learned: list[LearnedWeights] = []
        for number, codes in enumerate(groups):
            stopped = bool(learned) and learned[-1].minimum.status == "stopped"
            start = None if last is None else last[min(number, len(last) - 1)]
            most = 1 if stopped else self._evaluations()
            own = replace(problem, Y=codes)
            learned.append(self._learn(own, solver, start, most, task))
        thetas = [each.theta for each in learned]
        share = self._share(task, problem, groups, learned, solver)
        importances = weight_shares(np.array([each.weights for each in learned]), problem.spread)
        learned = [each.shrunk(share) for each in learned]
        solutions = [s for each in learned for s in each.solve(solver)]
        kernels = [each.kernel for each in learned]
        kernels = kernels * Y.shape[1] if len(kernels) == 1 else kernels
        predictor = Predictor.of(task, solutions, kernels=kernels)
        predictor = replace(predictor, loss=learned[0].criterion.slack)
        costs = np.array([each.C for each in learned])
        costs = costs if len(costs) == len(solutions) else np.repeat(costs, len(solutions))
        return Fitted(
            predictor,
            solutions,
            attributes={
                **_attributes(learned, solutions),
                "feature_importances_": importances,
                "shrinkage_": share,
            },
            last=(problem.varying, thetas),
            left_out=partial(
                kernel_machines_left_out, task, predictor, solutions, costs, tol=self.tol
            ),
        )

    def _chooses_share(self) -> bool:
        by_default = self.criterion == "dual" and self.optimizer != "paper"
        return self.shrinkage == "cv" or (self.shrinkage == "auto" and by_default)

    def _share(
        self,
        task: FitTask,
        problem: WeightProblem,
        groups: Sequence[Codes],
        learned: Sequence[LearnedWeights],
        solver: SMO,
    ) -> float:
        """Return the share of equal weights, as it is given or chosen."""
        if not self._chooses_share():
            return 0.0 if isinstance(self.shrinkage, str) else float(self.shrinkage)
        if not problem.learns or any(each.minimum.status == "stopped" for each in learned):
            return 0.0
        with task.progress.task("shrinkage"):
            silent = replace(task, progress=FitProgress(self))
            most = self._evaluations()

            def learn(part: WeightProblem) -> LearnedWeights:
                return self._learn(part, solver, None, most, silent)

            share = choose_share(task, problem, groups, learn, solver)
        task.progress.line(f"shrinkage={share:g}")
        return share

    def _solver(self) -> SMO:
        return SMO(tol=self.tol, memory=allowance(self.cache_size, n_threads(self.n_jobs)))

    def _learn(
        self,
        problem: WeightProblem,
        solver: SMO,
        start: Array | None,
        max_evaluations: int,
        task: FitTask,
    ) -> LearnedWeights:
        """Minimise the criterion of some machines over their common weights (eq. 10-15)."""
        steps = max(_FEWEST_STEPS, _STEPS_PER_ROW * problem.X.shape[0])
        budget = solver.budget if problem.recipe.exact else 0
        return learn_weights(
            problem,
            replace(solver, max_iter=steps, budget=budget),
            start=start,
            method=self._method(),
            domain=problem.domain(sphere=self.optimizer == "paper"),
            max_evaluations=max_evaluations,
            tol=_TOLERANCE,
            threads=task.threads,
            progress=task.progress,
        )

    def _method(self) -> Method:
        if self.optimizer == "paper":
            return FixedStep(2 * self.eta)  # the gradient of eq. 15 is twice the true one
        return _METHODS[self.optimizer]()


def _last_parameters(last: Any, problem: WeightProblem) -> list[Array] | None:
    """Return where the last fit ended, if it learned the same parameters."""
    columns, thetas = (None, []) if last is None else last
    if columns is None or not np.array_equal(columns, problem.varying):
        return None
    return thetas if all(len(theta) == problem.n_parameters for theta in thetas) else None


def _attributes(learned: list[LearnedWeights], solutions: Sequence[Solution]) -> dict[str, Any]:
    """Return the fitted attributes that other classifiers do not have."""
    kernels = [each.kernel for each in learned]
    weights = np.array([each.weights for each in learned])
    costs = np.array([each.C for each in learned])
    n_evaluations = sum(each.minimum.n_evaluations for each in learned)
    alone, table = len(learned) == 1, histories(learned, "machine", range(len(learned)))
    return {
        "feature_weights_": weights[0] if alone else weights,
        "kernel_": kernels[0] if alone else kernels,
        "gamma_": getattr(kernels[0], "gamma", None),
        "C_": float(costs[0]) if alone else costs,
        "criterion_value_": float(sum(each.minimum.value for each in learned)),
        "dual_objective_": -float(sum(solution.objective for solution in solutions)),
        "n_solves_": n_evaluations + len(learned),
        "history_": table,
        "n_iter_": n_evaluations,
    }
