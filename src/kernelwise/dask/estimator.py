"""RelevanceSVC on tables of Dask, whose rows stay on the workers."""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import Any, ClassVar
from uuid import uuid4

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._parameters import HasMethods, Interval, check_parameters
from ..svm.base.progress import FitProgress
from ..svm.relevance.estimator import RelevanceSVC
from ..svm.relevance.limits import CELL_SIZE, N_TREES
from .cluster import Cluster, client_of
from .fitting import fit_on_cluster
from .partitions import partitions_of
from .prediction import predict_lazily
from .shared import Shared

# Parameters of a RelevanceSVC that cells have a use for.
_OF_CELLS = (
    "missing",
    "categorical_features",
    "feature_groups",
    "class_weight",
    "calibration",
    "cell_size",
    "n_trees",
    "max_time",
    "verbose",
)
# Attributes that describe a model, small whatever the number of its rows.
_SHARED = (
    "classes_",
    "class_weight_",
    "feature_importances_",
    "feature_names_in_",
    "feature_weights_",
    "mixture_weights_",
    "n_features_in_",
    "part_importances_",
    "parts_",
    "selected_features_",
    "shape_fit_",
)


class DaskRelevanceSVC(ClassifierMixin, BaseEstimator):
    """RelevanceSVC on dask arrays and data frames.

    The rows stay on the workers: the client sees samples of them, and the fitted cells. The result
    is that of ``RelevanceSVC(large="cells")`` in one process, however the rows are partitioned.

    Parameters
    ----------
    client : distributed.Client, default=None
        The client of the cluster; None is the current one.
    missing : {"impute", "error"}, default="impute"
        How missing values are treated, as in `RelevanceSVC`.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Which columns are categories, as in `RelevanceSVC`.
    feature_groups : array-like, default=None
        Columns that share one weight, as in `RelevanceSVC`.
    class_weight : dict or "balanced", default=None
        Weights of the classes, as in `RelevanceSVC`.
    calibration : {"halves", "loo"} or None, default="halves"
        How probabilities are calibrated, as in `RelevanceSVC`.
    cell_size : int, default=2000
        Most rows of a cell.
    n_trees : int, default=3
        The number of trees whose decisions are averaged.
    max_time : float, default=None
        Seconds after which a fit ends with the trees that it has, and warns. It is asked when a
        task is done.
    region_rows : int, default=50000
        Most rows, about, that one task fits. They must fit into the memory of a worker several
        times. They do not change the result.
    verbose : bool or "auto", default="auto"
        Whether to print a line per step. "auto" shows the running step on stderr once the fit has
        taken two seconds.
    random_state : int, RandomState instance or None, default=0
        Picks rows and trees.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_weight_ : ndarray of shape (n_classes,)
        The weights of the classes.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in the distance of two rows; they sum to one.
    feature_weights_ : ndarray of shape (n_features,)
        The same, of mean one over the columns that vary.
    selected_features_ : ndarray of shape (n_features,)
        Which features have at least an equal share.
    parts_ : list of str
        The parts that are mixed: "joint", "cells" or both.
    mixture_weights_ : ndarray of shape (n_parts,)
        The weight of each part in the log-odds.
    part_importances_ : ndarray of shape (n_parts, n_features)
        The share of each feature in each part.
    shape_fit_ : tuple of int
        The shape of the training rows.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the features, where X has such names.

    See Also
    --------
    kernelwise.RelevanceSVC : The same in one process; `to_local` returns one.

    Notes
    -----
    Samples are picked by the numbers of the rows in the whole table: the medians of columns, the
    weights and the joint part follow from at most 50,000 rows each, and levels of categories and
    weights of classes from all. Each tree has first levels from a sample as well; the regions
    behind them are gathered, one task each, and their cells are fitted by ascending row number.

    A task that is computed again, after the death of a worker, gives the same cells. Tables of up
    to 20,000 rows are fitted on the client.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kernelwise.dask import DaskRelevanceSVC
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     X = da.random.default_rng(0).normal(size=(3000, 4), chunks=(1000, 4))
    ...     y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ...     model = DaskRelevanceSVC().fit(X, y)
    ...     accuracy = (model.predict(X) == y).mean().compute()
    >>> bool(accuracy > 0.95)
    True
    >>> model.to_local()
    RelevanceSVC(large='cells')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "client": [HasMethods(["compute", "gather", "cancel"]), None],
        **{name: RelevanceSVC._parameter_constraints[name] for name in _OF_CELLS},
        "region_rows": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        client: Any = None,
        missing: str = "impute",
        categorical_features: Any = "from_dtype",
        feature_groups: Any = None,
        class_weight: Any = None,
        calibration: str | None = "halves",
        cell_size: int = CELL_SIZE,
        n_trees: int = N_TREES,
        max_time: float | None = None,
        region_rows: int = 50_000,
        verbose: bool | str = "auto",
        random_state: Any = 0,
    ) -> None:
        self.client = client
        self.missing = missing
        self.categorical_features = categorical_features
        self.feature_groups = feature_groups
        self.class_weight = class_weight
        self.calibration = calibration
        self.cell_size = cell_size
        self.n_trees = n_trees
        self.max_time = max_time
        self.region_rows = region_rows
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> DaskRelevanceSVC:
        """Fit the parts and their mixture, on the workers.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            The training rows: numbers and categories, with gaps.
        y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
            The classes, in the partitions of X.
        sample_weight : dask.array.Array or dask.dataframe.Series of shape (n_samples,), \
                default=None
            Weights of the rows; rows of weight zero count as absent.
        groups : dask.array.Array or dask.dataframe.Series of shape (n_samples,), default=None
            Groups of rows that are left out together, as in `RelevanceSVC`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_parameters(self)
        client = client_of(self.client)
        seed = self.random_state
        if not isinstance(seed, Integral):  # one number for the client and for all workers
            seed = int(check_random_state(seed).randint(2**31 - 1))
        own = {name: getattr(self, name) for name in _OF_CELLS}
        local = RelevanceSVC(**own, large="cells", random_state=int(seed))
        progress = FitProgress(self, self.verbose)
        cluster = Cluster(client, partitions_of(X, y, sample_weight, groups, client), progress)
        fit_on_cluster(local, cluster, self.region_rows)
        progress.end()
        self._local_, self._token_ = local, uuid4().hex
        for name in _SHARED:
            if hasattr(local, name):
                setattr(self, name, getattr(local, name))
            elif hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        return self

    def to_local(self) -> RelevanceSVC:
        """Return the fitted model without Dask.

        Returns
        -------
        model : RelevanceSVC
            A model that predicts, saves and loads in one process.
        """
        check_is_fitted(self)
        return copy(self._local_)

    def predict(self, X: Any) -> Any:
        """Predict classes, partition by partition.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            The rows; a table in memory is predicted at once.

        Returns
        -------
        y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
            The classes, not computed yet.
        """
        return self._lazy(X, "predict")

    def predict_proba(self, X: Any) -> Any:
        """Compute the probabilities of the classes, partition by partition.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            The rows; a table in memory is predicted at once.

        Returns
        -------
        probabilities : dask.array.Array or dask.dataframe.DataFrame of shape \
                (n_samples, n_classes)
            The probabilities, not computed yet.
        """
        return self._lazy(X, "predict_proba")

    def decision_function(self, X: Any) -> Any:
        """Evaluate the log-odds or scores, partition by partition.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            The rows; a table in memory is decided at once.

        Returns
        -------
        decisions : dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
            The log-odds of the second of two classes, or one score per class, not computed yet.
        """
        return self._lazy(X, "decision_function")

    def _lazy(self, X: Any, method: str) -> Any:
        check_is_fitted(self)
        getattr(self._local_, method)  # an error without probabilities comes now, not later
        if not hasattr(X, "dask"):
            return getattr(self._local_, method)(X)
        import dask

        name = f"kernelwise-model-{self._token_}"
        node = dask.delayed(Shared(self._local_), name=name, traverse=False)
        return predict_lazily(self._local_, node, X, method)

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "client": None}  # a connection cannot be stored

    def __sklearn_clone__(self) -> DaskRelevanceSVC:
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        copies = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(client=client, **copies)
