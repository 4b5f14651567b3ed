"""The scan: how much each column, alone or with one other, says about the class.

    own_j    = I(bin of j; class) - its mean under chance
    excess_j = max over k of  I(bins of j and k; class) - its mean under chance
                              - max(own_j, 0) - max(own_k, 0) - 3 deviations of chance,  at least 0

I is the mutual information, in nats, of counts in quantile bins (levels of categories). Chance
deals the classes to the rows anew. In a cell of m rows, class c then has about k ~ Binomial(m, p_c)
of them, so that the mean of I is known: the expected entropy of a cell is summed term by term where
m is small, and H - (number of classes - 1) / 2m where it is large. The counts of blocks of rows add
up to those of all rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import xlogy
from scipy.stats import binom

from .._native import one_hot_gram
from .._records import dataclass
from .._typing import Array, Index
from .bins import ColumnBins

N_BINS = 12  # quantile bins per number
MAX_PAIRS = 400  # pairs of columns that are looked at; more are pairs of the best columns alone
_MAX_LEVELS = 255  # codes of a category with a place of their own; the others share one
_DEVIATIONS = 3.0  # standard deviations of chance by which a pair must exceed its columns
_SMALL_CELL = 64  # rows up to which the expected entropy of a cell is summed


@dataclass(frozen=True)
class Scan:
    """What the columns say about the class.

    Parameters
    ----------
    own : ndarray of shape (d,)
        Information of each column minus its mean under chance, in nats; may be negative.
    excess : ndarray of shape (d,)
        What its best pair says beyond both of its columns and beyond chance; not negative.
    """

    own: Array
    excess: Array

    @property
    def relevance(self) -> Array:
        """Information of each column with its best pair, not negative."""
        return np.maximum(self.own, 0) + self.excess


@dataclass(frozen=True)
class Chance:
    """The mean of the information under chance.

    Parameters
    ----------
    totals : ndarray of shape (n_classes,)
        The weight of each class.
    """

    totals: Array

    @cached_property
    def shares(self) -> Array:
        """The share of each class that has any weight."""
        totals = self.totals[self.totals > 0]
        return totals / totals.sum()

    @cached_property
    def entropy(self) -> float:
        """The entropy of the class."""
        return float(-xlogy(self.shares, self.shares).sum())

    @cached_property
    def _lost(self) -> Array:
        """For cells of m rows, up to a small number: m (H - expected entropy)."""
        m = np.arange(1, _SMALL_CELL + 1)[:, None, None]
        k = np.arange(_SMALL_CELL + 1)[None, :, None]
        expected = (-xlogy(k / m, k / m) * binom.pmf(k, m, self.shares)).sum(axis=(1, 2))
        lost: Array = np.append(0.0, m[:, 0, 0] * (self.entropy - expected))
        return lost

    @property
    def own_loss(self) -> float:
        """The same for one cell of all rows, whose entropy is H: chance keeps the totals."""
        return float(self.lost(self.totals.sum()))

    def lost(self, cells: Any) -> Array:
        """Return the weight of each cell times the entropy that it lacks by chance."""
        return np.interp(cells, np.arange(_SMALL_CELL + 1), self._lost)


def count_columns(places: Any, classes: Index, count: Array, shape: tuple[int, int]) -> Array:
    """Count the rows of each class in each place.

    Parameters
    ----------
    places : ndarray of shape (n, d), of int32
        The places of `ColumnBins`.
    classes : ndarray of shape (n,)
        The class of each row.
    count : ndarray of shape (n,)
        How often each row counts.
    shape : tuple of int
        The number of classes and of places.

    Returns
    -------
    counts : ndarray of shape (n_classes, n_places)
        The counts; those of blocks of rows add up.
    """
    cells = (places + (classes * shape[1])[:, None]).ravel()
    weights = np.repeat(count, places.shape[1])
    counts: Array = np.bincount(cells, weights, minlength=shape[0] * shape[1]).astype(np.float64)
    return counts.reshape(shape)


def count_pairs(places: Any, classes: Index, count: Array, shape: tuple[int, int]) -> Array:
    """Count the rows of each class in each pair of places.

    Parameters
    ----------
    places : ndarray of shape (n, d), of int32
        The places of `ColumnBins`.
    classes : ndarray of shape (n,)
        The class of each row.
    count : ndarray of shape (n,)
        How often each row counts.
    shape : tuple of int
        The number of classes and of places.

    Returns
    -------
    counts : ndarray of shape (n_classes, n_places, n_places)
        The counts of pairs of which the first place is not the larger one; those of blocks of rows
        add up.
    """
    counts = np.zeros((shape[0], shape[1], shape[1]))
    for label in range(shape[0]):
        own = classes == label
        one_hot_gram(
            np.ascontiguousarray(places[own]), count[own].astype(np.float64), counts[label]
        )
    return counts


def own_information(counts: Array, starts: Index) -> Array:
    """Return the information of each column minus its mean under chance.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_places)
        The counts of `count_columns`.
    starts : ndarray of shape (d + 1,)
        The first place of each column, and the end.

    Returns
    -------
    own : ndarray of shape (d,)
        The information, in nats.
    """
    chance = Chance(counts[:, starts[0] : starts[1]].sum(axis=1))
    known, _ = _terms(counts, chance)
    sums: Array = np.add.reduceat(known, starts[:-1])
    return (sums + chance.own_loss) / chance.totals.sum()


def pair_excess(counts: Array, starts: Index, own: Array) -> Array:
    """Return what each pair of columns says beyond both of them and beyond chance.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_places, n_places)
        The counts of `count_pairs`.
    starts : ndarray of shape (d + 1,)
        The first place of each column, and the end.
    own : ndarray of shape (d,)
        The information of the columns, by `own_information`.

    Returns
    -------
    excess : ndarray of shape (d, d)
        The excess of the pairs, symmetric, with zeros on the diagonal.
    """
    first = slice(starts[0], starts[1])
    chance = Chance(counts[:, first, first].sum(axis=(1, 2)))
    known, occupied = _terms(counts, chance)
    n = chance.totals.sum()
    blocks = [
        np.add.reduceat(np.add.reduceat(each, starts[:-1], 0), starts[:-1], 1)
        for each in (known, occupied.astype(np.float64))
    ]
    freedom = np.maximum(blocks[1] - 1, 0) * (len(chance.shares) - 1)
    parts = np.maximum(own, 0)
    excess = (
        (blocks[0] + chance.own_loss - _DEVIATIONS * np.sqrt(freedom / 2)) / n
        - parts[:, None]
        - parts
    )
    excess = np.triu(np.maximum(excess, 0), 1)
    return excess + excess.T


def _terms(counts: Array, chance: Chance) -> tuple[Array, Any]:
    """Return the weighted information of each cell beyond chance, and which cells have rows."""
    cells = counts.sum(axis=0)
    lacking = chance.entropy * cells - xlogy(cells, cells) + xlogy(counts, counts).sum(axis=0)
    return lacking - chance.lost(cells), cells > 0


def best_columns(own: Array, max_pairs: int) -> Index:
    """Return the columns whose pairs are looked at: all, or those that say most, in order."""
    d = len(own)
    if d * (d - 1) // 2 <= max_pairs:
        return np.arange(d)
    size = int((1 + np.sqrt(1 + 8 * max_pairs)) / 2)
    return np.sort(np.argsort(-own, kind="stable")[:size])


def scan_columns(
    X: Array,
    is_category: Any,
    classes: Index,
    n_classes: int,
    count: Array,
    max_pairs: int = MAX_PAIRS,
) -> Scan:
    """Scan the columns of a table, and pairs of them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows without NaN; categories as whole numbers from zero.
    is_category : ndarray of shape (d,)
        Whether a column is a category.
    classes : ndarray of shape (n,)
        The class of each row.
    n_classes : int
        The number of classes.
    count : ndarray of shape (n,)
        How often each row counts.
    max_pairs : int, default=400
        The number of pairs up to which all are looked at; of more, those of the best columns.

    Returns
    -------
    scan : Scan
        What each column says.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.scale.scan import scan_columns
    >>> X = np.random.default_rng(0).uniform(size=(2000, 3))
    >>> y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int)
    >>> scan = scan_columns(X, np.zeros(3, dtype=bool), y, 2, np.ones(2000))
    >>> (scan.relevance > 0.1).tolist()
    [True, True, False]
    """
    own, chosen, pairs = _own_and_pairs(X, is_category, classes, n_classes, count, max_pairs)
    excess = np.zeros(X.shape[1])
    excess[chosen] = pairs.max(axis=1, initial=0.0)
    return Scan(own, excess)


def scan_pairs(
    X: Array,
    is_category: Any,
    classes: Index,
    n_classes: int,
    count: Array,
    max_pairs: int = MAX_PAIRS,
) -> tuple[Index, Array]:
    """Return the pairs of columns that say more than both of their columns.

    Parameters
    ----------
    X, is_category, classes, n_classes, count, max_pairs
        As for `scan_columns`.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2)
        The columns of each pair, the pair of the largest excess first.
    excess : ndarray of shape (n_pairs,)
        What each pair says beyond both of its columns and beyond chance, in nats; positive.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.scale.scan import scan_pairs
    >>> X = np.random.default_rng(0).uniform(size=(2000, 3))
    >>> y = ((X[:, 0] > 0.5) ^ (X[:, 2] > 0.5)).astype(int)
    >>> pairs, excess = scan_pairs(X, np.zeros(3, dtype=bool), y, 2, np.ones(2000))
    >>> pairs.tolist(), bool(excess[0] > 0.5)
    ([[0, 2]], True)
    """
    _, chosen, excess = _own_and_pairs(X, is_category, classes, n_classes, count, max_pairs)
    first, second = np.nonzero(np.triu(excess, 1))
    found = excess[first, second]
    order = np.argsort(-found, kind="stable")
    return np.column_stack([chosen[first], chosen[second]])[order], found[order]


def _own_and_pairs(
    X: Array, is_category: Any, classes: Index, n_classes: int, count: Array, max_pairs: int
) -> tuple[Array, Index, Array]:
    """Return the information of all columns, the chosen ones, and the excess of their pairs."""
    bins = ColumnBins.of(X, is_category, count, N_BINS, _MAX_LEVELS)
    places = bins.places(X)
    shape = n_classes, bins.n_places
    own = own_information(count_columns(places, classes, count, shape), bins.starts)
    chosen = best_columns(own, max_pairs)
    some = bins.part(chosen)
    shift = (bins.starts[:-1][chosen] - some.starts[:-1]).astype(np.int32)
    pairs = count_pairs(places[:, chosen] - shift, classes, count, (n_classes, some.n_places))
    return own, chosen, pair_excess(pairs, some.starts, own[chosen])
