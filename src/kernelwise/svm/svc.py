"""C-support vector classification: scikit-learn's SVC, faster, with widths and warm starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

from .._parameters import Interval, Options
from ..kernels import Kernel
from ..qp import Progress
from .base.classifier import KernelClassifier
from .base.estimator import certificate_of, convergence_warnings
from .base.left_out import kernel_machines_left_out
from .base.multiclass import ONE_VS_ONE, Multiclass
from .base.solve import solve_one_vs_one
from .base.support_vectors import PARAMETERS, SupportVectorMixin
from .base.task import FitTask, Fitted

_PROBABILITY_WARNING = (
    "The `probability` parameter is deprecated, as in scikit-learn 1.9. Use "
    "`SVC(calibration='loo')`, or `CalibratedClassifierCV(SVC(), ensemble=False)`, instead of "
    "`SVC(probability=True)`.",
    FutureWarning,
)


class SVC(SupportVectorMixin, KernelClassifier):
    """C-support vector classification, a drop-in for scikit-learn's ``SVC``.

    It solves the same problem to the same answer, several times faster. Each feature may have its
    own width, a re-fit may start from the last solution, and every fit comes with a certificate.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a margin violation, positive. The sample and class weights multiply it.
    kernel : str, callable or Kernel, default="rbf"
        One of "linear", "poly", "rbf", "sigmoid", "precomputed", "laplacian", "matern32" and
        "matern52", a function ``k(X, Y)``, or an object of `kernelwise.kernels`.
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        The inverse width. "scale" is 1 / (n_features * X.var()), with the sample weights
        (``X.std()`` for "laplacian"); "auto" is 1 / n_features. A vector gives each feature its
        own width.
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".
    shrinking : bool, default=True
        Accepted for compatibility; the solver always works on active rows.
    probability : bool, default=False
        Deprecated as in scikit-learn: use
        ``CalibratedClassifierCV(SVC(), ensemble=False)``. True fits that inside.
    tol : float, default=1e-3
        The tolerance of the optimality conditions, in units of the margin. Below 1e-5 the
        solution is polished to rounding.
    cache_size : float, default=None
        Megabytes for entries of the kernel matrix. None is a quarter of the machine's memory, at
        most 2000, shared among the threads. Where not all entries fit, the solver keeps some.
    {class_weight}
    {calibration}
    verbose : bool or "auto", default=False
        Whether to print one line per machine; "auto" shows on stderr how far the fit is, once it
        has taken two seconds.
    max_iter : int, default=-1
        Maximum number of solver steps per machine; -1 is ten million, or fewer where many rows
        make them slow.
    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Whether decision values come per pair of classes ("ovo") or per class ("ovr").
    break_ties : bool, default=False
        Whether `predict` breaks ties of the vote by the decision values.
    random_state : int, RandomState instance or None, default=None
        Used by ``probability=True`` only.
    feature_weights : array-like of shape (n_features,), default=None
        Non-negative weights of the features in a named kernel; each multiplies its feature's own
        term, as in ``gamma * sum_k w_k (x_k - z_k)^2``.
    warm_start : bool, default=False
        Whether a re-fit starts from the last solution. Rows are recognised by their contents, so
        they may have been added, removed or shuffled.
    n_jobs : int, default=None
        Threads, for the kernel and over the machines; None is one.
    callback : callable, default=None
        Called during a fit with a `kernelwise.qp.Progress`.

    Attributes
    ----------
    {machines}
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support vectors; empty for a precomputed kernel.
    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_support)
        The dual coefficients times the signs, in the layout of scikit-learn.
    coef_ : ndarray of shape (n_machines, n_features)
        The weights of the features; for a linear kernel only.
    intercept_ : ndarray of shape (n_machines,)
        The intercepts.
    n_iter_ : ndarray of shape (n_machines,)
        Number of solver steps of each machine.
    certificate_ : Bunch
        Arrays ``violation`` (of the optimality conditions), ``gap`` (how far the objective may be
        from its minimum; NaN for kernels not known to be positive semi-definite), ``objective``
        and ``status``, with one entry per machine.
    margin_ : ndarray of shape (n_machines,)
        The margin 1 / ||w|| of each machine.
    kernel_ : Kernel
        The kernel with all its parameters resolved.
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

    _parameter_constraints: ClassVar[dict[str, Any]] = PARAMETERS | {
        "C": [Interval(Real, 0, None, closed="right")],
        "probability": ["boolean", Options({"deprecated"}, is_hidden=True)],
        "class_weight": [Options({"balanced"}), dict, None],
        "calibration": [Options({"loo", "halves"}), None],
        "decision_function_shape": [Options({"ovo", "ovr"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
    }

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
        if self.probability == "deprecated":
            return fitted
        usual = convergence_warnings(certificate_of(fitted.solutions), self.tol)
        return replace(fitted, warnings=[*usual, _PROBABILITY_WARNING])
