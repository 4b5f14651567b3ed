"""RelevanceSVR: regression without tuning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array

from ..._sklearn import check_sample_weight, checked_fit, unfitted
from ..._threads import single_blas
from ..._typing import Array, Index
from ..base.progress import FitProgress
from ..base.task import group_numbers
from .base import BaseRelevance, column_attributes
from .columns.table_input import check_training_columns
from .losses import SquaredLoss
from .number_model import NumberEnsemble, NumberFit, ensemble_of, fit_number
from .table import NumberTargets, Table, TableInMemory, Whole, sample_of
from .target import Target

_MIN_ROWS = 3  # one for each fold


class RelevanceSVR(RegressorMixin, BaseRelevance):
    """Regression without tuning, which learns which columns matter.

    One prior, additive effects of the columns and a Gaussian process with one weight per column,
    is learned from the training rows by its evidence. Columns are dropped along a path, and
    held-out rows choose how many are kept. A power of the target is tried beside it if that makes
    it more normal. Intervals and quantiles come from left-out residuals. A target that was never
    negative has no negative predictions, quantiles or ends.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Which columns are categories, by their types, a mask, numbers or names. By types they are
        the columns of words of a table, and those of a type for categories. None means none. A
        category has one weight, whatever the number of its levels.
    columns : {"auto", "as is"}, default="auto"
        How columns of a data frame are read. "auto" reads dates as year, month, day of the week,
        hour and days, text of several words as 30 numbers with one weight, and words such as
        "$1,200" as numbers, and leaves out columns that name rows, such as row numbers. "as is"
        takes words for categories and dates for days.
    feature_groups : array-like, default=None
        Columns that share one weight and are kept or dropped together: lists of names or numbers,
        or one label per column.
    max_features : int, default=None
        The most columns, or groups of columns, that are kept; None lets held-out rows decide.
    effort : int, default=1
        The number of models, each from other folds and rows, whose predictions are averaged. The
        time of a fit grows in proportion.
    max_time : float, default=None
        Seconds after which no further model is begun; the first one is always finished.
    n_jobs : int, default=None
        Threads; None is one. They do not change the result.
    verbose : bool or "auto", default="auto"
        Whether to print a line per step. "auto" shows the running step once the fit has taken two
        seconds, on a terminal alone.
    random_state : int, RandomState instance or None, default=0
        Deals folds, and picks rows if there are more than a step needs.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The share of each column in the prior variance of the target; they sum to one. Zero for
        columns that were dropped. With several targets the mean over them.
    selected_features_ : ndarray of bool of shape (n_features,)
        The columns that the model reads. `predict` takes data frames without the others.
    path_ : dict of ndarray
        The stages that were tried, for ``pandas.DataFrame(model.path_)``: "member", "n_features"
        (the number of columns or groups), "loss" (mean squared error on held-out rows; NaN for
        stages that were not scored) and "weight" (zero for stages that are not part of the model).
        With several targets, members are those of each target in turn.
    loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The prediction of each training row by models that did not have it; NaN for rows of weight
        zero and, in tables of more than 50,000 rows, for those outside the sample that the mixture
        is chosen on.
    columns_ : ColumnEncoding
        How the columns that the model reads become numbers and codes;
        ``pandas.DataFrame(model.columns_.table())`` says what each is read as.
    n_features_in_ : int
        The number of columns of the training table.
    shape_fit_ : tuple of int
        The numbers of rows and columns of the training table.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table has names.

    See Also
    --------
    RelevanceSVC : The same for classes.
    RelevanceSelector : Keeps the columns that matter.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise import RelevanceSVR
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(200, 8))
    >>> y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=200)
    >>> model = RelevanceSVR().fit(X, y)
    >>> np.flatnonzero(model.selected_features_)
    array([0, 1])
    >>> low, high = model.predict_interval(X, confidence_level=0.9)
    >>> bool(np.mean((low <= y) & (y <= high)) > 0.8)
    True
    """

    def __init__(
        self,
        *,
        categorical_features: Any = "from_dtype",
        columns: str = "auto",
        feature_groups: Any = None,
        max_features: int | None = None,
        effort: int = 1,
        max_time: float | None = None,
        n_jobs: int | None = None,
        verbose: bool | str = "auto",
        random_state: Any = 0,
    ) -> None:
        self.categorical_features = categorical_features
        self.columns = columns
        self.feature_groups = feature_groups
        self.max_features = max_features
        self.effort = effort
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> RelevanceSVR:
        """Learn the prior, the models of its stages and their mixture.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The training rows: numbers and categories, with gaps.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The target, or several.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a row of weight two counts twice in every loss. Rows of
            weight zero count as absent.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows that belong together, such as the visits of one patient. Rows of a
            group are held out together, so that no row is scored by a model that knows others of
            its group.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        draft, progress = unfitted(self), FitProgress.of(self)
        with single_blas():
            X = check_training_columns(draft, X, y)
            Y = _checked_target(draft, y, X.shape[0])
            weight = check_sample_weight(sample_weight, X.shape[0], ensure_non_negative=True)
            own = np.flatnonzero(weight)
            of_row = None if groups is None else group_numbers(groups, X.shape[0], own)
            table = TableInMemory(X, Y, weight)
            attributes = draft._fit_table(table, of_row, np.asarray(y).ndim == 1, progress)
        progress.end()
        self.__dict__ = vars(draft) | attributes
        return self

    def _fit_table(
        self, table: Table, groups: Index | None, is_flat: bool, progress: FitProgress
    ) -> dict[str, Any]:
        """Fit the members to a table, of which they read a sample; return the attributes."""
        numbers = np.flatnonzero(table.weight)
        own, _ = sample_of(np.zeros(len(numbers), dtype=np.intp), self._settings.sample)
        some = numbers[own]
        factor = min(1.0, float(table.weight[numbers].mean()))
        weights = table.weight[numbers] / factor
        rows = self._read(table, some, weights[own])
        of_row = None if groups is None else groups[own]
        progress.begin(None)

        def fit_one(j: int) -> list[NumberFit]:
            transforms = tuple(Target.all(table.y[numbers, j], weights))
            loss = SquaredLoss(table.y[some, j], transforms, weights[own], self._settings)
            targets = NumberTargets(transforms, j, factor)
            whole = Whole(table, some, targets) if len(some) < len(numbers) else None
            found: list[NumberFit] = self._members(
                lambda seed: fit_number(self._job(rows, of_row, progress, seed, whole), loss)
            )
            return found

        fits = [fit_one(j) for j in range(table.y.shape[1])]
        shape = len(table.weight), self.n_features_in_
        floors = np.where(table.y[numbers].min(axis=0) >= 0, 0.0, -np.inf)
        found = _attributes(rows.columns, fits, some, table.y, floors)
        if is_flat:
            found["loo_predictions_"] = found["loo_predictions_"][:, 0]
        return found | {"shape_fit_": shape, "_is_flat_": is_flat}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    # --- Predict --------------------------------------------------------------------------

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the target.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Whether to return the standard deviation of the errors, too.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The means of the target.
        std : ndarray of the same shape
            The local deviation times the root mean square of the left-out residuals in units of
            it. Only if asked for.
        """
        if not return_std:
            return self._answers(X, NumberEnsemble.predict)
        found = self._answers(X, NumberEnsemble.with_deviation)
        return found[..., 0], found[..., 1]

    def predict_interval(self, X: Any, confidence_level: float = 0.9) -> tuple[Array, Array]:
        """Return intervals that have the target at a confidence level.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The rows.
        confidence_level : float, default=0.9
            The share of rows whose interval is to have their target, between 0 and 1.

        Returns
        -------
        low, high : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The ends: the prediction plus quantiles of left-out residuals, in units of the local
            deviation. A target that was never negative has no negative ends.
        """
        if not 0 < confidence_level < 1:
            raise ValueError(f"confidence_level must be between 0 and 1; got {confidence_level!r}.")
        found = self._answers(X, lambda model, E: model.interval(E, confidence_level))
        return found[..., 0], found[..., 1]

    def predict_quantile(self, X: Any, q: Any) -> Array:
        """Return quantiles of the target, which never cross.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The rows.
        q : float or array-like of shape (n_quantiles,)
            The shares of targets that are to lie below, between 0 and 1.

        Returns
        -------
        quantiles : ndarray of shape (n_samples[, n_targets][, n_quantiles])
            The prediction plus quantiles of left-out residuals, in units of the local deviation.
            The axis of targets is absent if `y` had one dimension, that of quantiles if `q` is a
            number.
        """
        shares = np.asarray(q, dtype=np.float64)
        if shares.ndim > 1 or not shares.size or not ((shares > 0) & (shares < 1)).all():
            raise ValueError(f"q must be one or several numbers between 0 and 1; got {q!r}.")
        found = self._answers(X, lambda model, E: model.quantiles(E, np.atleast_1d(shares)))
        return found if shares.ndim else found[..., 0]

    def _answers(self, X: Any, answer: Callable[[NumberEnsemble, Array], Array]) -> Array:
        """Return what the model of each target answers, side by side if there are several."""
        E = self._encoded(X)
        with single_blas():
            found = [
                self._by_blocks(E, lambda block: answer(model, block))  # noqa: B023
                for model in self._models_
            ]
        return found[0] if self._is_flat_ else np.stack(found, axis=1)


def _checked_target(estimator: Any, y: Any, n_rows: int) -> Array:
    """Return the targets as numbers, of shape (n, k)."""
    Y: Array = check_array(
        y, dtype=np.float64, ensure_2d=False, input_name="y", estimator=estimator
    )
    Y = Y[:, None] if Y.ndim == 1 else Y
    if n_rows < _MIN_ROWS:
        raise ValueError(
            f"Found array with n_samples = {n_rows}, while a minimum of {_MIN_ROWS} is required."
        )
    if Y.shape[0] != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {Y.shape[0]}]"
        )
    return Y


def _attributes(
    columns: Any, fits: list[list[NumberFit]], own: Index, Y: Array, floors: Array
) -> dict[str, Any]:
    """Return the fitted attributes."""
    every = [fit for of_target in fits for fit in of_target]
    sources = np.unique(np.concatenate([fit.sources for fit in every]))
    encoding = columns.encoding.part(sources)
    out = np.full(Y.shape, np.nan)
    models = []
    for j, of_target in enumerate(fits):
        at = [encoding.columns_of(np.searchsorted(sources, fit.sources)) for fit in of_target]
        model, out[own, j] = ensemble_of(of_target, at, Y[own, j], float(floors[j]))
        models.append(model)
    return column_attributes(columns, every, sources) | {
        "columns_": encoding,
        "loo_predictions_": out,
        "_models_": tuple(models),
    }
