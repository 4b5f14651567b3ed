"""RelevanceSVC and RelevanceSVR for tables whose rows stay on a cluster of Dask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import check_is_fitted, validate_data

from .._sklearn import check_sample_weight, checked_fit, unfitted
from .._threads import single_blas
from .._typing import Array
from ..svm.base.progress import FitProgress
from ..svm.base.task import Labels, group_numbers
from ..svm.relevance.base import BaseRelevance
from ..svm.relevance.classifier import RelevanceSVC
from ..svm.relevance.regressor import RelevanceSVR
from .partitions import Partition, check_collection, in_whole_rows, is_array, is_lazy, partitions_of
from .table import TableOnCluster
from .tasks import Shared


@dataclass(frozen=True)
class Prediction:
    """What a method of a model returns for some rows."""

    method: str  # the name of the method
    arguments: tuple[Any, ...]  # its arguments behind the rows
    dtype: Any  # the type of its values
    names: Sequence[Any] | None  # the names of its columns; None if there is one value per row

    @property
    def empty(self) -> Any:
        """An empty result, of the right type and shape."""
        return np.empty((0,) if self.names is None else (0, len(self.names)), self.dtype)

    def of_array(self, X: Any, model: Shared) -> Any:
        """Return the values of the rows of an array."""
        return getattr(model.value, self.method)(X, *self.arguments) if len(X) else self.empty

    def of_frame(self, X: Any, model: Shared) -> Any:
        """Return the values of the rows of a data frame, with its index."""
        return self.with_index(self.of_array(X, model), X.index)

    def with_index(self, values: Any, index: Any) -> Any:
        """Return values as a series, or as a data frame with named columns."""
        import pandas as pd

        if self.names is None:
            return pd.Series(values, index=index, name=self.method)
        return pd.DataFrame(values, index=index, columns=list(self.names))

    def of_collection(self, X: Any, model: Any) -> Any:
        """Return the values of the rows of a collection, not computed yet."""
        node = Shared(model).as_node()
        if not is_array(X):
            meta = self.with_index(self.empty, X._meta.index[:0])
            return X.map_partitions(self.of_frame, model=node, meta=meta)
        X = in_whole_rows(X)
        shape: dict[str, Any] = {"drop_axis": 1}
        if self.names is not None:
            shape = {"chunks": (X.chunks[0], (len(self.names),))}
        return X.map_blocks(self.of_array, model=node, dtype=self.dtype, meta=self.empty, **shape)


Output = tuple[Any, Sequence[Any] | None]  # type of predictions, names of their columns


class OnCluster(BaseRelevance):
    """Lets an estimator take Dask collections; tables in memory are taken as before."""

    _local_class: ClassVar[Any]

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Fit the model to rows that stay in their partitions.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            The training rows: numbers and categories, with gaps. Unknown numbers of rows are
            counted. A table in memory is fitted in this process.
        y : dask.array.Array, dask.dataframe.Series or array-like of shape (n_samples,)
            The classes, or the target.
        sample_weight : the same as y, default=None
            Weights of the rows; rows of weight zero count as absent.
        groups : the same as y, default=None
            Groups of rows that are held out together.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if not is_lazy(X):
            return self._local_class.fit(self, X, y, sample_weight, groups)
        check_collection(X)
        draft, progress = unfitted(self), FitProgress.of(self)
        validate_data(draft, X if is_array(X) else X._meta, skip_check_array=True)
        with single_blas():
            partitions, known = partitions_of(X, y, sample_weight, groups)
            attributes = draft._fit_partitions(partitions, *known, progress)
        progress.end()
        self.__dict__ = vars(draft) | attributes
        return self

    def _fit_partitions(
        self,
        partitions: Sequence[Partition],
        y: Any,
        sample_weight: Any,
        groups: Any,
        progress: FitProgress,
    ) -> dict[str, Any]:
        """Fit to partitions, with the labels, weights and groups of all rows."""
        raise NotImplementedError

    def _output(self, method: str) -> Output:
        """Return what a method returns for each row."""
        raise NotImplementedError

    def to_local(self) -> Any:
        """Return the fitted model without Dask.

        Returns
        -------
        model : RelevanceSVC or RelevanceSVR
            A model that predicts, saves and loads in one process.
        """
        check_is_fitted(self)
        model = self._local_class(**self.get_params(deep=False))
        vars(model).update(vars(self))
        return model

    def _predictions(self, method: str, X: Any, *arguments: Any) -> Any:
        """Apply a method to rows in memory, or to those of each partition when they are needed."""
        check_is_fitted(self)
        if not is_lazy(X):
            return getattr(self._local_class, method)(self, X, *arguments)
        check_collection(X)
        model = self.to_local().set_params(n_jobs=None)
        return Prediction(method, arguments, *self._output(method)).of_collection(X, model)

    def _encoded(self, X: Any) -> Array:
        if is_lazy(X):
            raise TypeError(
                "This method takes rows in memory: apply that of to_local() to partitions, with "
                "map_partitions or map_blocks."
            )
        return super()._encoded(X)


class DaskRelevanceSVC(OnCluster, RelevanceSVC):
    """RelevanceSVC for Dask arrays and data frames.

    The rows stay on the workers: the client has the labels and weights of all rows, a sample of
    50,000 rows and the fitted cells. The model is that of `RelevanceSVC` in one process, however
    the rows are partitioned.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Which columns are categories, as in `RelevanceSVC`.
    columns : {"auto", "as is"}, default="auto"
        How columns of a data frame are read, as in `RelevanceSVC`.
    feature_groups : array-like, default=None
        Columns that share one weight and are kept or dropped together.
    max_features : int, default=None
        The most columns, or groups of columns, that are kept; None lets held-out rows decide.
    class_weight : dict or "balanced", default=None
        Weights of the classes, as in `RelevanceSVC`.
    effort : int, default=1
        The number of models whose log-odds are averaged.
    max_time : float, default=None
        Seconds after which no further model is begun; the first one is always finished.
    n_jobs : int, default=None
        Threads of the client; None is one. The cluster decides how many its workers have.
    verbose : bool or "auto", default="auto"
        Whether to print a line per step. "auto" shows the running step once the fit has taken two
        seconds, on a terminal alone.
    random_state : int, RandomState instance or None, default=0
        Deals folds, and picks rows if there are more than a step needs.

    See Also
    --------
    kernelwise.RelevanceSVC : The same in one process, with the same attributes.

    Notes
    -----
    Tasks run on the cluster of the current client of Dask, or on threads of this process if there
    is none. `predict`, `predict_proba`, `predict_log_proba`, `predict_set` and `decision_function`
    of a collection return one that is not computed yet: an array for an array, and for a data
    frame a series or a data frame with a column per class.

    Examples
    --------
    >>> import dask.array as da
    >>> from kernelwise.dask import DaskRelevanceSVC
    >>> X = da.random.default_rng(0).normal(size=(1500, 4), chunks=(500, 4))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> model = DaskRelevanceSVC().fit(X, y)
    >>> bool((model.predict(X) == y).mean().compute() > 0.95)
    True
    >>> model.to_local()
    RelevanceSVC()
    """

    _local_class = RelevanceSVC

    def _fit_partitions(
        self,
        partitions: Sequence[Partition],
        y: Any,
        sample_weight: Any,
        groups: Any,
        progress: FitProgress,
    ) -> dict[str, Any]:
        _, y = check_X_y(np.zeros((len(y), 1)), y, estimator=self)
        labels = Labels.of(y, sample_weight, self.class_weight)
        weight = np.zeros(len(y))
        weight[labels.rows] = labels.sample_weight
        of_row = None if groups is None else group_numbers(groups, len(y), labels.rows)
        table = TableOnCluster(partitions, y, weight)
        return self._fit_table(table, labels, of_row, progress)

    def _output(self, method: str) -> Output:
        if method == "predict":
            return self.classes_.dtype, None
        has_one = method == "decision_function" and len(self.classes_) == 2
        dtype = np.dtype(bool if method == "predict_set" else np.float64)
        return dtype, None if has_one else self.classes_.tolist()

    def decision_function(self, X: Any) -> Any:
        return self._predictions("decision_function", X)

    def predict(self, X: Any) -> Any:
        return self._predictions("predict", X)

    def predict_proba(self, X: Any) -> Any:
        return self._predictions("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        return self._predictions("predict_log_proba", X)

    def predict_set(self, X: Any, confidence_level: float = 0.9) -> Any:
        return self._predictions("predict_set", X, confidence_level)


class DaskRelevanceSVR(OnCluster, RelevanceSVR):
    """RelevanceSVR for Dask arrays and data frames.

    The rows stay on the workers: the client has the targets and weights of all rows, a sample of
    50,000 rows and the fitted cells. The model is that of `RelevanceSVR` in one process, however
    the rows are partitioned.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Which columns are categories, as in `RelevanceSVR`.
    columns : {"auto", "as is"}, default="auto"
        How columns of a data frame are read, as in `RelevanceSVC`.
    feature_groups : array-like, default=None
        Columns that share one weight and are kept or dropped together.
    max_features : int, default=None
        The most columns, or groups of columns, that are kept; None lets held-out rows decide.
    effort : int, default=1
        The number of models whose predictions are averaged.
    max_time : float, default=None
        Seconds after which no further model is begun; the first one is always finished.
    n_jobs : int, default=None
        Threads of the client; None is one. The cluster decides how many its workers have.
    verbose : bool or "auto", default="auto"
        Whether to print a line per step. "auto" shows the running step once the fit has taken two
        seconds, on a terminal alone.
    random_state : int, RandomState instance or None, default=0
        Deals folds, and picks rows if there are more than a step needs.

    See Also
    --------
    kernelwise.RelevanceSVR : The same in one process, with the same attributes.
    DaskRelevanceSVC : The same for classes.

    Notes
    -----
    `predict` of a collection returns one that is not computed yet. `predict_interval`,
    `predict_quantile` and `predict` with ``return_std=True`` take rows in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from kernelwise.dask import DaskRelevanceSVR
    >>> X = da.random.default_rng(0).normal(size=(600, 3), chunks=(200, 3))
    >>> y = X[:, 0] + da.sin(3 * X[:, 1])
    >>> model = DaskRelevanceSVR().fit(X, y)
    >>> bool(abs(model.predict(X) - y).mean().compute() < 0.1)
    True
    """

    _local_class = RelevanceSVR

    def _fit_partitions(
        self,
        partitions: Sequence[Partition],
        y: Any,
        sample_weight: Any,
        groups: Any,
        progress: FitProgress,
    ) -> dict[str, Any]:
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y", estimator=self)
        weight = check_sample_weight(sample_weight, len(y), ensure_non_negative=True)
        rows = np.flatnonzero(weight)
        of_row = None if groups is None else group_numbers(groups, len(y), rows)
        table = TableOnCluster(partitions, y.reshape(len(y), -1), weight)
        return self._fit_table(table, of_row, y.ndim == 1, progress)

    def _output(self, method: str) -> Output:
        return np.dtype(np.float64), None if self._is_flat_ else range(len(self._models_))

    def predict(self, X: Any, return_std: bool = False) -> Any:
        if return_std:
            return RelevanceSVR.predict(self, X, return_std=True)
        return self._predictions("predict", X)
