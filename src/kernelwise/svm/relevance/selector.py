"""Selection of the columns that matter, by the weights that RelevanceSVC learns."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..._memory import allowance
from ..._parameters import Interval, Options
from ..._sklearn import atomic_fit, check_sample_weight, checked_fit, safe_indexing
from ..._threads import n_threads, single_blas
from ..._typing import Array, Index
from ...qp import SMO
from ..base.multiclass import one_vs_rest
from ..base.older_models import with_all_parameters
from ..base.predictor import take
from ..paths.rows import TrainingRows
from .column_options import ColumnOptions
from .columns import ColumnEncoding
from .members import (
    KERNELS,
    UsedColumns,
    has_equal_share,
    kernel_names,
    learn_kernels,
    shares_of,
    weight_sources,
)
from .parts.hinge import HingeSettings
from .parts.rows import copy_weight
from .raw_columns import is_frame
from .table_input import check_table, check_training_table, column_names
from .testing import ColumnTests, column_tests


class RelevanceSelector(SelectorMixin, BaseEstimator):
    """Keep the columns that matter for the classes, alone or together with others.

    The weights are those that `RelevanceSVC` learns; its machines are not fitted.

    Parameters
    ----------
    max_features : int, default=None
        Keep as many columns, those of the largest weights. None keeps those with at least an
        equal share of the weight, or those that ``test`` selects.
    test : {"fdr", "fwer"}, default=None
        Keep the columns that help machines on rows they have not seen, and bound an error rate by
        ``alpha``: the expected share of false columns among the kept ones ("fdr", by Benjamini
        and Hochberg) or the probability of any ("fwer", by Holm). It takes three to five times
        as long.
    alpha : float, default=0.1
        The bound of the error rate of ``test``.
    ensemble : bool, default=True
        Whether three sources of weights count: the radius-margin bound with the Laplacian and with
        the RBF kernel, and the energy distance of the classes along each column. False is the
        bound with one kernel.
    kernel : {"laplacian", "rbf"}, default="laplacian"
        The kernel where there is one.
    standardize : bool, default=True
        Whether the columns are brought to one scale first.
    missing : {"impute", "error"}, default="impute"
        How missing values are treated while learning: filled in as by `RelevanceSVC`, or as an
        error. Those in columns that are kept stay.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Which columns are categories; see `RelevanceSVC`.
    feature_groups : array-like, default=None
        Columns that share one weight: lists of names or numbers, or one label per column.
    max_iter : int, default=15
        Most evaluations of the bound for each kernel.
    max_rows : int, default=1000
        Most rows from which weights are learned, picked at random, each class its part.
    tol : float, default=1e-3
        The tolerance of the machines, in units of the margin.
    n_jobs : int, default=None
        Threads; None is one.
    random_state : int, RandomState instance or None, default=0
        Picks rows where there are too many.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The weights, times the spread of their columns; they sum to one.
    selected_features_ : ndarray of shape (n_features,)
        Which columns are kept.
    pvalues_ : ndarray of shape (n_features,)
        The p-value of each column, before it is adjusted for their number; with ``test`` only.
    scores_ : ndarray of shape (n_features,)
        The statistic of each column: its mean gain over the standard error; with ``test`` only.
    columns_ : ColumnEncoding
        How the columns of X become numbers and codes while learning.
    n_iter_ : int
        The evaluations of the bound.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the columns, where X has such names.

    See Also
    --------
    RelevanceSVC : The classifier.
    kernelwise.app.inspection.relevance_test : The test as a table.

    Notes
    -----
    An equal share is a cut through a ranking, not a test: without any relevant column
    some are kept all the same. Among columns that say the same, some may be left out.

    With ``test``, machines are fitted to the rows outside each of three folds, everything chosen
    anew, and asked how much worse they decide the rows of the fold when a column is averaged out.
    For a column that is independent of the classes and of all other columns each fold's test is
    valid for many rows; that the folds share rows is met by doubling the p-values. An irrelevant
    column that is correlated with a relevant one may well be kept. A model for prediction is
    usually better on the columns with an equal share than on those that pass the test.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.transform import RelevanceSelector
    >>> X = np.random.default_rng(0).normal(size=(300, 10))
    >>> y = X[:, 2] * X[:, 7] > 0  # neither says anything alone
    >>> RelevanceSelector().fit(X, y).get_feature_names_out()
    array(['x2', 'x7'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "test": [Options({"fdr", "fwer"}), None],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "ensemble": ["boolean"],
        "kernel": [Options(set(KERNELS))],
        "standardize": ["boolean"],
        "missing": [Options({"error", "impute"})],
        "categorical_features": [Options({"from_dtype"}), "array-like", None],
        "feature_groups": ["array-like", None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_rows": [Interval(Integral, 10, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        max_features: int | None = None,
        test: str | None = None,
        alpha: float = 0.1,
        ensemble: bool = True,
        kernel: str = "laplacian",
        standardize: bool = True,
        missing: str = "impute",
        categorical_features: Any = "from_dtype",
        feature_groups: Any = None,
        max_iter: int = 15,
        max_rows: int = 1000,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.max_features = max_features
        self.test = test
        self.alpha = alpha
        self.ensemble = ensemble
        self.kernel = kernel
        self.standardize = standardize
        self.missing = missing
        self.categorical_features = categorical_features
        self.feature_groups = feature_groups
        self.max_iter = max_iter
        self.max_rows = max_rows
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(with_all_parameters(type(self), state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing == "impute"
        tags.input_tags.string = True
        return tags

    @atomic_fit
    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RelevanceSelector:
        """Learn which columns matter.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight zero count as absent.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        X, y = check_training_table(self, X, y)
        d = X.shape[1]
        if self.max_features is not None and self.max_features > d:
            raise ValueError(f"max_features={self.max_features} is more than the {d} columns of X.")
        if self.max_features is not None and self.test is not None:
            raise ValueError("max_features and test both decide what is kept; give one of them.")
        counts = check_sample_weight(sample_weight, X.shape[0], ensure_non_negative=True)
        counted = np.flatnonzero(counts > 0)
        classes = _classes_of(y[counted])
        table = self._table(take(X, counted), classes, counts[counted])
        shares = self._shares(table)
        self.feature_importances_ = shares / shares.sum()
        self.selected_features_ = has_equal_share(shares)
        if self.test is not None:
            tests = self._tests(table)
            self.pvalues_, self.scores_ = tests.pvalues, tests.statistic
            self.selected_features_ = tests.adjusted(self.test) <= self.alpha
        if self.max_features is not None:
            largest = np.argsort(-shares, kind="stable")[: self.max_features]
            self.selected_features_ = np.isin(np.arange(d), largest)
        return self

    def _table(self, X: Any, classes: Index, sample_weight: Array) -> TrainingRows:
        """Return the distinct rows, their columns encoded."""
        options = ColumnOptions.of(self)
        self.columns_ = encoding = ColumnEncoding.of(X, column_names(self), sample_weight, options)
        n_classes = int(classes.max()) + 1
        codes = one_vs_rest(classes, n_classes)
        return TrainingRows.of_table(
            encoding.apply(X), codes, classes, sample_weight, np.ones(n_classes)
        )

    def _tests(self, table: TrainingRows) -> ColumnTests:
        """Test each column on rows that the machines have not seen."""
        settings = HingeSettings(
            kernel=self.kernel,
            ensemble=self.ensemble,
            standardize=self.standardize,
            max_iter=self.max_iter,
            weight_rows=self.max_rows,
            path_rows=self.max_rows,
            copy_weight=copy_weight(table.sample_weight),
            solver=SMO(tol=self.tol, memory=allowance(None), budget=0.0),
            threads=n_threads(self.n_jobs),
        )
        random_state = check_random_state(self.random_state)
        with single_blas():
            return column_tests(table, self.columns_.layout, settings, random_state)

    def _shares(self, table: TrainingRows) -> Array:
        """Return how much each column adds to a distance; an equal share is one."""
        random_state, layout = check_random_state(self.random_state), self.columns_.layout
        with single_blas():
            columns = UsedColumns.of(table, layout, self.standardize)
            rows = table.scaled(columns.scaling).sample(self.max_rows, random_state)
            learned = learn_kernels(
                kernel_names(self.kernel, self.ensemble, len(table), layout),
                rows,
                columns,
                SMO(tol=self.tol, memory=allowance(None)),
                max_evaluations=self.max_iter,
                random_state=random_state,
                threads=n_threads(self.n_jobs),
            )
            sources = weight_sources(learned, rows, columns, self.ensemble)
        self.n_iter_ = sum(each.minimum.n_evaluations for each in learned.values())
        return shares_of(sources, columns)

    def transform(self, X: Any) -> Any:
        """Keep the columns that matter.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The rows; missing values and categories stay as they are.

        Returns
        -------
        kept : ndarray or data frame of shape (n_samples, n_selected_features)
            The columns that are kept: a data frame if X is one that has categories, or by
            `set_output`; else an array.
        """
        check_is_fitted(self)
        if not hasattr(self, "columns_"):  # a model of an older version
            return super().transform(X)
        X = check_table(self, X)
        if self.missing == "error":
            self.columns_.apply(X)  # an error, where a value is missing
        kept = np.flatnonzero(self._get_support_mask())
        if is_frame(X) and not self.columns_.categories and not _keeps_frames(self):
            return self.columns_.numbers(X)[:, kept]
        return safe_indexing(X, kept, axis=1)

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.selected_features_


def _keeps_frames(selector: Any) -> bool:
    """Return whether the output is configured to be a data frame."""
    configured = getattr(selector, "_sklearn_output_config", {}).get("transform")
    return (configured or get_config()["transform_output"]) != "default"


def _classes_of(y: Any) -> Index:
    """Return the number of each row's class."""
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    labels, classes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise ValueError(
            "The number of classes has to be greater than one; got "
            f"{len(labels)} class among the samples of positive weight."
        )
    return classes
