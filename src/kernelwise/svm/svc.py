"""C-support vector classification: scikit-learn's SVC, faster, with widths and warm starts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar

from .._parameters import Interval
from ..kernels import Kernel
from ..qp import Progress
from .base.classifier import KernelClassifier
from .base.left_out import kernel_machines_left_out
from .base.multiclass import ONE_VS_ONE, Multiclass
from .base.solve import solve_one_vs_one
from .base.support_vectors import CLASSES, PARAMETERS, SupportVectorMixin
from .base.task import FitTask, Fitted


class SVC(SupportVectorMixin, KernelClassifier):
    """C-support vector classification, a drop-in for scikit-learn's ``SVC``.

    It solves the same problem to the same answer, several times faster. Each feature may have its
    own width, a re-fit may start from the last solution, and every fit comes with a certificate.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a margin violation, positive. The sample and class weights multiply it.
    {kernel}
    probability : bool, default=False
        Deprecated as in scikit-learn: use
        ``CalibratedClassifierCV(SVC(), ensemble=False)``. True fits that inside.
    {precision}
    {class_weight}
    {calibration}
    {report}
    {votes}
    {extras}

    Attributes
    ----------
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
    sklearn.svm.SVC : The class that this one can replace.

    Notes
    -----
    Several classes are one-vs-one with a vote, as in scikit-learn. A fit that ends before the
    tolerance is reached issues a ``ConvergenceWarning`` that states the remaining violation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelwise import SVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SVC(C=10.0)).fit(X, y)
    >>> model.score(X, y)
    0.99...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = (
        {"C": [Interval(Real, 0, None, closed="right")]}
        | PARAMETERS
        | CLASSES
        | {"warm_start": ["boolean"]}
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
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
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.C = C
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
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _multiclass(self) -> Multiclass:
        return ONE_VS_ONE

    def _fit_machines(self, task: FitTask) -> Fitted:
        costs = self.C * task.cost_factor
        fitted = self._solved(
            task,
            lambda solver, start: solve_one_vs_one(
                task, task.kernel, task.X, costs, solver, start=start
            ),
            partial(kernel_machines_left_out, C=self.C, tol=self.tol),
        )
        return self._with_probability_warning(fitted)
