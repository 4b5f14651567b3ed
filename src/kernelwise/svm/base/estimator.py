"""The base class of all kernel machines: from a table and targets to machines, and back."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import isfinite
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ..._sklearn import CallbackSupportMixin, unfitted
from ..._threads import n_threads, single_blas
from ..._typing import Array
from ...kernels import Kernel
from ...qp import Solution
from ...qp.pairs import PairSolutions
from .kernel_spec import KernelSpec
from .notebook import WeightsReprMixin
from .predictor import predictor_of
from .progress import FitProgress
from .shared_texts import with_shared_texts
from .task import FitTask, Fitted, TableReader, Targets


class KernelMachine(WeightsReprMixin, CallbackSupportMixin, BaseEstimator, ABC):
    """Base of classifiers, regressors and outlier detectors, each with its own ``fit``.

    A method writes the first of these hooks, others as needed.

    - ``_fit_machines(task)`` fits the machines and returns the whole result, a `Fitted`. It
      sets nothing: `fit` assigns every attribute in its last statement, so that a fit that fails
      or is interrupted leaves the estimator as it was.
    - ``_check_parameters()`` refuses parameters that do not go together.
    - ``_reader()`` returns the `TableReader` that checks tables and takes the rows that count.
    - ``_kernel(X, sample_weight)`` returns the kernel for the training rows.
    """

    kernel: Any
    kernel_: Any
    tol: float
    n_jobs: int | None
    # Arguments of scikit-learn's validation of y
    _target_checks: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls.__doc__ = with_shared_texts(cls.__doc__)

    # --- The hooks ------------------------------------------------------------------------

    @abstractmethod
    def _fit_machines(self, task: FitTask) -> Fitted:
        """Fit one machine for each column of ``task.Y``."""

    def _check_parameters(self) -> None:
        """Refuse parameters that do not go together; each one has been checked alone before."""

    def _reader(self) -> TableReader:
        """Return the reader of tables."""
        return TableReader(self, sparse=KernelSpec(self.kernel).accepts_sparse)

    def _kernel(self, X: Any, sample_weight: Array) -> Kernel:
        """Return the kernel that the parameters describe, for these training rows."""
        return KernelSpec.of(self).resolve(X, sample_weight)

    # --- What differs between classifiers, regressors and outlier detectors ---------------

    @abstractmethod
    def _targets(self, y: Any, sample_weight: Any) -> Targets:
        """Return what the rows are fitted to, in the order in which they are fitted."""

    @abstractmethod
    def _calibrated(self, task: FitTask, fitted: Fitted) -> Fitted:
        """Calibrate the result of a method on rows that were left out, if the user asks for it."""

    def _common_attributes(self, task: FitTask, fitted: Fitted) -> dict[str, Any]:
        """Return the attributes that every fitted estimator of the kind has."""
        return machine_attributes(task, fitted)

    # --- Fit ------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit the machines, and set all attributes at once."""
        checked = unfitted(self)
        checked._check_parameters()
        with single_blas():  # from the first sum on: more threads of BLAS round differently
            X, y = checked._reader().check(X, y)
            task = checked._task(
                X, y, sample_weight, FitProgress.of(self), vars(self).get("_last_fit_")
            )
            fitted = checked._calibrated(task, checked._fit_machines(task))
        task.progress.end()
        attributes = self._common_attributes(task, fitted) | dict(fitted.attributes)
        self._warn(fitted, attributes["certificate_"])
        self.__dict__ = vars(checked) | vars(unfitted(self)) | attributes

    def _warn(self, fitted: Fitted, certificate: Bunch) -> None:
        """Issue the warnings of a fit, on the line that called it."""
        found = fitted.warnings
        found = convergence_warnings(certificate, self.tol) if found is None else found
        for text, category in found:
            warnings.warn(text, category, stacklevel=5)

    def _task(
        self, X: Any, y: Any, sample_weight: Any, progress: FitProgress, last: Any = None
    ) -> FitTask:
        """Return the rows that count, their targets and the kernel, for a method to fit."""
        targets = self._targets(y, sample_weight)
        rows = self._reader().take(X, targets.rows)
        warm_start = getattr(self, "warm_start", False)
        return FitTask(
            X=rows,
            targets=targets,
            kernel=self._kernel(rows, targets.sample_weight),
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

    def to_sklearn(self) -> Any:
        """Export the fitted estimator as plain scikit-learn objects.

        Returns
        -------
        model : Pipeline, OneVsRestClassifier or MultiOutputRegressor
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

    def set_params(self, **params: Any) -> KernelMachine:
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


def machine_attributes(task: FitTask, fitted: Fitted) -> dict[str, Any]:
    """Return the attributes that every fitted estimator has."""
    targets, certificate = task.targets, certificate_of(fitted.solutions)
    vectors, intercept = fitted.vectors or fitted.predictor.vectors, fitted.predictor.intercept
    if not all(map(isfinite, [float(vectors.coef.sum()), *intercept.tolist()])):
        raise ValueError(
            "The dual coefficients or intercepts are not finite. X may contain large values "
            "and need to be scaled, for instance with StandardScaler."
        )
    is_sparse, status = sp.issparse(vectors.rows), certificate["status"]
    return {
        "_predictor_": fitted.predictor.of_rows(targets.rows, targets.scheme),
        "_last_fit_": fitted.last,
        "kernel_": task.kernel,
        "shape_fit_": getattr(task.given[0], "shape", (len(targets.rows),)),
        "support_": targets.rows[vectors.support].astype(np.int32),
        "support_vectors_": vectors.rows,
        "n_support_": np.array([len(vectors.support)], dtype=np.int32),
        "dual_coef_": sp.csr_matrix(vectors.coef.T) if is_sparse else vectors.coef.T,
        "intercept_": intercept,
        "certificate_": certificate,
        "n_iter_": certificate["n_iter"],
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
