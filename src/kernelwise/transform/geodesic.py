"""Features from the classes of nearest neighbours, by distances along the manifold of the rows."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import chain
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.neighbors import VALID_METRICS, NearestNeighbors
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parameters import Interval, Options
from .._sklearn import atomic_fit, checked_fit, naming_the_remedy
from .._typing import Array, Index, Matrix

METRICS = set(chain.from_iterable(VALID_METRICS.values())) - {"precomputed"}
NOBODY = -1  # index that marks a missing neighbour


class GeodesicNeighborFeatures(TransformerMixin, BaseEstimator):
    """Mark the classes of the nearest training rows, with distances along the manifold of the rows.

    There is one column per class: 1 if the class is among the `n_neighbors` nearest training rows,
    else 0. The distance between two rows is the length of the shortest path between them in a graph
    of neighbouring rows, as in Isomap [1]_; these are the features with which [2]_ recognises
    rotating objects.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of nearest training rows to consider; all of them if there are fewer.
    graph_neighbors : int, default=3
        Number of its nearest rows to which each row is joined by an edge. Two rows are joined if
        either is among the nearest of the other.
    neighbors : {"training", "paper"}, default="training"
        Rows among which the nearest are sought. "training": the training rows. "paper": all rows
        of the graph, the unlabelled ones of ``transductive`` included, as [2]_ writes it; of these
        `n_neighbors` only training rows mark a class, so that a row far from all of them has no 1
        at all. A row never counts as its own neighbour.
    metric : str or callable, default="euclidean"
        Metric for the length of an edge: one of `sklearn.neighbors.NearestNeighbors` that needs no
        parameters.
    transductive : {array-like, sparse matrix} of shape (n_rows, n_features), default=None
        Additional unlabelled rows of the graph, for instance the rows to predict. They may include
        training rows.
    disconnected : {"euclidean", "never"}, default="euclidean"
        Treatment of training rows to which there is no path: "euclidean" ranks them after all
        others, by Euclidean distance; "never" leaves them out.
    n_jobs : int, default=None
        Number of jobs for the neighbour search, as in `NearestNeighbors`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in the order of the columns.
    n_connected_components_ : int
        Number of connected components of the graph.
    out_of_fold : bool
        Always True: the features that `fit_transform` returns for a training row do not use its own
        label.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns of X, if it has any.

    See Also
    --------
    TopicFeatures : Features for counts, without labels.
    sklearn.manifold.Isomap : Coordinates from the same distances.

    Notes
    -----
    ``fit_transform(X, y)`` excludes each training row from its own neighbours.
    ``fit(X, y).transform(X)`` does not: it treats the rows as new rows that happen to equal
    training rows.

    Equal rows share one node of the graph, so that copies of a row do not use up its edges. In
    `transform`, a row that equals a node has the distances of that node; any other row is joined to
    its `graph_neighbors` nearest nodes and to nothing else, so it does not depend on the rows that
    are transformed with it.

    `NearestNeighbors` finds the edges; in many dimensions it compares all pairs of rows, block by
    block. Then one search from all training rows at once finds the nearest few for each node, in
    O(m log m) time and O(m) memory, where m is `n_neighbors` times the number of edges. A matrix of
    all pairs of rows is never built.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for
       nonlinear dimensionality reduction", Science 290, 2000.
    .. [2] W. Li, K.-S. Leung and K.-H. Lee, "Generalizing the bias term of support vector
       machines", IJCAI 2007.

    Examples
    --------
    >>> from kernelwise.transform import GeodesicNeighborFeatures
    >>> X = [[0.0], [1.0], [2.0], [3.0], [10.0], [11.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> features = GeodesicNeighborFeatures(n_neighbors=1, graph_neighbors=1)
    >>> features.fit_transform(X, y)  # the columns are high, low
    array([[0., 1.],
           [0., 1.],
           [0., 1.],
           [0., 1.],
           [1., 0.],
           [1., 0.]])
    >>> features.transform([[3.2]])
    array([[1., 0.]])
    >>> features.kneighbors([[3.2]])[1]  # its nearest training row
    array([[3]])
    """

    out_of_fold: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "graph_neighbors": [Interval(Integral, 1, None, closed="left")],
        "neighbors": [Options({"training", "paper"})],
        "metric": [Options(METRICS), callable],
        "transductive": ["array-like", "sparse matrix", None],
        "disconnected": [Options({"euclidean", "never"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        graph_neighbors: int = 3,
        neighbors: str = "training",
        metric: Any = "euclidean",
        transductive: Any = None,
        disconnected: str = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.graph_neighbors = graph_neighbors
        self.neighbors = neighbors
        self.metric = metric
        self.transductive = transductive
        self.disconnected = disconnected
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    @atomic_fit
    @checked_fit
    def fit(self, X: Any, y: Any) -> GeodesicNeighborFeatures:
        """Build the graph and find the nearest training rows of each node.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The classes.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        with naming_the_remedy():
            X, y = self._validated(X, y=y)
        check_classification_targets(y)
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        rows, n = X, X.shape[0]
        if self.transductive is not None:
            rows = _stacked(X, self._further_rows())
        first, node_of_row = _distinct(rows)
        self._nodes, self._node_of_row = rows[first], node_of_row[:n]
        edges = self._edges()
        self.n_connected_components_ = int(connected_components(edges, directed=False)[0])
        self._sources = self._rows_to_find()
        # One more than requested: a row is not among its own neighbours.
        count = min(self.n_neighbors + 1, len(self._sources))
        self._nearest, self._lengths = nearest_sources(edges, self._sources, count)
        return self

    def _rows_to_find(self) -> Index:
        """Return the node of each row that may be a neighbour: training rows first."""
        if self.neighbors == "training":
            return self._node_of_row
        unlabelled = np.setdiff1d(np.arange(self._nodes.shape[0]), self._node_of_row)
        return np.append(self._node_of_row, unlabelled)

    def fit_transform(self, X: Any, y: Any) -> Array:
        """Fit, and mark the classes near each training row without using its own label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The classes.

        Returns
        -------
        columns : ndarray of shape (n_samples, n_classes)
            Zeros and ones, one column per class.
        """
        return self._indicators(self.fit(X, y)._training_neighbors())

    def transform(self, X: Any) -> Array:
        """Mark the classes near each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, treated as new ones; use `fit_transform` for the training rows.

        Returns
        -------
        columns : ndarray of shape (n_samples, n_classes)
            Zeros and ones, one column per class.
        """
        return self._indicators(self.kneighbors(X)[1])

    def kneighbors(self, X: Any) -> tuple[Array, Index]:
        """Find the nearest training rows of each row, nearest first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, treated as new ones.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_neighbors)
            Length of the shortest path to each; infinite where there is no path.
        indices : ndarray of shape (n_samples, n_neighbors)
            Numbers of the training rows; -1 where there is no further neighbour. With
            ``neighbors="paper"`` unlabelled rows have numbers above those of the training rows.
        """
        check_is_fitted(self)
        with naming_the_remedy():
            X = as_like(self._nodes, self._validated(X, reset=False))
        node_of = {key: node for node, key in enumerate(_keys(self._nodes))}
        nodes = np.array([node_of.get(key, NOBODY) for key in _keys(X)])
        itself = self._unlabelled_at(nodes)
        nearest, lengths = _without(self._nearest[nodes], self._lengths[nodes], itself)
        nearest, lengths = nearest[:, : self.n_neighbors], lengths[:, : self.n_neighbors]
        new = np.flatnonzero(nodes == NOBODY)
        if len(new):
            lengths[new], nearest[new] = self._joined(X[new], nearest.shape[1])
        return lengths, self._completed(nearest, X, itself)

    def _unlabelled_at(self, nodes: Index) -> Index:
        """Return the number of the unlabelled row at each node; `NOBODY` where there is none."""
        n_training = len(self._codes)
        place = np.full(self._nodes.shape[0] + 1, NOBODY)  # the last one is for no node at all
        place[self._sources[n_training:]] = np.arange(n_training, len(self._sources))
        return place[nodes]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : object, default=None
            Not used.

        Returns
        -------
        names : ndarray of shape (n_classes,)
            ``geodesic_neighbor_`` followed by the class.
        """
        check_is_fitted(self)
        return np.array([f"geodesic_neighbor_{name}" for name in self.classes_], dtype=object)

    def _validated(self, X: Any, **options: Any) -> Any:
        return validate_data(
            self, X, dtype=np.float64, accept_sparse="csr", accept_large_sparse=False, **options
        )

    def _further_rows(self) -> Matrix:
        try:
            return self._validated(self.transductive, reset=False)
        except ValueError as error:
            raise ValueError(
                f"transductive must have rows like those of the X given to fit: {error}"
            ) from error

    def _search(self) -> NearestNeighbors:
        # Rebuilt each time, which is cheap: a compiled tree in a model file cannot be checked.
        return NearestNeighbors(metric=self.metric, n_jobs=self.n_jobs).fit(self._nodes)

    def _edges(self) -> sp.csr_array:
        """Return the edges in both directions, as a sparse matrix of their lengths."""
        n = self._nodes.shape[0]
        k = min(self.graph_neighbors, n - 1)
        if k == 0:
            return sp.csr_array((1, 1))
        lengths, others = self._search().kneighbors(n_neighbors=k)
        return both_ways(np.repeat(np.arange(n), k), others.ravel(), lengths.ravel(), n)

    def _training_neighbors(self) -> Index:
        """Return the numbers of the training rows nearest to each training row, itself excluded."""
        itself, nodes = np.arange(len(self._codes)), self._node_of_row
        nearest, _ = _without(self._nearest[nodes], self._lengths[nodes], itself)
        return self._completed(nearest[:, : self.n_neighbors], self._nodes[nodes], itself)

    def _joined(self, X: Matrix, count: int) -> tuple[Array, Index]:
        """Return distances and numbers of the training rows nearest to rows that are not nodes."""
        k = min(self.graph_neighbors, self._nodes.shape[0])
        lengths, nodes = self._search().kneighbors(X, n_neighbors=k)
        rows = self._nearest[nodes].reshape(X.shape[0], -1)
        lengths = (lengths[:, :, None] + self._lengths[nodes]).reshape(rows.shape)
        order = np.lexsort((lengths, rows), axis=1)
        rows, lengths = (np.take_along_axis(each, order, axis=1) for each in (rows, lengths))
        longer = np.diff(rows, axis=1, prepend=NOBODY) == 0  # paths to a row that has a shorter one
        rows[longer], lengths[longer] = NOBODY, np.inf
        order = np.lexsort((rows, lengths), axis=1)[:, :count]
        return np.take_along_axis(lengths, order, axis=1), np.take_along_axis(rows, order, axis=1)

    def _completed(self, nearest: Index, X: Matrix, itself: Index) -> Index:
        """Fill missing neighbours with the nearest rows by Euclidean distance."""
        short = np.flatnonzero((nearest == NOBODY).any(axis=1))
        if self.disconnected == "never" or not len(short):
            return nearest
        places, place_of_row = np.unique(self._sources, return_inverse=True)
        ends = np.cumsum(np.bincount(place_of_row))[:-1]
        rows_at = np.split(np.argsort(place_of_row, kind="stable"), ends)
        # The known neighbours and the row itself may be among these, so one more is enough.
        count = min(self.n_neighbors + 1, len(places))
        search = NearestNeighbors(n_neighbors=count, n_jobs=self.n_jobs).fit(self._nodes[places])
        straight = search.kneighbors(X[short], return_distance=False)
        for row, near in zip(short, straight, strict=True):
            known = nearest[row] != NOBODY
            left_out = np.append(nearest[row][known], itself[row])
            candidates = np.concatenate([rows_at[place] for place in near])
            further = candidates[~np.isin(candidates, left_out)][: (~known).sum()]
            nearest[row, known.sum() : known.sum() + len(further)] = further
        return nearest

    def _indicators(self, nearest: Index) -> Array:
        columns = np.zeros((len(nearest), len(self.classes_)))
        rows, places = np.nonzero((nearest != NOBODY) & (nearest < len(self._codes)))
        columns[rows, self._codes[nearest[rows, places]]] = 1.0
        return columns


def _without(nearest: Index, lengths: Array, itself: Index) -> tuple[Index, Array]:
    """Remove a row from its own neighbours; gaps are at the end."""
    nearest = np.where(nearest == itself[:, None], NOBODY, nearest)
    order = np.argsort(nearest == NOBODY, axis=1, kind="stable")
    nearest = np.take_along_axis(nearest, order, axis=1)
    lengths = np.take_along_axis(lengths, order, axis=1)
    return nearest, np.where(nearest == NOBODY, np.inf, lengths)


def both_ways(one: Index, other: Index, lengths: Array, n: int) -> sp.csr_array:
    """Return the edges in both directions, including those of length zero."""
    starts, ends = np.append(one, other), np.append(other, one)
    order = np.lexsort((ends, starts))
    starts, ends, lengths = starts[order], ends[order], np.append(lengths, lengths)[order]
    # Adding matrices would drop zeros and add the two lengths of an edge found from both ends.
    again = (np.diff(starts, prepend=-1) == 0) & (np.diff(ends, prepend=-1) == 0)
    pointers = np.searchsorted(starts[~again], np.arange(n + 1))
    return sp.csr_array((lengths[~again], ends[~again], pointers), shape=(n, n))


def nearest_sources(edges: sp.csr_array, sources: Index, count: int) -> tuple[Index, Array]:
    """Return, for each node, the ``count`` nearest sources along the edges and their distances.

    This is Dijkstra's algorithm from all sources at once. Each node passes on only its ``count``
    nearest sources: any other source is not among the nearest of a node behind it either. Ties go
    to the source with the smaller number.
    """
    n = edges.shape[0]
    pointers, ends, lengths = edges.indptr.tolist(), edges.indices.tolist(), edges.data.tolist()
    found: list[dict[int, float]] = [{} for _ in range(n)]
    queue = [(0.0, source, node) for source, node in enumerate(sources.tolist())]
    while queue:
        length, source, node = heappop(queue)
        here = found[node]
        if len(here) == count or source in here:
            continue
        here[source] = length
        for k in range(pointers[node], pointers[node + 1]):
            there = found[ends[k]]
            if len(there) < count and source not in there:
                heappush(queue, (length + lengths[k], source, ends[k]))
    nearest, far = np.full((n, count), NOBODY), np.full((n, count), np.inf)
    for node, here in enumerate(found):
        nearest[node, : len(here)] = list(here)
        far[node, : len(here)] = list(here.values())
    return nearest, far


def _distinct(X: Matrix) -> tuple[Index, Index]:
    """Return the first row of each group of equal rows, and the group number of each row."""
    kinds: dict[bytes, int] = {}
    kind_of = np.array([kinds.setdefault(key, len(kinds)) for key in _keys(X)])
    return np.unique(kind_of, return_index=True)[1], kind_of


def _keys(X: Matrix) -> list[bytes]:
    """Return the content of each row as bytes; 0 and -0 are equal."""
    if not sp.issparse(X):
        return [row.tobytes() for row in X + 0.0]
    X = sp.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    columns = X.indices.astype(np.int64)
    return [
        columns[start:stop].tobytes() + X.data[start:stop].tobytes()
        for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]


def as_like(rows: Matrix, X: Matrix) -> Matrix:
    """Return X as a sparse matrix if ``rows`` is one, else as a dense array."""
    if sp.issparse(rows):
        return sp.csr_array(X)
    return X.toarray() if sp.issparse(X) else X


def _stacked(X: Matrix, further: Matrix) -> Matrix:
    further = as_like(X, further)
    return sp.vstack([X, further], format="csr") if sp.issparse(X) else np.vstack([X, further])
