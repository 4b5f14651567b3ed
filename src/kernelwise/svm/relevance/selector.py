"""Selection of columns: by what they cost on held-out rows, or by a test with an error rate."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from ..._parameters import Interval, Options
from ..._sklearn import atomic_fit, check_sample_weight, checked_fit, safe_indexing
from ..._threads import n_threads, single_blas
from ..base.predictor import take
from ..base.task import Labels
from .columns.encoding import ColumnEncoding
from .columns.options import ColumnOptions
from .columns.table_input import check_table, check_training_table, column_names
from .fitting import Job, Kept, importances
from .losses import LogLoss, SquaredLoss
from .rows import ModelColumns, Rows
from .settings import Settings
from .table import sample_of
from .target import Target
from .testing import column_tests

_REWARD = 4.0  # nats of all held-out rows that fewer columns may cost; 0: noise stays


class RelevanceSelector(SelectorMixin, BaseEstimator):
    """Keep the columns that matter for the target, alone or together with others.

    Without ``test`` it walks along the path of `RelevanceSVC` or `RelevanceSVR`: columns are ranked
    and dropped as long as held-out rows lose next to nothing. With ``test`` it keeps what a test
    with an error rate finds.

    Parameters
    ----------
    max_features : int, default=None
        The most columns, or groups of columns, that are kept; None lets held-out rows decide.
    test : {"fdr", "fwer"}, default=None
        Keep the columns that a test finds, and bound an error rate by ``alpha``: the expected
        share of false columns among the kept ones ("fdr", by Benjamini and Hochberg) or the
        probability of any ("fwer", by Holm).
    alpha : float, default=0.1
        The bound of the error rate of ``test``.
    task : {"auto", "classification", "regression"}, default="auto"
        What y holds: classes or numbers. "auto" takes words, flags and whole numbers as classes,
        and other numbers as numbers.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Which columns are categories; see `RelevanceSVC`.
    feature_groups : array-like, default=None
        Columns that are kept or dropped together: lists of names or numbers, or one label per
        column.
    n_jobs : int, default=None
        Threads; None is one. They do not change the result.
    random_state : int, RandomState instance or None, default=0
        Deals folds, and picks rows if there are more than a step needs.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The share of each column in the prior variance of the target; they sum to one.
    selected_features_ : ndarray of bool of shape (n_features,)
        Which columns are kept.
    pvalues_ : ndarray of shape (n_features,)
        The p-value of each column, before it is adjusted for their number; with ``test`` only.
    tests_ : ColumnTests
        Its parts: the p-values of what a column says alone and together with others; with ``test``
        only.
    columns_ : ColumnEncoding
        How the columns of X become numbers and codes while learning.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the columns, if X has names.

    See Also
    --------
    RelevanceSVC : The classifier.
    RelevanceSVR : The same for numbers.
    kernelwise.app.inspection.relevance_test : The test as a table.

    Notes
    -----
    Without ``test`` columns go if that costs less than 4 nats of the log likelihood of all held-out
    rows, however many there are, and nothing goes unless these are decided better than by the
    shares of the classes, or the mean. Among columns that say the same, some may go.

    The test asks whether a column explains anything beyond the others: it is the score test of its
    variance under the learned prior. Numbers whose normal scores correlate by more than 0.75 do not
    count as others, so that copies of a relevant column are all kept, noisy ones too.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.transform import RelevanceSelector
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> y = X[:, 2] * X[:, 7] > 0  # neither says anything alone
    >>> RelevanceSelector().fit(X, y).get_feature_names_out()
    array(['x2', 'x7'], dtype=object)
    """

    _settings: ClassVar[Settings] = Settings()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "test": [Options({"fdr", "fwer"}), None],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "task": [Options({"auto", "classification", "regression"})],
        "categorical_features": [Options({"from_dtype"}), "array-like", None],
        "feature_groups": ["array-like", None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        max_features: int | None = None,
        test: str | None = None,
        alpha: float = 0.1,
        task: str = "auto",
        categorical_features: Any = "from_dtype",
        feature_groups: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.max_features = max_features
        self.test = test
        self.alpha = alpha
        self.task = task
        self.categorical_features = categorical_features
        self.feature_groups = feature_groups
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    @atomic_fit
    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RelevanceSelector:
        """Learn which columns matter.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The training rows: numbers and categories, with gaps.
        y : array-like of shape (n_samples,)
            The classes or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight zero count as absent.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        if self.max_features is not None and self.test is not None:
            raise ValueError("max_features and test both decide what is kept; give one of them.")
        with single_blas():
            rows, loss = self._read(X, y, sample_weight)
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            rng = np.random.default_rng(int(seed))
            if self.test is None:
                self._walk(rows, loss, rng)
            else:
                threads = n_threads(self.n_jobs)
                tests = column_tests(rows, loss.targets, rng, self._settings, threads)
                self.tests_ = tests
                self.feature_importances_, self.pvalues_ = tests.shares, tests.pvalues
                self.selected_features_ = tests.adjusted(self.test) <= self.alpha
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, LogLoss | SquaredLoss]:
        """Return at most a sample of the rows, and their loss."""
        X, y = check_training_table(self, X, y)
        weight = check_sample_weight(sample_weight, X.shape[0], ensure_non_negative=True)
        settings = self._settings
        if _is_number(y, self.task):
            rows = np.flatnonzero(weight)
            some = rows[sample_of(np.zeros(len(rows), dtype=np.intp), settings.sample)[0]]
            own = weight[some] / min(1.0, float(weight[some].mean()))
            target = np.asarray(y[some], dtype=np.float64)
            loss: LogLoss | SquaredLoss = SquaredLoss(
                target, tuple(Target.all(target, own)), own, settings
            )
        else:
            labels = Labels.of(y, weight, None)
            chosen, stands_for = sample_of(labels.classes, settings.sample)
            some = labels.rows[chosen]
            own = weight[some] / min(1.0, float(weight[some].mean())) * stands_for
            loss = LogLoss(labels.classes[chosen], len(labels.names), own, settings)
        few = X if len(some) == X.shape[0] else take(X, some)
        options = ColumnOptions.of(self)
        self.columns_ = ColumnEncoding.of(few, column_names(self), own, options)
        E = self.columns_.apply(few)
        return ModelColumns.of(self.columns_, E, own, settings).rows(E, own), loss

    def _walk(self, rows: Rows, loss: LogLoss | SquaredLoss, rng: np.random.Generator) -> None:
        """Keep the columns of the stage of the path that does best on held-out rows."""
        settings = replace(self._settings, nats=-_REWARD)
        threads = n_threads(self.n_jobs)
        path = Job(rows, None, self.max_features, rng, settings, threads, lambda text: None).walk(
            loss
        )
        best = int(np.argmax(path.weights))
        weights = (np.arange(len(path.sizes)) == best).astype(float)
        path = replace(path, weights=weights, finals={best: path.finals[best]})
        kept = Kept.of(rows, path.finals).sources
        self.feature_importances_ = importances(path, rows.columns)
        self.selected_features_ = np.isin(np.arange(self.n_features_in_), kept)

    def transform(self, X: Any) -> Any:
        """Keep the columns that matter.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The rows; missing values and categories stay as they are.

        Returns
        -------
        kept : ndarray or data frame of shape (n_samples, n_selected_features)
            The columns that are kept: a data frame if X is one.
        """
        check_is_fitted(self)
        return safe_indexing(check_table(self, X), np.flatnonzero(self.get_support()), axis=1)

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.selected_features_


def _is_number(y: Any, task: str) -> bool:
    """Return whether the target is a number, not a class."""
    if task == "auto":
        return bool(type_of_target(column_or_1d(y)) == "continuous")
    return task == "regression"
