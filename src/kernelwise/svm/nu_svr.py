"""Nu-support vector regression: scikit-learn's NuSVR, faster, for several targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._parameters import Interval, Options
from .._typing import Array
from ..kernels import Kernel
from ..qp import SMO, Progress, Terms
from ..qp.nu import NuSolution, solve_nu_svr
from .base.left_out import LeftOutDecisions
from .base.predictor import Predictor
from .base.regressor import KernelRegressor
from .base.solve import solve_each
from .base.support_vectors import (
    PARAMETERS,
    Starts,
    SupportVectorMixin,
    listened,
    shared_gram,
    without_rows,
)
from .base.task import FitTask, Fitted


class NuSVR(SupportVectorMixin, KernelRegressor):
    """Nu-support vector regression, a drop-in for scikit-learn's ``NuSVR``.

    It is `SVR` with the share of the support vectors given and epsilon found. Several targets share
    one kernel matrix, each feature may have its own width, and every fit comes with a certificate.

    Parameters
    ----------
    nu : float, default=0.5
        The share of the rows that may deviate by more than epsilon, at most; at least this share
        become support vectors. Above 0 and at most 1.
    C : float, default=1.0
        The cost of a deviation beyond epsilon, positive. The sample weights multiply it.
    {kernel}
    {precision}
    {residuals}
    {report}
    {cold_extras}

    Attributes
    ----------
    epsilon_ : ndarray of shape (n_targets,)
        The deviation that costs nothing, as it was found.
    {numbers}
    {vectors}
    n_iter_ : int or ndarray of shape (n_targets,)
        Number of solver steps of each machine.
    {left_out}
    {features}

    See Also
    --------
    sklearn.svm.NuSVR : The class that this one can replace.
    SVR : The same with epsilon given.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelwise import NuSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), NuSVR(C=100.0, gamma=0.01)).fit(X, y)
    >>> model.score(X, y)
    0.5...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = PARAMETERS | {
        "nu": [Interval(Real, 0, 1, closed="right")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "calibration": [Options({"loo"}), None],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: str | Callable[..., Any] | Kernel = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float | None = None,
        calibration: str | None = None,
        verbose: bool | str = False,
        max_iter: int = -1,
        feature_weights: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.calibration = calibration
        self.verbose = verbose
        self.max_iter = max_iter
        self.feature_weights = feature_weights
        self.n_jobs = n_jobs
        self.callback = callback

    def _fit_machines(self, task: FitTask) -> Fitted:
        largest = self.C * float(task.sample_weight.max())

        def solve(solver: SMO, _: Starts) -> Sequence[NuSolution]:
            gram = shared_gram(task, solver, largest, store=True)

            def solve_one(j: int) -> NuSolution:
                own = listened(solver, task, j)
                return solve_nu_svr(gram, task.Y[:, j], self.C, self.nu, own, task.sample_weight)

            return solve_each(solve_one, task.n_machines, task.progress, task.threads)

        def left_out(
            task: FitTask, predictor: Predictor, solutions: Sequence[NuSolution]
        ) -> LeftOutDecisions:
            def terms(j: int, weights: Array) -> Terms:
                return Terms.epsilon_svr(task.Y[:, j], self.C * weights, solutions[j].epsilon)

            return without_rows(terms, largest, task, predictor, solutions, tol=self.tol)

        fitted = self._solved(task, solve, left_out)
        solutions: Any = fitted.solutions
        epsilons = np.array([each.epsilon for each in solutions])
        return replace(fitted, attributes={"epsilon_": epsilons})
