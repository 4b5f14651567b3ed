"""RelevanceSVC: classification without tuning."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from ..._parameters import Options
from ..._sklearn import checked_fit, unfitted
from ..._threads import single_blas
from ..._typing import Array, Index
from ...calibration.conformal import Conformity, class_scores
from ...calibration.scores import probabilities
from ..base.progress import FitProgress
from ..base.task import Labels, group_numbers
from .base import BaseRelevance, column_attributes
from .columns.table_input import check_training_table
from .fitting import ClassFit, ClassModel, fit_classes
from .losses import LogLoss
from .table import ClassTargets, Table, TableInMemory, Whole, sample_of


class RelevanceSVC(ClassifierMixin, BaseRelevance):
    """Classification without tuning, which learns which columns matter.

    One prior, additive effects of the columns and a Gaussian process with one weight per column,
    is learned from the training rows by its evidence. Columns are dropped along a path, and
    held-out rows choose how many are kept. Logistic models under the prior and support vector
    machines with its weights are mixed, which gives probabilities.

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
    class_weight : dict or "balanced", default=None
        Weights of the classes in all losses. `decision_function` and `predict` decide the
        weighted problem; `predict_proba` keeps the shares that the classes have in the table.
    effort : int, default=1
        The number of models, each from other folds and rows, whose log-odds are averaged. The
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
        The share of each column in the prior variance of the decisions; they sum to one. Zero for
        columns that were dropped.
    selected_features_ : ndarray of bool of shape (n_features,)
        The columns that the model reads. `predict` takes data frames without the others.
    path_ : dict of ndarray
        The stages that were tried, for ``pandas.DataFrame(model.path_)``: "member", "n_features"
        (the number of columns or groups), "loss" (log loss on held-out rows; NaN for stages that
        were given up) and "weight" (zero for stages that are not part of the model).
    parts_ : list of str
        The parts that are mixed, each with its number of columns, such as "joint 12".
    mixture_weights_ : ndarray of shape (n_parts,)
        The weight of each part in the log-odds; they sum to one.
    columns_ : ColumnEncoding
        How the columns that the model reads become numbers and codes;
        ``pandas.DataFrame(model.columns_.table())`` says what each is read as.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_weight_ : ndarray of shape (n_classes,)
        The weights of the classes.
    n_features_in_ : int
        The number of columns of the training table.
    shape_fit_ : tuple of int
        The numbers of rows and columns of the training table.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table has names.

    See Also
    --------
    RelevanceSVR : The same for numbers.
    RelevanceSelector : Keeps the columns that matter.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from kernelwise import RelevanceSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> X = np.hstack([X, np.random.default_rng(0).normal(size=(150, 16))])
    >>> model = RelevanceSVC().fit(X, y)
    >>> model.predict(X[:3]).tolist()
    [0, 0, 0]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRelevance._parameter_constraints,
        "class_weight": [Options({"balanced"}), dict, None],
    }

    def __init__(
        self,
        *,
        categorical_features: Any = "from_dtype",
        columns: str = "auto",
        feature_groups: Any = None,
        max_features: int | None = None,
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.effort = effort
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> RelevanceSVC:
        """Learn the prior, the parts and their mixture.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The training rows: numbers and categories, with gaps.
        y : array-like of shape (n_samples,)
            The classes.
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
            X, y = check_training_table(draft, X, y)
            labels = Labels.of(y, sample_weight, self.class_weight)
            of_row = None if groups is None else group_numbers(groups, len(y), labels.rows)
            weight = np.zeros(len(y))
            weight[labels.rows] = labels.sample_weight
            table = TableInMemory(X, y, weight)
            attributes = draft._fit_table(table, labels, of_row, progress)
        progress.end()
        self.__dict__ = vars(draft) | attributes
        return self

    def _fit_table(
        self, table: Table, labels: Labels, groups: Index | None, progress: FitProgress
    ) -> dict[str, Any]:
        """Fit the members to a table, of which they read a sample; return the attributes."""
        factor, names = min(1.0, float(labels.sample_weight.mean())), labels.names
        own, stands_for = sample_of(labels.classes, self._settings.sample)
        some = Labels(
            names,
            labels.rows[own],
            labels.classes[own],
            labels.sample_weight[own] / factor * stands_for,
            labels.class_weight,
        )
        whole = None
        if len(own) < len(labels.rows):
            units = names, labels.classes, labels.class_weight / factor, labels.sample_weight
            whole = Whole(table, some.rows, ClassTargets.of(*units))
        rows = self._read(table, some.rows, some.sample_weight)
        of_row = None if groups is None else groups[own]
        loss = LogLoss(some.classes, len(names), some.cost_factor, self._settings)
        progress.begin(None)
        fits: list[ClassFit] = self._members(
            lambda seed: fit_classes(self._job(rows, of_row, progress, seed, whole), loss)
        )
        shape = len(table.weight), self.n_features_in_
        return _attributes(self, rows.columns, fits, some) | {"shape_fit_": shape}

    # --- Predict --------------------------------------------------------------------------

    def _scores(self, X: Any) -> Array:
        """Return log-odds of the second of two classes, or one score per class."""
        return self._scores_of(self._encoded(X))

    def _scores_of(self, E: Array) -> Array:
        """Return the scores of rows that `columns_` has encoded."""
        with single_blas():
            return self._by_blocks(E, self._member_mean)

    def _member_mean(self, E: Array) -> Array:
        models: tuple[ClassModel, ...] = self._models_
        total = models[0].scores(models[0].columns.rows(E[:, models[0].encoded]))
        for model in models[1:]:
            total = total + model.scores(model.columns.rows(E[:, model.encoded]))
        mean: Array = total / len(models)
        return mean

    def decision_function(self, X: Any) -> Array:
        """Evaluate the log-odds of the classes.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the log-odds of the second; otherwise scores whose softmax are
            probabilities. With ``class_weight`` those of the weighted classes.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Any:
        """Predict classes.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes.
        """
        scores = self._scores(X)
        best = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[best.astype(np.intp)]

    def predict_proba(self, X: Any) -> Array:
        """Compute the probabilities of the classes.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        return probabilities(self._scores(X), self.class_weight_)

    def predict_log_proba(self, X: Any) -> Array:
        """Compute the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))

    def predict_set(self, X: Any, confidence_level: float = 0.9) -> Any:
        """Return the classes that each row may have at a confidence level.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The rows.
        confidence_level : float, default=0.9
            The share of rows whose set is to have their class, between 0 and 1.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Whether each class belongs to the set of the row, by how well held-out rows conform
            with their classes.
        """
        scores = class_scores(self._scores(X), None)
        return self._conformity_.sets(scores, confidence_level)


def _attributes(
    estimator: Any, columns: Any, fits: list[ClassFit], labels: Labels
) -> dict[str, Any]:
    """Return the fitted attributes."""
    sources = np.unique(np.concatenate([fit.model.sources for fit in fits]))
    encoding = columns.encoding.part(sources)
    models = []
    for fit in fits:
        own = encoding.columns_of(np.searchsorted(sources, fit.model.sources))
        models.append(replace(fit.model, encoded=own))
    weights = np.concatenate([model.mixture.weights for model in models]) / len(models)
    scores = class_scores(fits[0].scores, None)
    held = fits[0].held
    conformity = Conformity.of_classes(scores, labels.classes[held], labels.sample_weight[held])
    return column_attributes(columns, fits, sources) | {
        "classes_": labels.names,
        "class_weight_": labels.class_weight,
        "columns_": encoding,
        "parts_": [f"{part.name} {part.size}" for model in models for part in model.parts],
        "mixture_weights_": weights,
        "_models_": tuple(models),
        "_conformity_": conformity,
    }
