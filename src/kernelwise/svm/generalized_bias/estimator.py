"""A support vector machine whose bias is a combination of features (Li, Leung and Lee 2007).

    min 1/2 b'Kb - y'b   s.t.   min(0, y C) <= b <= max(0, y C),   F'b = 0

    f(x) = sum_i b_i k(x_i, x) + sum_p lambda_p phi_p(x)

F has the features phi_p of the training rows, the constant among them; lambda is the multiplier of
F'b = 0. The kernel's part is regularised, the features' part is not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..._memory import allowance
from ..._parameters import HasMethods, Interval, Options
from ..._threads import n_threads, run, single_blas
from ..._typing import Array, Codes, Index
from ...kernels import Kernel
from ...qp import SMO, Progress, SeveralEqualities
from ..base.estimator import BaseLearnedSVC
from ..base.grams import Grams
from ..base.kernel_spec import KERNEL_NAMES
from ..base.multiclass import members_of, one_vs_rest
from ..base.predictor import Machines
from ..base.votes import OneVsOneMixin
from ..base.warm_start import WarmStartMixin
from .input import BiasFeaturesSVC
from .machine import Machine, doubts, matrices, trouble

_POLISH = 1e5  # kernel entries worth spending on exactness, over all machines
_MEMORY = 4000  # megabytes for kernel matrices


class GeneralizedBiasSVC(WarmStartMixin, OneVsOneMixin, BiasFeaturesSVC):
    """Support vector classification with features in place of the constant bias.

    A support vector machine regularises its kernel part and leaves the constant free. This one
    leaves a combination of features free: ``f(x) = kernel part + sum_p lambda_p phi_p(x)``. The
    features say what is known of the problem, a trend, the groups, a score, and the kernel corrects
    them. It is the machine of [1]_, which is the semiparametric machine of [2]_.

    Parameters
    ----------
    bias_features : list, mask, slice, transformer, callable or None, default=None
        The features. Columns of X by name or number, as a list, a mask or a slice; a transformer,
        which is fitted to the training rows; or a function that takes X and returns an array of
        shape (n_samples, n_bias_features). Transformers and functions get X as an array of numbers.
        None is no feature but the constant.
    C : float, default=1.0
        The cost of a margin violation, positive. The sample and class weights multiply it.
    kernel : str, callable or Kernel, default="rbf"
        As in `SVC`. Where there are features, or no intercept, it must be positive semi-definite;
        "precomputed" takes no features.
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        The inverse width, as in `SVC`; of the columns that the kernel reads.
    coef0 : float, default=0.0
        The constant of "poly".
    feature_weights : array-like of shape (n_features,), default=None
        Weights of the columns that the kernel reads, as in `SVC`.
    fit_intercept : bool, default=True
        Whether the constant is a feature as well.
    bias_penalty : float, default=0.0
        The ridge rho on the coefficients of the features, ``rho/2 |lambda|^2``. 0 is the paper's
        machine; above it the machine is the `SVC` with the kernel ``k + phi'phi / rho``. The
        constant is never penalised.
    exclude_bias_from_kernel : bool, default=False
        Whether the kernel does not read the columns that ``bias_features`` lists.
    cross_fit : {"auto"} or bool, default="auto"
        Whether a training row's features come from a transformer that was fitted without the row's
        fold, so that they do not know its label. "auto": where the transformer needs labels; others
        are fitted without them. False fits with labels to all rows. A transformer with an attribute
        ``out_of_fold = True`` takes care of that in its own ``fit_transform``.
    cv : int or splitter, default=5
        The folds of the cross-fitting, each row held out once; a number is of stratified folds.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One machine a pair of classes, or one a class against all others.
    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        With "ovo" machines, whether decision values come one a pair of classes or one a class.
    tol : float, default=1e-3
        The tolerance of the optimality conditions, in units of the margin.
    cache_size : float, default=None
        Megabytes for kernel matrices: with features the matrix of a machine's rows is stored. None
        is 4000; without features as in `SVC`.
    class_weight : dict or "balanced", default=None
        Weights of the classes; they multiply C.
    warm_start : bool, default=False
        Whether a re-fit starts from the last solution, for rows that are still there.
    n_jobs : int, default=None
        Threads, for the kernel and over the machines; None is one.
    verbose : bool, default=False
        Whether to print a line a machine.
    callback : callable, default=None
        Called during a fit with a `kernelwise.qp.Progress`.

    Attributes
    ----------
    bias_coef_ : ndarray of shape (n_machines, n_bias_features)
        The coefficients of the features. Of features that depend on each other in the rows of a
        machine some have none: zero.
    intercept_ : ndarray of shape (n_machines,)
        The coefficient of the constant; zeros without one.
    bias_feature_names_out_ : ndarray of shape (n_bias_features,)
        The names of the features.
    bias_transformer_ : object or None
        The fitted transformer.
    kernel_share_ : ndarray of shape (n_machines,)
        What part of the decision the kernel carries: ``var(k) / (var(k) + var(p))``, the variances
        of the kernel part k(x) and of the features' part p(x) over the machine's training rows,
        counted by their weights. 0: the features decide alone; 1: the kernel does.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    support_ : ndarray of shape (n_support,)
        The training rows that are support vectors, by class.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_kernel_features)
        Those rows, in the columns that the kernel reads.
    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class.
    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_support)
        The dual coefficients times the signs, in the layout of scikit-learn; a row a machine
        with "ovr" machines.
    n_iter_ : ndarray of shape (n_machines,)
        The steps that each machine took.
    fit_status_ : int
        0 when every machine converged, else 1.
    certificate_ : Bunch
        Arrays ``violation``, ``gap``, ``objective`` and ``status``, one entry a machine, as in
        `SVC`. The status "degenerate" is of features whose coefficients have no bound.
    margin_ : ndarray of shape (n_machines,)
        ``1 / |w|``, w being what is regularised.
    kernel_ : Kernel
        The kernel with its numbers filled in.
    class_weight_ : ndarray of shape (n_classes,)
        The weights of the classes.
    shape_fit_ : tuple of int
        The shape of the training rows.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the columns, where X has such names.

    See Also
    --------
    SVC : The same with the constant alone.
    kernelwise.transform.GeodesicNeighborFeatures : Features by neighbours on a manifold.
    kernelwise.transform.TopicFeatures : Features by topics.

    Notes
    -----
    The machine does not change when the features are replaced by others of the same span, unless
    they are penalised. If the features separate the rows with a margin, the kernel part is zero.

    References
    ----------
    .. [1] W. Li, K.-S. Leung and K.-H. Lee, "Generalizing the bias term of support vector
       machines", IJCAI 2007.
    .. [2] A. J. Smola, T. T. Friess and B. Schölkopf, "Semiparametric support vector and linear
       programming machines", NIPS 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise import GeneralizedBiasSVC
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] + np.sin(3 * X[:, 1]) > 0
    >>> model = GeneralizedBiasSVC([0], exclude_bias_from_kernel=True).fit(X, y)
    >>> model.predict([[9.0, 0.0], [-9.0, 0.0]])  # a kernel alone knows nothing out there
    array([ True, False])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bias_features": [
            "array-like", str, Integral, slice, callable, HasMethods(["fit", "transform"]), None,
        ],
        "C": [Interval(Real, 0, None, closed="right")],
        "kernel": [Options(KERNEL_NAMES), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [
            Options({"scale", "auto"}),
            Interval(Real, 0, None, closed="left"),
            "array-like",
        ],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "feature_weights": ["array-like", None],
        "fit_intercept": ["boolean"],
        "bias_penalty": [Interval(Real, 0, None, closed="left")],
        "exclude_bias_from_kernel": ["boolean"],
        "cross_fit": [Options({"auto"}), "boolean"],
        "cv": ["cv_object"],
        "multi_class": [Options({"ovo", "ovr"})],
        "decision_function_shape": [Options({"ovo", "ovr"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither"), None],
        "class_weight": [Options({"balanced"}), dict, None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "callback": [callable, None],
    }  # fmt: skip

    def __init__(
        self,
        bias_features: Any = None,
        *,
        C: float = 1.0,
        kernel: str | Callable[..., Any] | Kernel = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        feature_weights: Any = None,
        fit_intercept: bool = True,
        bias_penalty: float = 0.0,
        exclude_bias_from_kernel: bool = False,
        cross_fit: bool | str = "auto",
        cv: Any = 5,
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.bias_features = bias_features
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.feature_weights = feature_weights
        self.fit_intercept = fit_intercept
        self.bias_penalty = bias_penalty
        self.exclude_bias_from_kernel = exclude_bias_from_kernel
        self.cross_fit = cross_fit
        self.cv = cv
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _hinge_kernel(self) -> Kernel | None:
        return None  # the bounds know of one equality

    def _fit_machines(self, X: Any, Y: Codes, weights: Array, classes: Index) -> Machines:
        F = self._fit_features(X, self.classes_[classes])
        rows, threads, n_machines = self._kernel_rows(X), n_threads(self.n_jobs), Y.shape[1]
        members, costs = members_of(Y), self.C * weights
        keys = self._row_keys(X)
        starts = self._starts(keys, Y, members)
        smo = SMO(
            tol=self.tol,
            memory=allowance(self.cache_size, min(threads, n_machines)),
            budget=_POLISH / n_machines,
        )
        several = SeveralEqualities(
            self.tol, 1e6 * (_MEMORY if self.cache_size is None else self.cache_size)
        )
        with single_blas():
            if F.shape[1] == 0 and self.fit_intercept:
                grams = Grams.of(self.kernel_, rows, members, smo, threads)
            else:
                grams = matrices(self.kernel_, rows, members, several.memory, threads)

            def fit_one(j: int) -> Machine:
                own, report = members[j], self._reporter(j, n_machines)

                def work() -> Machine:
                    return Machine.solve(
                        grams.c_svc(own, Y[:, j], costs),
                        F[own],
                        weights[own],
                        constant=self.fit_intercept,
                        penalty=self.bias_penalty,
                        solvers=(replace(smo, callback=report), replace(several, callback=report)),
                        start=starts[j],
                    )

                return self._told(j, self._as_task("machine", j, work))

            solved = run(fit_one, range(n_machines), threads)
        self.bias_coef_ = np.array([machine.coef for machine in solved])
        self.kernel_share_ = np.array([machine.kernel_share for machine in solved])
        self._trouble, self._doubts = trouble(solved, self.tol), doubts(solved)
        solutions = [machine.solution for machine in solved]
        self._keep(keys, Y, solutions, members)
        intercepts = np.array([machine.intercept for machine in solved])
        machines = Machines.of(self.kernel_, rows, solutions, members, classes)
        return replace(machines, intercept=intercepts)

    def _machine_names(self) -> list[tuple[Any, Any]]:
        if self._by_pairs():
            return super()._machine_names()
        return [(name, None) for name in self.classes_.tolist()]

    def _told(self, j: int, machine: Machine) -> Machine:
        if self.verbose:
            solution = machine.solution
            print(
                f"[kernelwise.GeneralizedBiasSVC] machine {j + 1}: {solution.status}, "
                f"{solution.n_iter} steps, KKT violation {solution.violation:.2g}, share of the "
                f"kernel {machine.kernel_share:.2f}"
            )
        return machine

    def _warn_unless_converged(self, machines: Machines, tol: float) -> None:
        for text in self._trouble:
            warnings.warn(text, ConvergenceWarning, stacklevel=4)
        for text in self._doubts:
            warnings.warn(text, UserWarning, stacklevel=4)

    def _decision_values(self, X: Any) -> Array:
        F = self._features(X, self.bias_coef_.shape[1])
        by_kernel = self._machines.decision_values(self._kernel_rows(X), n_threads(self.n_jobs))
        with single_blas():
            return by_kernel + F @ self.bias_coef_.T

    def _by_pairs(self) -> bool:
        return self.multi_class == "ovo" or len(self.classes_) == 2

    def _codes(self, classes: Index, n_classes: int) -> Codes:
        if self._by_pairs():
            return super()._codes(classes, n_classes)
        return one_vs_rest(classes, n_classes)

    def _layout(self, coef: Array, classes: Index) -> Array:
        return super()._layout(coef, classes) if self._by_pairs() else coef.T

    def decision_function(self, X: Any) -> Array:
        """Evaluate the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decisions : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            With two classes positive for the second; else one column a class, or one a pair of
            classes.
        """
        check_is_fitted(self)
        if self._by_pairs():
            return super().decision_function(X)
        return BaseLearnedSVC.decision_function(self, X)

    def predict(self, X: Any) -> Any:
        """Predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes that win most of their pairs, or have the largest decision value.
        """
        check_is_fitted(self)
        return super().predict(X) if self._by_pairs() else BaseLearnedSVC.predict(self, X)
