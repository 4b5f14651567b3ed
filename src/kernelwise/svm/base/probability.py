"""Probabilities of the classes and prediction sets, for all classifiers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._threads import n_threads
from ..._typing import Array
from ...calibration.conformal import Conformity, class_scores
from ...calibration.scores import Calibration, calibrate_margins, probabilities
from .left_out import deal_task
from .multiclass import Multiclass
from .predictor import Predictor, predictor_of, take
from .progress import FitProgress
from .steps import RowStep, apply_all
from .task import FitTask, Fitted, TableReader
from .warm_start import content_keys


def calibration_mode(estimator: Any) -> str | None:
    """Return how probabilities are calibrated: "loo", "halves", or None for none at all.

    A deprecated ``probability=True`` is "loo".
    """
    mode: str | None = getattr(estimator, "calibration", None)
    is_deprecated = mode is None and getattr(estimator, "probability", False) is True
    return "loo" if is_deprecated else mode


def _is_calibrated(estimator: Any) -> bool:
    if calibration_mode(estimator) is None:
        raise AttributeError(
            "predict_proba is not available with calibration=None; fit with calibration='loo' or "
            "'halves'."
        )
    return True


def _has_halves(estimator: Any) -> bool:
    if calibration_mode(estimator) != "halves":
        raise AttributeError("predict_set is only available with calibration='halves'.")
    return True


@dataclass(frozen=True)
class ConformalHalf:
    """A model of half of the rows, and how well the other rows conform with their own classes."""

    predictor: Predictor
    conformity: Conformity


class ProbabilityMixin:
    """Adds `predict_proba`, `predict_log_proba` and `predict_set`, by the parameter calibration."""

    classes_: Any
    class_weight_: Array
    n_jobs: int | None
    _halves_: Sequence[ConformalHalf] | None
    _task: Callable[..., FitTask]
    _fit_machines: Callable[[FitTask], Fitted]
    _reader: Callable[[], TableReader]
    _decisions: Callable[[Any], Array]
    _rows_to_decide: Callable[[Any], Any]
    _fitted_scheme: Callable[[], Multiclass]

    # --- Fit ------------------------------------------------------------------------------

    def _calibrated(self, task: FitTask, fitted: Fitted) -> Fitted:
        """Calibrate the result of a method, if the user asks for probabilities.

        A method that calibrates its decisions itself returns no function ``left_out``.
        """
        mode = calibration_mode(self)
        if mode is None or fitted.left_out is None:
            return fitted
        found = fitted.left_out()
        rows, halves = found.rows, None
        attributes: dict[str, Any] = {}
        if mode == "halves":
            decisions, attributes["_halves_"] = self._fit_halves(task)
            halves = decisions[rows]
        calibration = calibrate_margins(
            found.decisions,
            task.classes[rows],
            task.cost_factor[rows],
            halves,
            pairs=task.labels.multiclass.pairs(len(task.labels.names)),
        )
        attributes["calibration_"] = summary(calibration, mode, len(rows))
        return replace(
            fitted,
            predictor=replace(fitted.predictor, calibration=calibration),
            attributes=dict(fitted.attributes) | attributes,
        )

    def _fit_halves(self, task: FitTask) -> tuple[Array, tuple[ConformalHalf, ...]]:
        """Fit each half of the rows anew; return the decisions on the rows that it did not have.

        The only row of a class is in both halves.
        """
        labels, (X, y, sample_weight) = task.labels, task.given
        pairs = task.labels.multiclass.pairs(len(labels.names))
        y, weights = np.asarray(y), None if sample_weight is None else np.asarray(sample_weight)
        decisions, halves = np.zeros(task.Y.shape), []
        for held in deal_task(task, 2):
            kept = labels.rows[np.delete(np.arange(len(labels.rows)), held)]
            part = self._task(
                self._reader().take(X, kept),
                y[kept],
                None if weights is None else weights[kept],
                FitProgress(self),
            )
            own = labels.rows[held]
            fitted = self._fit_machines(part).predictor
            predictor = fitted.of_rows(kept[part.labels.rows], task.labels.scheme)
            decisions[held] = predictor.decision_values(X[own], task.threads)
            scores = class_scores(decisions[held], pairs)
            conformity = Conformity.of_classes(scores, task.classes[held], task.sample_weight[held])
            halves.append(ConformalHalf(predictor, conformity))
        return decisions, tuple(halves)

    # --- Predict --------------------------------------------------------------------------

    def _decides_by_scores(self) -> bool:
        """Return whether decision values become scores, so that they agree with probabilities."""
        return getattr(self, "calibration", None) is not None

    def _class_scores(self, X: Any) -> Array:
        """Return log-odds of the second of two classes, or scores inside a softmax."""
        predictor = predictor_of(self)
        if predictor.calibration is None:
            raise NotFittedError(
                f"This {type(self).__name__} was fitted without probabilities; fit it again."
            )
        return predictor.calibration.scores(self._decisions(X))

    @available_if(_is_calibrated)
    def predict_proba(self, X: Any) -> Array:
        """Compute the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``. The classes have the shares of the
            training rows, whatever ``class_weight`` is, so that the most probable class may differ
            from `predict`.
        """
        check_is_fitted(self)
        return probabilities(self._class_scores(X), self.class_weight_)

    @available_if(_is_calibrated)
    def predict_log_proba(self, X: Any) -> Array:
        """Compute the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))

    @available_if(_has_halves)
    def predict_set(self, X: Any, confidence_level: float = 0.9) -> Any:
        """Return the classes that each row may have at a confidence level.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.
        confidence_level : float, default=0.9
            The share of rows whose set is to have their class, between 0 and 1.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Whether each class belongs to the set of the row. A set has several classes where the
            model cannot tell them apart, and may have none where it is usually right: rows as
            unclear as this one would make it wrong too often.
        """
        check_is_fitted(self)
        halves = getattr(self, "_halves_", None)
        if halves is None:
            raise NotFittedError(
                f"This {type(self).__name__} was fitted without halves of the rows; fit it again "
                "with calibration='halves', and with two different rows of each class at least."
            )
        rows = self._rows_to_decide(X)
        pairs = self._fitted_scheme().pairs(len(self.classes_))
        is_first = first_half_decides(rows, halves[0].predictor.before)
        sets = np.zeros((len(is_first), len(self.classes_)), dtype=bool)
        for half, own in zip(halves, (is_first, ~is_first), strict=True):
            part = take(rows, np.flatnonzero(own))
            decisions = half.predictor.decision_values(part, n_threads(self.n_jobs))
            scores = class_scores(decisions, pairs)
            sets[own] = half.conformity.sets(scores, confidence_level)
        return sets


def first_half_decides(X: Any, steps: Sequence[RowStep] = ()) -> Any:
    """Draw the half that judges each row (n,), by the contents of the row.

    The steps make numbers of rows that are not numbers; rows of a user's own kind take turns.
    Counting the rows of both halves for each new row (cross-conformal prediction) gives smoother
    sets, but too large ones where the halves disagree: their coverage was 91 to 96 % at 90 %.
    """
    if not _are_numbers(X):
        X = apply_all(steps, X)
    if _are_numbers(X):
        return content_keys(X) >> np.uint64(63) == 0
    return np.arange(len(X)) % 2 == 0


def _are_numbers(X: Any) -> bool:
    return sp.issparse(X) or getattr(X, "dtype", None) == np.float64


def summary(calibration: Calibration, mode: str, n_rows: int) -> Bunch:
    """Return a calibration as the public attribute ``calibration_``."""
    return Bunch(
        mode=mode,
        slope=calibration.sigmoid.slope,
        intercept=calibration.sigmoid.intercept,
        temperature=calibration.temperature,
        offsets=calibration.offsets,
        capped=calibration.is_capped,
        n_rows=n_rows,
    )
