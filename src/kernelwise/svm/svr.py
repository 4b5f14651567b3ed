"""Epsilon-support vector regression: scikit-learn's SVR, faster, for several targets."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

from .._parameters import Interval, Options
from ..kernels import Kernel
from ..qp import Progress, Terms
from .base.regressor import KernelRegressor
from .base.support_vectors import PARAMETERS, SupportVectorMixin
from .base.task import FitTask, Fitted


class SVR(SupportVectorMixin, KernelRegressor):
    """Epsilon-support vector regression, a drop-in for scikit-learn's ``SVR``.

    It solves the same problem to the same answer, several times faster. Several targets share one
    kernel matrix, each feature may have its own width, a re-fit may start from the last solution,
    and every fit comes with a certificate.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a deviation beyond epsilon, positive. The sample weights multiply it.
    epsilon : float, default=0.1
        The deviation that costs nothing, in units of the target.
    {kernel}
    {precision}
    {residuals}
    {report}
    {extras}

    Attributes
    ----------
    {numbers}
    {vectors}
    n_iter_ : int or ndarray of shape (n_targets,)
        Number of solver steps of each machine.
    {left_out}
    {features}

    See Also
    --------
    sklearn.svm.SVR : The class that this one can replace.
    RelevanceSVR : Regression without parameters to choose.

    Notes
    -----
    The intervals of `predict_interval` are as wide for all rows. A fit that ends before the
    tolerance is reached issues a ``ConvergenceWarning`` that states the remaining violation.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelwise import SVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SVR(C=100.0, epsilon=10.0, gamma=0.01))
    >>> model.fit(X, y).score(X, y)
    0.5...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = PARAMETERS | {
        "C": [Interval(Real, 0, None, closed="right")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "calibration": [Options({"loo"}), None],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
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
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
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
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _fit_machines(self, task: FitTask) -> Fitted:
        return self._solved_on_all_rows(
            task,
            lambda j, weights: Terms.epsilon_svr(task.Y[:, j], self.C * weights, self.epsilon),
            self.C * float(task.sample_weight.max()),
        )
