"""The base of all classifiers: from a table and labels to a code matrix, and back."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from math import isfinite, sqrt
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ..._sklearn import CallbackSupportMixin, check_sample_weight, checked_fit, validate_fit
from ..._threads import n_threads
from ..._typing import Array, Codes, Index, Matrix
from ...kernels import FunctionKernel, Kernel, Precomputed
from ...qp import Progress
from .kernel_spec import resolve_kernel
from .multiclass import classes_of, largest, one_vs_rest
from .notebook import WeightsReprMixin
from .predictor import Machines, take

T = TypeVar("T")


class BaseLearnedSVC(WeightsReprMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base of the classifiers; a method writes one hook, `_fit_machines`.

    Several classes are one-vs-rest with the largest decision value, unless a method says otherwise.
    """

    kernel: Any
    kernel_: Any
    class_weight: Any
    tol: float
    n_jobs: int | None

    @abstractmethod
    def _fit_machines(self, X: Matrix, Y: Codes, weights: Array, classes: Index) -> Machines:
        """Fit one machine for each column of the code matrix.

        ``weights`` multiplies C of each row: sample weight times class weight. ``classes`` is the
        class of each row, for the order of the support rows.
        """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = self._accepts_sparse()
        return tags

    def set_params(self, **params: Any) -> BaseLearnedSVC:
        """Set parameters; ``kernel__name`` replaces a kernel object by one with that parameter.

        Parameters
        ----------
        **params : dict
            New values by name.

        Returns
        -------
        self : object
            This estimator.
        """
        inner = {k[8:]: params.pop(k) for k in list(params) if k.startswith("kernel__")}
        super().set_params(**params)
        if inner:
            if not isinstance(self.kernel, Kernel):
                raise ValueError(f"kernel={self.kernel!r} has no parameters; give a kernel object.")
            self.kernel = self.kernel.with_params(**inner)
        return self

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaseLearnedSVC:
        """Fit the machines.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The training rows; kernel values between them for ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they multiply C. Rows of weight zero count as absent.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = self._validate_fit(X, y)
        self.shape_fit_ = getattr(X, "shape", (len(y),))
        weights = self._weights(sample_weight, y)
        classes, cost = self._encode(y, weights)
        counted = np.flatnonzero(weights)
        if len(self.classes_) > 2:  # the rows of a class then lie close together in memory
            order = np.argsort(classes, kind="stable")
            counted, classes, cost = counted[order], classes[order], cost[order]
        rows = self._take(X, counted)
        self.kernel_ = self._resolve_kernel(rows, weights[counted])
        Y = self._codes(classes, len(self.classes_))
        context = self._begin_task(Y)
        machines = self._fit_machines(rows, Y, cost, classes)
        if context is not None:
            context.call_on_fit_task_end(estimator=self)
        self._store(machines, classes, counted)
        self._warn_unless_converged(machines, self.tol)
        self._finish_fit(X, y, sample_weight)
        return self

    def _resolve_kernel(self, X: Any, weights: Array) -> Kernel:
        """Return the kernel that the parameters describe, for these training rows."""
        return resolve_kernel(self, X, weights)

    def _hinge_kernel(self) -> Kernel | None:
        """Return the kernel of all fitted machines, each row as given and of hinge loss.

        None where machines differ in their kernel, rows are mapped or merged, or slack is squared.
        """
        return self.kernel_ if isinstance(self.kernel_, Kernel) else None

    def _codes(self, classes: Index, n_classes: int) -> Codes:
        return one_vs_rest(classes, n_classes)

    def _n_tasks(self, Y: Codes) -> int | None:
        """Return how many tasks a fit tells scikit-learn's callbacks of; None is unknown."""
        return Y.shape[1]

    def _begin_task(self, Y: Codes) -> Any:
        """Tell scikit-learn's callbacks that machines are going to be fitted; None without any."""
        if not hasattr(self, "_skl_callbacks"):
            return None
        context = self._init_callback_context(
            max_subtasks=self._n_tasks(Y), sequential_subtasks=False
        )
        context.call_on_fit_task_begin(estimator=self)
        return context

    def _as_task(self, name: str, number: int, work: Callable[[], T]) -> T:
        """Run a part of the fit as a task of scikit-learn's callbacks, where there are any."""
        if not hasattr(self, "_skl_callbacks"):
            return work()
        task = self._callback_fit_ctx.subcontext(task_name=name, task_id=number)
        task.call_on_fit_task_begin(estimator=self)
        result = work()
        task.call_on_fit_task_end(estimator=self)
        return result

    def _reporter(self, machine: int, n_machines: int) -> Callable[[Progress], Any] | None:
        """Return what tells the user's callback how a machine gets on; None without one."""
        report = getattr(self, "callback", None)
        if report is None:
            return None
        return lambda progress: report(replace(progress, machine=machine, n_machines=n_machines))

    def _finish_fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Do what is left to do when the machines are fitted."""

    def _validate_fit(self, X: Any, y: Any) -> tuple[Any, Any]:
        if self._is_function():  # a user's kernel may be of texts or graphs: X stays as it is
            check_consistent_length(X, y)
            return X if hasattr(X, "shape") else np.asarray(X), y
        X, y = validate_fit(self, X, y, **self._checks())
        if self._is_precomputed() and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x"
                f"{X.shape[1]} matrix."
            )
        return X, y

    def _checks(self) -> dict[str, Any]:
        return {
            "dtype": np.float64,
            "order": "C",
            "accept_sparse": "csr" if self._accepts_sparse() else False,
            "accept_large_sparse": False,
        }

    def _is_precomputed(self) -> bool:
        if isinstance(self.kernel, str):
            return self.kernel == "precomputed"
        return isinstance(self.kernel, Precomputed)

    def _is_function(self) -> bool:
        if isinstance(self.kernel, str):
            return False
        if isinstance(self.kernel, Kernel):
            return isinstance(self.kernel, FunctionKernel)
        return callable(self.kernel)

    def _accepts_sparse(self) -> bool:
        if isinstance(self.kernel, Kernel):
            return self.kernel.accepts_sparse
        return callable(self.kernel) or self.kernel not in ("precomputed", "laplacian")

    def _take(self, X: Any, rows: Index) -> Any:
        if len(rows) == X.shape[0] and (rows[1:] > rows[:-1]).all():
            return X
        return X[np.ix_(rows, rows)] if self._is_precomputed() else take(X, rows)

    def _store(self, machines: Machines, classes: Index, counted: Index) -> None:
        """Set the fitted attributes, with the support vectors class by class."""
        own = classes[machines.support]
        self._machines = machines = replace(machines, support=counted[machines.support])
        self.support_ = machines.support.astype(np.int32)
        self.support_vectors_ = machines.rows
        self.n_support_ = np.bincount(own, minlength=len(self.classes_)).astype(np.int32)
        dual_coef = self._layout(machines.coef, own)
        self.dual_coef_ = sp.csr_matrix(dual_coef) if sp.issparse(machines.rows) else dual_coef
        self.intercept_ = machines.intercept
        self.certificate_ = certificate = machines.certificate
        self.n_iter_ = certificate["n_iter"]
        self.fit_status_ = int(any(s != "converged" for s in certificate["status"].tolist()))
        # The objective is 1/2 ||w||^2 - sum alpha.
        sizes = np.abs(machines.coef).sum(axis=0)
        squares = 2 * (certificate["objective"] + sizes)
        self.margin_ = np.array([1 / sqrt(s) if s > 0 else np.inf for s in squares.tolist()])
        if not all(map(isfinite, [*sizes.tolist(), *self.intercept_.tolist()])):
            raise ValueError(
                "The dual coefficients or intercepts are not finite. X may contain large values "
                "and need to be scaled, for instance with StandardScaler."
            )

    def _layout(self, coef: Array, classes: Index) -> Array:
        """Arrange the coefficients of the machines as the attribute ``dual_coef_``."""
        return coef.T

    def _decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        if self._is_function():
            X = X if hasattr(X, "shape") else np.asarray(X)
        else:
            X = validate_data(self, X, reset=False, **self._checks())
        trained_sparse = sp.issparse(self.support_vectors_)
        if sp.issparse(X) and not trained_sparse and not self._is_function():
            raise ValueError(
                f"cannot use sparse input in {type(self).__name__!r} trained on dense data"
            )
        if trained_sparse and not sp.issparse(X):
            X = sp.csr_array(X)
        return self._decision_values(X)

    def _decision_values(self, X: Any) -> Array:
        return self._machines.decision_values(X, n_threads(self.n_jobs))

    def decision_function(self, X: Any) -> Array:
        """Evaluate the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes positive for the second; else one column a class.
        """
        decisions = self._decisions(X)
        return decisions.ravel() if len(self.classes_) == 2 else decisions

    def predict(self, X: Any) -> Any:
        """Predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predicted classes: of the largest decision value, the first on ties.
        """
        decisions = self.decision_function(X)
        if decisions.ndim == 1:
            return self.classes_[(decisions > 0).astype(np.intp)]
        return self.classes_[largest(decisions)]

    def to_sklearn(self) -> Any:
        """Export the fitted classifier as plain scikit-learn objects.

        Returns
        -------
        model : Pipeline or OneVsRestClassifier
            Fitted objects of scikit-learn that predict the same: a scaling of the columns and a
            machine on it. A ``ValueError`` tells where scikit-learn has no such kernel.
        """
        from .to_sklearn import to_sklearn

        return to_sklearn(self)

    def _encode(self, y: Any, sample_weight: Array) -> tuple[Index, Array]:
        """Set ``classes_`` and ``class_weight_``; return each row's class and its weight of C.

        Rows of weight zero count as absent, also for the list of classes.
        """
        y = y if isinstance(y, np.ndarray) and y.ndim == 1 else column_or_1d(y, warn=True)
        if not sample_weight.all():
            counted = sample_weight > 0
            y, sample_weight = y[counted], sample_weight[counted]
        try:
            if y.dtype.kind not in "biuSU":  # those are classes whatever their values
                check_classification_targets(y)
            self.classes_, classes = classes_of(y)
        except TypeError as error:
            raise TypeError("y mixes labels of several types; make them all strings.") from error
        if len(self.classes_) < 2:
            raise ValueError(
                "The number of classes has to be greater than one; got "
                f"{len(self.classes_)} class among the samples of positive weight."
            )
        self.class_weight_ = self._class_weights(y, sample_weight)
        if self.class_weight is None:
            return classes, sample_weight
        return classes, sample_weight * self.class_weight_[classes]

    def _class_weights(self, y: Array, sample_weight: Array) -> Array:
        """Return the weight of each class; balanced ones count the sample weights."""
        if self.class_weight is None:
            return np.ones(len(self.classes_))
        try:
            weights: Array = compute_class_weight(
                self.class_weight, classes=self.classes_, y=y, sample_weight=sample_weight
            )
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            raise ValueError("class_weight must give a number for each class.") from error
        if not (weights > 0).all():
            raise ValueError("class_weight must be positive for every class.")
        return weights

    def _weights(self, sample_weight: Any, X: Matrix) -> Array:
        """Check the sample weights; negative ones count as zero, as in scikit-learn."""
        if sample_weight is None:
            return np.ones(len(X))
        try:
            weights = check_sample_weight(sample_weight, len(X))
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            raise ValueError("sample_weight must be numbers, one a row.") from error
        weights = np.maximum(weights, 0)
        if not weights.any():
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        return weights

    def _warn_unless_converged(self, machines: Machines, tol: float) -> None:
        if self.fit_status_:
            status, violation = machines.certificate.status, machines.certificate.violation
            short = np.flatnonzero(status != "converged")
            worst = short[np.argmax(violation[short])]
            warnings.warn(
                f"{len(short)} of {len(status)} machine(s) did not converge: the largest KKT "
                f"violation is {violation[worst]:.3g} (the tolerance is tol={tol:g}) after "
                f"{machines.certificate.n_iter[worst]} steps ({status[worst]}). The model is "
                "usable but not optimal. Scale the columns, for instance with StandardScaler, "
                "lower C, or raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
