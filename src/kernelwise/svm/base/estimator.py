"""The base class of all classifiers: from a table and labels to machines, and back."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ..._sklearn import CallbackSupportMixin, checked_fit, unfitted
from ..._threads import n_threads, single_blas
from ..._typing import Array
from ...kernels import Kernel
from ...qp import Solution
from ...qp.pairs import PairSolutions
from .kernel_spec import KernelSpec
from .multiclass import ONE_VS_REST, SCHEMES, Multiclass
from .notebook import WeightsReprMixin
from .predictor import predictor_of
from .probability import ProbabilityMixin
from .progress import FitProgress
from .shared_texts import with_shared_texts
from .task import FitTask, Fitted, TableReader


class BaseLearnedSVC(
    ProbabilityMixin,
    WeightsReprMixin,
    CallbackSupportMixin,
    ClassifierMixin,
    BaseEstimator,
    ABC,
):
    """Base of the classifiers. A method writes the first of these five hooks, others as needed.

    - ``_fit_machines(task)`` fits the machines and returns the whole result, a `Fitted`. It
      sets nothing: `fit` assigns every attribute in its last statement, so that a fit that fails
      or is interrupted leaves the estimator as it was.
    - ``_check_parameters()`` refuses parameters that do not go together.
    - ``_reader()`` returns the `TableReader` that checks tables and takes the rows that count.
    - ``_kernel(X, sample_weight)`` returns the kernel for the training rows.
    - ``_multiclass()`` returns how several classes become machines: one-vs-rest by default.
    """

    kernel: Any
    kernel_: Any
    decision_function_shape: str
    classes_: Any
    class_weight: Any
    tol: float
    n_jobs: int | None

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls.__doc__ = with_shared_texts(cls.__doc__)

    # --- The hooks ------------------------------------------------------------------------

    @abstractmethod
    def _fit_machines(self, task: FitTask) -> Fitted:
        """Fit one machine for each column of the code matrix ``task.Y``."""

    def _check_parameters(self) -> None:
        """Refuse parameters that do not go together; each one has been checked alone before."""

    def _reader(self) -> TableReader:
        """Return the reader of tables."""
        return TableReader(self, sparse=KernelSpec(self.kernel).accepts_sparse)

    def _kernel(self, X: Any, sample_weight: Array) -> Kernel:
        """Return the kernel that the parameters describe, for these training rows."""
        return KernelSpec.of(self).resolve(X, sample_weight)

    def _multiclass(self) -> Multiclass:
        """Return how several classes become machines of two."""
        return ONE_VS_REST

    # --- Fit ------------------------------------------------------------------------------

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
        checked = unfitted(self)
        checked._check_parameters()
        with single_blas():  # from the first sum on: more threads of BLAS round differently
            X, y = checked._reader().check(X, y)
            task = checked._task(
                X, y, sample_weight, FitProgress.of(self), vars(self).get("_last_fit_")
            )
            fitted = checked._with_probabilities(task, checked._fit_machines(task))
        task.progress.end()
        attributes = common_attributes(task, fitted) | dict(fitted.attributes)
        self._warn(fitted, attributes["certificate_"])
        self.__dict__ = vars(checked) | vars(unfitted(self)) | attributes
        return self

    def _warn(self, fitted: Fitted, certificate: Bunch) -> None:
        """Issue the warnings of a fit, on the line that called it."""
        found = fitted.warnings
        found = convergence_warnings(certificate, self.tol) if found is None else found
        for text, category in found:
            warnings.warn(text, category, stacklevel=4)

    def _task(
        self, X: Any, y: Any, sample_weight: Any, progress: FitProgress, last: Any = None
    ) -> FitTask:
        """Return the rows that count, their classes and the kernel, for a method to fit."""
        rows, labels = self._reader().training_rows(X, y, sample_weight)
        warm_start = getattr(self, "warm_start", False)
        return FitTask(
            X=rows,
            labels=labels,
            multiclass=self._multiclass(),
            kernel=self._kernel(rows, labels.sample_weight),
            progress=progress,
            threads=n_threads(self.n_jobs),
            given=(X, y, sample_weight),
            feature_names=getattr(self, "feature_names_in_", None),
            warm_start=warm_start,
            last=last if warm_start else None,
        )

    # --- Predict --------------------------------------------------------------------------

    def _decisions(self, X: Any) -> Array:
        """Return one decision value per machine."""
        rows = self._rows_to_decide(X)
        return predictor_of(self).decision_values(rows, n_threads(self.n_jobs))

    def _rows_to_decide(self, X: Any) -> Any:
        """Check new rows, and bring them into the form of the training rows."""
        check_is_fitted(self)
        return self._reader().new_rows(X)

    def decision_function(self, X: Any) -> Array:
        """Evaluate the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        decisions : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes, positive values mean the second class; otherwise one column per class,
            or one per pair of classes with ``decision_function_shape="ovo"``. Calibrated
            classifiers return log-odds, or scores whose softmax are probabilities; with
            ``class_weight`` those of the weighted classes.
        """
        shape = getattr(self, "decision_function_shape", "ovr")
        if self._decides_by_scores() and (shape == "ovr" or len(self.classes_) == 2):
            scores = self._class_scores(X)
            return scores.ravel() if scores.shape[1] == 1 else scores
        values = self._decisions(X)
        return self._fitted_scheme().scores(values, len(self.classes_), shape)

    def predict(self, X: Any) -> Any:
        """Predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predicted classes: the largest decision value wins, or the most votes of pairs where
            the classifier is not calibrated; the first class wins ties.
        """
        if self._decides_by_scores():
            return self._winners(self._class_scores(X), ONE_VS_REST)
        return self._winners(self._decisions(X), self._fitted_scheme())

    def _winners(self, values: Array, scheme: Multiclass) -> Any:
        """Return the class of each row from decision values or scores."""
        break_ties = getattr(self, "break_ties", False)
        if break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        return self.classes_[scheme.winners(values, len(self.classes_), break_ties)]

    def _fitted_scheme(self) -> Multiclass:
        return SCHEMES[predictor_of(self).multiclass]

    def to_sklearn(self) -> Any:
        """Export the fitted classifier as plain scikit-learn objects.

        Returns
        -------
        model : Pipeline or OneVsRestClassifier
            Fitted objects of scikit-learn that predict the same: a scaling of the columns and a
            machine on it. A ``ValueError`` says so where scikit-learn has no such kernel.
        """
        from .to_sklearn import to_sklearn

        return to_sklearn(self)

    # --- scikit-learn's interface ---------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = KernelSpec(self.kernel).is_precomputed
        tags.input_tags.sparse = self._reader().sparse
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


def certificate_of(solutions: Sequence[Solution]) -> Bunch:
    """Return the certificates of the solutions as arrays with one entry per machine."""
    if isinstance(solutions, PairSolutions):
        _, objective, gap, violation = np.ascontiguousarray(solutions.certificates.T)
        n_iter = solutions.n_iter.astype(np.int32)
        status = np.array(solutions.status.tolist())  # in as many characters as it needs
        return Bunch(
            gap=gap, violation=violation, objective=objective, n_iter=n_iter, status=status
        )
    return Bunch(
        gap=np.array([s.gap for s in solutions]),
        violation=np.array([s.violation for s in solutions]),
        objective=np.array([s.objective for s in solutions]),
        n_iter=np.array([s.n_iter for s in solutions], dtype=np.int32),
        status=np.array([s.status for s in solutions]),
    )


def common_attributes(task: FitTask, fitted: Fitted) -> dict[str, Any]:
    """Return the attributes that every fitted classifier has."""
    labels, certificate = task.labels, certificate_of(fitted.solutions)
    n_classes, n_iter, status = len(labels.names), certificate["n_iter"], certificate["status"]
    vectors = fitted.vectors or fitted.predictor.vectors
    own = labels.classes[vectors.support]
    dual_coef = task.multiclass.layout(vectors.coef, own, n_classes)
    intercept = fitted.predictor.intercept
    # The objective is 1/2 ||w||^2 - sum alpha.
    sizes = np.abs(vectors.coef).sum(axis=0)
    squares = 2 * (certificate["objective"] + sizes)
    if not all(map(isfinite, [*sizes.tolist(), *intercept.tolist()])):
        raise ValueError(
            "The dual coefficients or intercepts are not finite. X may contain large values "
            "and need to be scaled, for instance with StandardScaler."
        )
    return {
        "_predictor_": fitted.predictor.of_rows(labels.rows, task.multiclass.name),
        "_last_fit_": fitted.last,
        "kernel_": task.kernel,
        "classes_": labels.names,
        "class_weight_": labels.class_weight,
        "shape_fit_": getattr(task.given[0], "shape", (len(labels.rows),)),
        "support_": labels.rows[vectors.support].astype(np.int32),
        "support_vectors_": vectors.rows,
        "n_support_": np.bincount(own, minlength=n_classes).astype(np.int32),
        "dual_coef_": sp.csr_matrix(dual_coef) if sp.issparse(vectors.rows) else dual_coef,
        "intercept_": intercept,
        "margin_": np.array([1 / sqrt(s) if s > 0 else np.inf for s in squares.tolist()]),
        "certificate_": certificate,
        "n_iter_": n_iter,
        "fit_status_": int(status.tolist() != ["converged"] * len(status)),
    }


def convergence_warnings(certificate: Bunch, tol: float) -> list[tuple[str, type[Warning]]]:
    """Return the warning about machines that did not converge, where there are any."""
    status = certificate["status"].tolist()
    short = [machine for machine, ended in enumerate(status) if ended != "converged"]
    if not short:
        return []
    worst = short[np.argmax(certificate.violation[short])]
    text = (
        f"{len(short)} of {len(certificate.status)} machine(s) did not converge: the largest KKT "
        f"violation is {certificate.violation[worst]:.3g} (the tolerance is tol={tol:g}) after "
        f"{certificate.n_iter[worst]} steps ({certificate.status[worst]}). The model is usable "
        "but not optimal. Scale the columns, for instance with StandardScaler, lower C, or raise "
        "max_iter or tol."
    )
    return [(text, ConvergenceWarning)]
