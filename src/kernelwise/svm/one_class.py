"""One-class support vector machine: scikit-learn's OneClassSVM, faster, with p-values."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

from .._parameters import Interval, Options
from .._typing import Array
from ..kernels import Kernel
from ..qp import Progress, Terms
from .base.outlier_detector import KernelOutlierDetector
from .base.support_vectors import PARAMETERS, SupportVectorMixin
from .base.task import FitTask, Fitted


class OneClassSVM(SupportVectorMixin, KernelOutlierDetector):
    """Unsupervised detection of outliers, a drop-in for scikit-learn's ``OneClassSVM``.

    It solves the same problem to the same answer, several times faster. Each feature may have its
    own width, a re-fit may start from the last solution, and every fit comes with a certificate.

    Parameters
    ----------
    nu : float, default=0.5
        The share of the training rows that may lie outside, at most; at least this share become
        support vectors. Above 0 and at most 1.
    {kernel}
    {precision}
    calibration : {"loo"} or None, default=None
        Whether `predict_proba` is available. "loo": from decision values of left-out rows,
        without which the machine is solved again at the same kernel and nu. None: no
        probabilities.
    {report}
    {extras}

    Attributes
    ----------
    {numbers}
    {vectors}
    offset_ : ndarray of shape (1,)
        The offset: `decision_function` is `score_samples` less this.
    n_iter_ : int
        Number of solver steps.
    calibration_ : Bunch
        ``mode`` and ``n_rows``, the number of left-out rows; unless ``calibration=None``.
    {features}

    See Also
    --------
    sklearn.svm.OneClassSVM : The class that this one can replace.

    Notes
    -----
    A fit that ends before the tolerance is reached issues a ``ConvergenceWarning`` that states the
    remaining violation.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = OneClassSVM(nu=0.1, gamma=0.1, calibration="loo").fit(X)
    >>> model.predict([[0.0, 0.0], [4.0, 4.0]])
    array([ 1, -1])
    >>> model.predict_proba([[0.0, 0.0], [4.0, 4.0]])[:, 1].round(3)
    array([0.95 , 0.005])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = PARAMETERS | {
        "nu": [Interval(Real, 0, 1, closed="right")],
        "calibration": [Options({"loo"}), None],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
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
        self.nu = nu
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
        total = float(task.sample_weight.sum())

        def terms(_: int, weights: Array) -> Terms:
            # Decision values grow with the weights, whose sum is the same without some rows.
            return Terms.one_class(len(weights), self.nu, weights * (total / weights.sum()))

        return self._solved_on_all_rows(task, terms, float(task.sample_weight.max()))
