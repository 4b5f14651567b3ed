"""Nu-support vector classification: scikit-learn's NuSVC, faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._parameters import Interval
from ..kernels import Kernel
from ..qp import SMO, Progress
from ..qp.gram import as_gram
from ..qp.nu import NuSolution, solve_nu_svc
from .base.classifier import KernelClassifier
from .base.grams import Grams
from .base.left_out import LeftOutDecisions, kernel_machines_left_out
from .base.multiclass import ONE_VS_ONE, Multiclass
from .base.predictor import Predictor
from .base.solve import solve_each
from .base.support_vectors import CLASSES, PARAMETERS, Starts, SupportVectorMixin, listened
from .base.task import FitTask, Fitted

_USUAL = 100.0  # largest C up to which the matrix is made in the precision that a C needs


class NuSVC(SupportVectorMixin, KernelClassifier):
    """Nu-support vector classification, a drop-in for scikit-learn's ``NuSVC``.

    It is `SVC` with the share of the support vectors given and C found. Each feature may have its
    own width, class weights count, and every fit comes with a certificate.

    Parameters
    ----------
    nu : float, default=0.5
        The share of the rows that may miss their margin, at most; at least this share become
        support vectors. Above 0 and at most 1, and less for classes of different sizes.
    {kernel}
    probability : bool, default=False
        Deprecated as in scikit-learn: use
        ``CalibratedClassifierCV(NuSVC(), ensemble=False)``. True fits that inside.
    {precision}
    {class_weight}
    {calibration}
    {report}
    {votes}
    {cold_extras}

    Attributes
    ----------
    C_ : ndarray of shape (n_machines,)
        The C with which `SVC` has the same machine.
    {machines}
    {vectors}
    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_support)
        The dual coefficients times the signs, in the layout of scikit-learn.
    n_iter_ : ndarray of shape (n_machines,)
        Number of solver steps of each machine.
    margin_ : ndarray of shape (n_machines,)
        The margin 1 / ||w|| of each machine.
    {features}

    See Also
    --------
    sklearn.svm.NuSVC : The class that this one can replace.
    SVC : The same with C given.

    Notes
    -----
    Several classes are one-vs-one with a vote. A nu that no machine can have is refused with the
    largest one that all machines can have.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelwise import NuSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), NuSVC(nu=0.1)).fit(X, y)
    >>> model.score(X, y)
    0.98...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = (
        PARAMETERS
        | CLASSES
        | {
            "nu": [Interval(Real, 0, 1, closed="right")],
        }
    )

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: str | Callable[..., Any] | Kernel = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: Any = None,
        calibration: str | None = None,
        verbose: bool | str = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        feature_weights: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.calibration = calibration
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.feature_weights = feature_weights
        self.n_jobs = n_jobs
        self.callback = callback

    def _multiclass(self) -> Multiclass:
        return ONE_VS_ONE

    def _fit_machines(self, task: FitTask) -> Fitted:
        _check_feasible(self.nu, task)

        def solve(solver: SMO, _: Starts) -> Sequence[NuSolution]:
            pairs = _Pairs(task, solver)
            return solve_each(
                lambda j: pairs.solve(j, self.nu), task.n_machines, task.progress, task.threads
            )

        def left_out(
            task: FitTask, predictor: Predictor, solutions: Sequence[NuSolution]
        ) -> LeftOutDecisions:
            costs = np.array([each.C for each in solutions])
            return kernel_machines_left_out(task, predictor, solutions, costs, tol=self.tol)

        fitted = self._with_probability_warning(self._solved(task, solve, left_out))
        solutions: Any = fitted.solutions
        return replace(fitted, attributes={"C_": np.array([each.C for each in solutions])})


class _Pairs:
    """The machines of pairs of classes, on one kernel matrix where that fits into memory."""

    def __init__(self, task: FitTask, solver: SMO) -> None:
        self.task, self.solver = task, solver
        self.grams = Grams(
            task.X,
            tol=solver.tol,
            memory=solver.memory,
            threads=task.threads,
            n_machines=task.n_machines,
        )
        self.grams.prepare(task.kernel, _USUAL)

    def solve(self, j: int, nu: float) -> NuSolution:
        """Solve a machine, again in higher precision where the C that is found needs it."""
        task, grams = self.task, self.grams
        own = task.members[j]
        weights, y = task.cost_factor[own], task.Y[own, j].astype(np.float64)
        solver = listened(self.solver, task, j)

        def within(bound: float) -> NuSolution:
            gram = as_gram(grams.machine(task.kernel, own, bound), task.kernel.is_psd)
            return solve_nu_svc(gram, y, nu, solver, weights)

        solution = within(_USUAL)
        bound = solution.C * float(weights.max())
        needs = grams.dtype(task.kernel, bound).itemsize
        return solution if needs <= grams.dtype(task.kernel, _USUAL).itemsize else within(bound)


def _check_feasible(nu: float, task: FitTask) -> None:
    """Refuse a nu that some pair of classes cannot have, with the largest that all can have."""
    sums = np.sort(np.bincount(task.classes, task.cost_factor))
    most = 2 * sums[0] / (sums[0] + sums[-1])
    if nu > most * (1 + 1e-12):
        raise ValueError(
            f"specified nu is infeasible: nu={nu!r}, and for classes of these sizes it can be at "
            f"most {most:.6g}. Lower nu, or give class_weight='balanced', which allows any nu."
        )
