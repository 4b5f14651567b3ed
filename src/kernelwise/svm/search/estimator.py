"""Grid search with cross-validation over C and kernels, many times faster than fit by fit."""

from __future__ import annotations

import time
import warnings
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import indexable

from ..._parameters import Options
from ..._sklearn import atomic_fit, base_search, checked_fit
from ..._threads import single_blas
from ..._typing import Index
from ..svc import SVC
from ..svr import SVR
from .delegates import BestEstimatorMixin
from .evaluate import Evaluator, Task, TaskOutcome
from .plan import SearchPlan, default_grid
from .scoring import (
    MultimetricScorer,
    Settings,
    accuracy_sign,
    failed,
    fill_failed_scores,
    params_of_rows,
    raise_or_warn_of_failures,
)

BaseSearchCV: Any = base_search()


class SVCSearchCV(BestEstimatorMixin, BaseSearchCV):
    """Grid search over the parameters of an `SVC`, a drop-in for scikit-learn's ``GridSearchCV``.

    The same splits, scores and best parameters as ``GridSearchCV(SVC(), param_grid)``, from far
    less work. Distances are computed once for all widths, a kernel matrix once for all folds and
    all C; along C each solution is the start of the next, and once no coefficient is at its bound
    the larger C are solved as well.

    Parameters
    ----------
    estimator : SVC, default=None
        The estimator to fit, with the parameters that are not searched; None is ``SVC()``.
    param_grid : dict or list of dicts, default=None
        Values by name, as in ``GridSearchCV``; any parameter of `SVC`, and those of a kernel
        object as ``kernel__name``. None is 7 values of C and 7 multiples of the estimator's
        gamma.
    scoring : str, callable, list, tuple or dict, default=None
        The score; None is the accuracy.
    n_jobs : int, default=None
        Threads, each with one kernel and fold at a time; None is one.
    refit : bool, str or callable, default=True
        Whether to fit the best parameters on all rows; with several scores, by which of them; or
        a function from ``cv_results_`` to the best index.
    cv : int, cross-validation generator or iterable, default=None
        The splits; None is 5 stratified folds.
    verbose : int, default=0
        1 prints the number of fits, 2 a line per fit, 3 its score, too.
    error_score : "raise" or float, default=numpy.nan
        The score of a fit that fails, or "raise".
    return_train_score : bool, default=False
        Whether to score the training part of each split as well.

    Attributes
    ----------
    cv_results_ : dict of ndarray
        Parameters, scores and times of each candidate, under the names of ``GridSearchCV``. The
        time for work that candidates share is spread over them.
    best_estimator_ : SVC
        Fitted on all rows with the best parameters.
    best_score_ : float
        The mean score of the best candidate on the held-out parts.
    best_params_ : dict
        Its parameters.
    best_index_ : int
        Its place in ``cv_results_``.
    scorer_ : callable or dict
        The scorer, or the scorers by name.
    n_splits_ : int
        The number of splits.
    refit_time_ : float
        Seconds that the last fit took.
    multimetric_ : bool
        Whether there are several scores.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the features, where X has such names.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : The class that this one can replace.

    Notes
    -----
    The kernel matrix of all rows is held in memory while it is used. Where it does not fit, and for
    kernels that are functions or hold a ridge, the candidates are fitted one by one. With
    ``gamma="scale"`` each fold has a kernel of its own, as it has in ``GridSearchCV``; numbers
    share one among the folds.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernelwise.svm import SVC, SVCSearchCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = SVCSearchCV(SVC(), {"C": [0.01, 1.0, 100.0], "gamma": [0.01, 0.1, 1.0]})
    >>> search.fit(scale(X), y).best_params_
    {'C': 100.0, 'gamma': 0.1}
    >>> search.best_score_.round(2)
    np.float64(0.99)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [object],  # checked in fit, with a remedy
        "param_grid": [dict, list, None],
        "scoring": [str, callable, list, tuple, dict, None],
        "n_jobs": [Integral, None],
        "refit": ["boolean", str, callable],
        "cv": ["cv_object"],
        "verbose": ["verbose"],
        "error_score": [Options({"raise"}), Real],
        "return_train_score": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        param_grid: Any = None,
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.error_score = error_score
        self.return_train_score = return_train_score

    def _complete(self) -> Any:
        """Return a search that names its estimator, as scikit-learn expects it."""
        if self.estimator is not None:
            return super()
        out = copy(self)
        out.estimator = self._kind()
        return super(SVCSearchCV, out)

    def __sklearn_tags__(self) -> Any:
        tags = self._complete().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self._template()).target_tags.multi_output
        return tags

    def _get_scorers(self) -> Any:
        return self._complete()._get_scorers()

    def get_metadata_routing(self) -> Any:
        """Say which parameters of `fit` go where.

        Returns
        -------
        routing : MetadataRouter
            The routing of scikit-learn.
        """
        return self._complete().get_metadata_routing()

    @atomic_fit
    @checked_fit
    def fit(self, X: Any, y: Any = None, **params: Any) -> SVCSearchCV:
        """Evaluate all candidates, and fit the best one on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The rows; kernel values between them for ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            The classes.
        **params : dict
            ``groups`` for the splits and ``sample_weight`` for the fits and the scores, or what
            metadata routing asks for.

        Returns
        -------
        self : object
            The fitted search.
        """
        estimator = self._checked_estimator()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        scorers, refit_metric = self._get_scorers()
        X, y = indexable(X, y)
        assert_all_finite(np.asarray(y), input_name="y")
        params = params_of_rows(X, params)
        routed = self._get_routed_params_for_fit(params)
        weight = params.get("sample_weight")
        about = {
            "X": X,
            "y": y,
            "metadata": weight if weight is None else {"sample_weight": weight},
        }
        root = self._init_callback_context(max_subtasks=1 + (self.refit is not False))
        root.call_on_fit_task_begin(estimator=self, **about)
        folds = self._folds(X, y, routed.splitter.split)
        sign = accuracy_sign(self.scoring, scorers) if is_classifier(estimator) else 0.0
        # Neither accuracy nor errors need left-out rows: only the best candidate is calibrated.
        named = self.scoring is None or isinstance(self.scoring, str)
        is_uncalibrated = sign or (named and is_regressor(estimator))
        tried = clone(estimator).set_params(calibration=None) if is_uncalibrated else estimator
        plan = SearchPlan.of(tried, self._grid(estimator, X, y))
        settings = Settings(
            scorer=scorers,
            accuracy_sign=sign,
            error_score=self.error_score,
            return_train_score=self.return_train_score,
            verbose=self.verbose,
            fit_params=routed.estimator.fit,
            score_params=routed.scorer.score,
            n_splits=self.n_splits_,
            params=plan.params,
        )
        out = self._evaluate(plan, folds, Evaluator(X, y, settings, self._threads()), root)
        self._choose(plan, out, refit_metric)
        self.scorer_ = scorers._scorers if isinstance(scorers, MultimetricScorer) else scorers
        if self.refit:
            self._refit(estimator, X, y, routed.estimator.fit, root, about)
        root.call_on_fit_task_end(estimator=self, **about)
        return self

    def _checked_estimator(self) -> SVC | SVR:
        estimator = self._template()
        if not isinstance(estimator, self._kind):
            raise TypeError(
                f"estimator must be a kernelwise.{self._kind.__name__}; got "
                f"{type(estimator).__name__}. For any other estimator, a Pipeline too, use "
                "sklearn.model_selection.GridSearchCV."
            )
        copied: SVC | SVR = clone(estimator)
        return copied

    def _grid(self, estimator: SVC | SVR, X: Any, y: Any) -> Any:
        if self.param_grid is not None:
            return self.param_grid
        checked, _ = clone(estimator)._reader().check(X, y)
        return default_grid(estimator, checked)

    def _threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    def _folds(self, X: Any, y: Any, params: dict[str, Any]) -> list[tuple[Index, Index]]:
        splitter = check_cv(self.cv, y, classifier=is_classifier(self._template()))
        self.n_splits_ = splitter.get_n_splits(X, y, **params)
        folds = [(_places(train), _places(test)) for train, test in splitter.split(X, y, **params)]
        if len(folds) != self.n_splits_:
            raise ValueError(
                f"cv.split and cv.get_n_splits return inconsistent results. Expected "
                f"{self.n_splits_} splits, got {len(folds)}"
            )
        return folds

    def _evaluate(
        self, plan: SearchPlan, folds: list[tuple[Index, Index]], evaluator: Evaluator, root: Any
    ) -> list[dict[str, Any]]:
        """Return one result per candidate and fold, candidate by candidate."""
        n_candidates, n_splits = len(plan.params), len(folds)
        if n_candidates * n_splits == 0:
            raise ValueError(
                "No fits were performed: param_grid or cv is empty; give at least one of each."
            )
        if self.verbose > 0:
            print(
                f"Fitting {n_splits} folds for each of {n_candidates} candidates,"
                f" totalling {n_candidates * n_splits} fits"
            )
        with single_blas():
            tasks = evaluator.prepare(plan.groups, folds)
            _raise_if_hopeless(plan, tasks, evaluator.settings)
            outcomes = self._run(tasks, evaluator, root)
        results = {}
        for number, (_, text) in plan.errors.items():
            for fold, (_, test) in enumerate(folds):
                results[number, fold] = failed(evaluator.settings, text, len(test))
        for outcome in outcomes:
            results.update(outcome.results)
        out = [results[c, fold] for c in range(n_candidates) for fold in range(n_splits)]
        raise_or_warn_of_failures(out, self.error_score)
        if callable(self.scoring):
            fill_failed_scores(out, self.error_score)
        self._warn_unless_converged(outcomes)
        return out

    def _run(self, tasks: list[Task], evaluator: Evaluator, root: Any) -> list[TaskOutcome]:
        context = root.subcontext(
            task_name="search", max_subtasks=len(tasks), sequential_subtasks=False
        ).call_on_fit_task_begin(estimator=self)
        contexts = [
            context.subcontext(task_name="kernel-split-evaluation", task_id=number)
            for number in range(len(tasks))
        ]

        def evaluate(task: Task, own: Any) -> TaskOutcome:
            own.call_on_fit_task_begin(estimator=self)
            try:
                return evaluator.run(task)
            finally:
                own.call_on_fit_task_end(estimator=self)

        # Threads: the compiled code runs without the lock, and processes would copy the kernels.
        outcomes: list[TaskOutcome] = []
        with Parallel(n_jobs=self.n_jobs, require="sharedmem") as parallel:
            for batch in evaluator.batches(tasks):
                begun = len(outcomes)
                own = contexts[begun : begun + len(batch)]
                outcomes += parallel(
                    delayed(evaluate)(task, each) for task, each in zip(batch, own, strict=True)
                )
        context.call_on_fit_task_end(estimator=self)
        return outcomes

    def _warn_unless_converged(self, outcomes: list[TaskOutcome]) -> None:
        failures = [violation for outcome in outcomes for violation in outcome.failures]
        if failures:
            warnings.warn(
                f"{len(failures)} of {sum(each.n_solves for each in outcomes)} solves did not "
                f"converge: the largest KKT violation is {max(failures):.3g} (the tolerance is "
                f"tol={self._template().tol:g}). Their scores are of models that are usable but "
                "not optimal. Scale the columns, for instance with StandardScaler, leave out the "
                "largest C, or raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=6,
            )

    def _choose(self, plan: SearchPlan, out: list[dict[str, Any]], refit_metric: Any) -> None:
        """Set the results and the best candidate."""
        results = self._format_results(plan.params, self.n_splits_, out)
        first = out[0]["test_scores"]
        self.multimetric_ = isinstance(first, dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(first)
            refit_metric = self.refit
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]
        self.cv_results_ = results

    def _refit(
        self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any], root: Any, about: Any
    ) -> None:
        best = clone(estimator).set_params(**clone(self.best_params_, safe=False))
        context = root.subcontext(task_name="refit-with-best-params")
        with context.propagate_callback_context(best):
            context.call_on_fit_task_begin(estimator=self, **about)
            begin = time.time()
            self.best_estimator_ = best.fit(X, y, **fit_params)
            self.refit_time_ = time.time() - begin
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
        context.call_on_fit_task_end(estimator=self, **about)


class SVRSearchCV(SVCSearchCV):
    """Grid search over the parameters of an `SVR`, a drop-in for scikit-learn's ``GridSearchCV``.

    The same splits, scores and best parameters as ``GridSearchCV(SVR(), param_grid)``, by the same
    means as those of `SVCSearchCV`.

    Parameters
    ----------
    estimator : SVR, default=None
        The estimator to fit, with the parameters that are not searched; None is ``SVR()``.
    param_grid : dict or list of dicts, default=None
        Values by name; any parameter of `SVR`. None is 7 values of C and 7 multiples of the
        estimator's gamma.
    scoring : str, callable, list, tuple or dict, default=None
        The score; None is R2.
    n_jobs : int, default=None
        Threads, each with one kernel and fold at a time; None is one.
    refit : bool, str or callable, default=True
        Whether to fit the best parameters on all rows; with several scores, by which of them; or
        a function from ``cv_results_`` to the best index.
    cv : int, cross-validation generator or iterable, default=None
        The splits; None is 5 folds.
    verbose : int, default=0
        1 prints the number of fits, 2 a line per fit, 3 its score, too.
    error_score : "raise" or float, default=numpy.nan
        The score of a fit that fails, or "raise".
    return_train_score : bool, default=False
        Whether to score the training part of each split as well.

    See Also
    --------
    SVCSearchCV : The same for classes; it lists the attributes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from kernelwise.svm import SVR, SVRSearchCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"C": [1.0, 100.0], "epsilon": [1.0, 10.0], "gamma": [0.001, 0.01]}
    >>> SVRSearchCV(SVR(), grid).fit(scale(X), y).best_params_
    {'C': 100.0, 'epsilon': 1.0, 'gamma': 0.01}
    """

    _kind = SVR


def _places(rows: Any) -> Index:
    """Return rows as numbers; splits may name them by a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _raise_if_hopeless(plan: SearchPlan, tasks: list[Task], settings: Settings) -> None:
    """Raise the error itself if no candidate can be fitted, or if ``error_score="raise"``."""
    errors = [error for error, _ in plan.errors.values()]
    errors += [task.error[0] for task in tasks if task.error is not None]
    hopeless = all(task.error is not None for task in tasks)
    if not errors or (settings.error_score != "raise" and not hopeless):
        return
    if settings.fit_params.get("sample_weight") is not None:
        raise ValueError(f"The fits with this sample_weight fail: {errors[0]}") from errors[0]
    raise errors[0]
