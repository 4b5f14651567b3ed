"""Topic features of count data, learned without labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import NMF, non_negative_factorization
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parameters import Interval
from .._sklearn import atomic_fit, checked_fit, naming_the_remedy
from .._threads import single_blas
from .._typing import Array, Matrix

_KL = {"solver": "mu", "beta_loss": "kullback-leibler"}


class TopicFeatures(TransformerMixin, BaseEstimator):
    """Describe rows of counts by their shares of a few topics.

    This is probabilistic latent semantic analysis [1]_: the words of a document are drawn from
    p(word | document) = sum over topics of p(topic | document) p(word | topic), and both factors
    are estimated by maximum likelihood. That is a non-negative matrix factorisation with the
    Kullback-Leibler divergence as its loss, which scikit-learn's `NMF` computes.

    Parameters
    ----------
    n_components : int, default=10
        The number of topics.
    max_iter : int, default=200
        Maximum number of iterations for learning the topics, and the number of iterations for
        describing rows by them.
    tol : float, default=1e-4
        Learning stops when ten iterations lower the divergence by less than this fraction of its
        initial value. Zero runs all `max_iter` iterations.
    random_state : int, RandomState instance or None, default=None
        Determines the random start of the learning.
    normalize : bool, default=True
        Whether to describe a row by its shares of the topics, which sum to one, or by the number of
        its counts that belong to each topic.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        p(word | topic): each row sums to one.
    n_iter_ : int
        Number of iterations for learning the topics.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns of X, if it has any.

    See Also
    --------
    GeodesicNeighborFeatures : Features from the classes of nearby rows.
    sklearn.decomposition.NMF : The factorisation.
    sklearn.decomposition.LatentDirichletAllocation : Topics with a prior.

    Notes
    -----
    Each row, including the training rows, is described on its own with the topics fixed:
    ``fit_transform(X)`` equals ``fit(X).transform(X)``. Words that occur in no training row are
    ignored. A row without any known word has no information about its topics: it gets equal shares,
    or zeros with ``normalize=False``.

    The likelihood has many local maxima; `random_state` picks one. The cost of an iteration is
    proportional to the number of entries of X (of non-zeros if X is sparse) times the number of
    topics.

    References
    ----------
    .. [1] T. Hofmann, "Probabilistic latent semantic indexing", SIGIR 1999.

    Examples
    --------
    >>> from kernelwise.transform import TopicFeatures
    >>> counts = [[4, 2, 0, 0], [2, 1, 0, 0], [0, 0, 3, 3], [2, 1, 1, 1]]
    >>> topics = TopicFeatures(n_components=2, tol=0.0, random_state=0).fit(counts)
    >>> shares = topics.transform(counts + [[0, 0, 0, 0]])
    >>> (100 * shares).round()[:, shares[2].argmax()]  # of the topic of the last two words
    array([  0.,   0., 100.,  40.,  50.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "normalize": ["boolean"],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
        normalize: bool = True,
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.normalize = normalize

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    @atomic_fit
    @checked_fit
    def fit(self, X: Any, y: Any = None) -> TopicFeatures:
        """Learn the topics.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The counts of the training rows, one column per word.
        y : object, default=None
            Not used.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        X = self._counts(X, reset=True)
        if not X.sum() > 0:
            raise ValueError("X has no counts above zero; topics are learned from rows with words.")
        model = NMF(
            self.n_components,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
            **_KL,
        )
        with warnings.catch_warnings(), single_blas():
            warnings.simplefilter("ignore", ConvergenceWarning)  # replaced by the warning below
            model.fit(X)
        self.n_iter_ = model.n_iter_
        if self.tol > 0 and self.n_iter_ >= self.max_iter:
            warnings.warn(
                f"The topics were still changing after max_iter={self.max_iter} iterations; "
                f"raise max_iter, or tol={self.tol:g} if they are good enough.",
                ConvergenceWarning,
                stacklevel=4,
            )
        totals = model.components_.sum(axis=1, keepdims=True)
        self.components_ = model.components_ / np.maximum(totals, np.finfo(float).tiny)
        return self

    def transform(self, X: Any) -> Array:
        """Describe rows by the topics.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The counts of the rows, one column per word.

        Returns
        -------
        columns : ndarray of shape (n_samples, n_components)
            The shares of the topics, or the counts that belong to them.
        """
        check_is_fitted(self)
        X = self._counts(X, reset=False)
        amounts = np.zeros((X.shape[0], len(self.components_)))
        means = np.asarray(X.sum(axis=1), dtype=float).ravel() / X.shape[1]
        some = np.flatnonzero(means)
        if len(some):
            # With a common scale and a fixed number of steps, rows do not depend on each other.
            rows = sp.diags_array(1 / means[some]) @ X[some]
            amounts[some] = self._amounts(rows) * means[some, None]
        if not self.normalize:
            return amounts
        totals = amounts.sum(axis=1, keepdims=True)
        shares = np.full_like(amounts, 1 / amounts.shape[1])
        return np.divide(amounts, totals, out=shares, where=totals > 0)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : object, default=None
            Not used.

        Returns
        -------
        names : ndarray of shape (n_components,)
            "topic_0" and so on.
        """
        check_is_fitted(self)
        return np.array([f"topic_{k}" for k in range(len(self.components_))], dtype=object)

    def _amounts(self, X: Matrix) -> Array:
        """Return the amount of each topic in each row: argmin KL(X, amounts @ components_)."""
        with single_blas():
            amounts: Array = non_negative_factorization(
                X,
                H=self.components_,
                n_components=len(self.components_),
                update_H=False,
                max_iter=self.max_iter,
                tol=0,
                **_KL,
            )[0]
        return amounts

    def _counts(self, X: Any, *, reset: bool) -> Matrix:
        with naming_the_remedy(), _naming_counts():
            return validate_data(
                self,
                X,
                reset=reset,
                dtype=np.float64,
                order="C",
                accept_sparse="csr",
                accept_large_sparse=False,
                ensure_non_negative=True,
            )


@contextmanager
def _naming_counts() -> Iterator[None]:
    """Add advice to the error about negative values."""
    try:
        yield
    except ValueError as error:
        if "Negative values" not in str(error):
            raise
        raise ValueError(
            f"{error} TopicFeatures needs counts, which are never negative; leave out steps that "
            "centre the columns."
        ) from error
