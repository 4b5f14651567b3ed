"""The joint part of large tables with categories, with pairs of columns beside the columns.

A pair of columns that says more about the class than both of them alone (`scale.scan`) enters the
additive part as a category of its own: one level for each pair of levels, numbers in a few bins.
Cells do without: they compare numbers in all directions. Between categories there are none, and a
cell has too few rows of most pairs of levels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...._records import dataclass
from ...._typing import Array, Index
from ....scale.bins import ColumnBins
from ....scale.scan import scan_pairs
from ...base.progress import FitProgress
from ..columns import ColumnLayout
from .additive import PLACES, AdditivePart, fit_additive
from .evidence import EvidenceWeights, learn_beside
from .joint import JointPart, fit_joint
from .rows import PartRows

MOST_PAIRS = 5
_MIN_EXCESS = 1e-3  # nats that a pair says beyond its columns and chance
_N_BINS = 6  # bins of a number in a pair
_MAX_LEVELS = 255  # levels of a category in a pair
_PLACES = 2500  # bins and levels of all columns and pairs, about: more are merged
_ROWS_PER_PLACE = 10  # rows for each of them: very many rare levels cost time, and say little


@dataclass(frozen=True)
class PairColumns:
    """Adds pairs of columns as categories behind all columns.

    Parameters
    ----------
    bins : ColumnBins
        The bins of all columns.
    pairs : ndarray of shape (n_pairs, 2)
        The columns of each pair.
    """

    bins: ColumnBins
    pairs: Index

    @classmethod
    def of(cls, rows: PartRows) -> PairColumns:
        """Find the pairs that say most beyond their columns."""
        is_category = np.asarray(rows.layout.is_category)
        pairs, excess = scan_pairs(rows.X, is_category, rows.classes, rows.n_classes, rows.count)
        bins = ColumnBins.of(rows.X, is_category, rows.count, _N_BINS, _MAX_LEVELS)
        return cls(bins, pairs[excess >= _MIN_EXCESS][:MOST_PAIRS])

    def apply(self, X: Array) -> Array:
        """Return encoded rows with the codes of the pairs behind them."""
        places = self.bins.places(X) - self.bins.starts[:-1]
        sizes = np.diff(self.bins.starts)
        first, second = self.pairs.T
        return np.hstack([X, places[:, first] * sizes[second] + places[:, second]])

    def rows(self, rows: PartRows) -> PartRows:
        """Return training rows with the pairs."""
        own, n = rows.layout, len(self.pairs)
        layout = ColumnLayout(
            np.append(own.is_category, np.ones(n, dtype=bool)),
            np.append(own.source, own.source[self.pairs[:, 0]]),
            np.append(own.group, own.group.max() + 1 + np.arange(n)),
            own.n_source,
        )
        return replace(rows, X=self.apply(rows.X), layout=layout)

    def weights(self, learned: EvidenceWeights) -> EvidenceWeights:
        """Return the weights of a kernel that does not read the pairs."""
        n, own = len(self.pairs), learned.columns
        columns = replace(own, is_category=np.append(own.is_category, np.ones(n, dtype=bool)))
        return replace(learned, columns=columns, weights=np.append(learned.weights, np.zeros(n)))

    def to_columns(self, shares: Array) -> Array:
        """Add half of the share of a pair to each of its columns."""
        own = shares[: len(shares) - len(self.pairs)].copy()
        np.add.at(own, self.pairs, 0.5 * shares[len(own) :, None])
        return own


@dataclass(frozen=True)
class PairsPart:
    """A joint part that reads pairs of columns, too.

    Parameters
    ----------
    columns : PairColumns
        The pairs.
    joint : JointPart
        The part, for rows with these pairs.
    left_out : ndarray of shape (n, k)
        Decisions on the training rows without each of them.
    importances : ndarray of shape (d,)
        The share of each encoded column in the spread of the decisions.
    """

    columns: PairColumns
    joint: JointPart
    left_out: Array
    importances: Array
    name: ClassVar[str] = "pairs"

    def decision_values(self, X: Array) -> Array:
        """Return the decisions on encoded rows."""
        return self.joint.decision_values(self.columns.apply(X))

    def additive_values(self, X: Array) -> Array:
        """Return what single columns add to the decisions."""
        joint = self.joint
        return joint.additive.decisions(self.columns.apply(X), joint.coefficients, X.shape[1])


def begin_pairs(
    rows: PartRows, random_state: Any, progress: FitProgress | None = None, threads: int = 1
) -> tuple[EvidenceWeights, Callable[[], PairsPart]]:
    """Learn weights by the evidence, and return them before the part with pairs is there.

    Parameters
    ----------
    rows : PartRows
        The training rows.
    random_state : RandomState
        Picks rows and landmarks.
    progress : FitProgress, default=None
        Told of each step.
    threads : int, default=1
        Threads over what does not depend on each other.

    Returns
    -------
    learned : EvidenceWeights
        The weights of the columns, without the pairs.
    finish : callable
        Returns the part, which is fitted then: other parts need the weights alone.
    """

    def with_pairs(rows: PartRows) -> tuple[PairColumns, PartRows, AdditivePart]:
        pairs = PairColumns.of(rows)
        paired = pairs.rows(rows)
        places = min(_PLACES, max(PLACES, len(rows) // _ROWS_PER_PLACE))
        return pairs, paired, fit_additive(paired, places=places)

    found, learned = learn_beside(with_pairs, rows, random_state, progress, threads)

    def finish() -> PairsPart:
        pairs, paired, additive = found()
        joint = fit_joint(paired, additive, pairs.weights(learned), random_state)
        if progress is not None:
            progress.line(f"{len(pairs.pairs)} pairs of columns say more than their columns")
        shares = pairs.to_columns(joint.importances)
        stored = replace(joint, left_out=joint.left_out[:0])
        return PairsPart(pairs, stored, joint.left_out, shares)

    return learned, finish
