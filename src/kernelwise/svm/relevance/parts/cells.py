"""The cells part: trees of exact machines at the weights of the evidence, linear in the rows.

The kernel of the evidence begins, and where no column is a category the Gaussian kernel of the same
weights beside it. Width, cost and the kernel of each tree are chosen on held-out rows
(`scale.judge`); the trees are grown on all rows (`scale.forest`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...._typing import Array
from ....kernels import RBF
from ....scale.cells import CellSettings, HeldOut
from ....scale.forest import CellForest, CellTable, fit_forest
from ....scale.judge import judge_members
from ....scale.sampling import uniform
from .evidence import EvidenceWeights
from .joint import kernel_shares
from .metric import MetricColumns
from .rows import PartRows

CELL_SIZE = 2000  # most rows of a cell
N_TREES = 3
_FIRST_COST = 1.0  # where the walk over C begins
_FOLDS = 5  # parts of the rows of a cell that are left out in turn, groups whole
_TOL = 1e-2  # tolerance of the machines, in units of the margin


@dataclass(frozen=True)
class CellsPart:
    """Fitted trees of cells.

    Parameters
    ----------
    columns : MetricColumns
        The units in which rows are compared.
    forest : CellForest
        The trees.
    members : tuple of CellSettings
        The kernel and the cost of each tree.
    left_out : ndarray of shape (m, k)
        Decisions on the training rows without each of them.
    importances : ndarray of shape (d,)
        The share of each encoded column in the distance of two rows.
    """

    columns: MetricColumns
    forest: CellForest
    members: tuple[CellSettings, ...]
    left_out: Array
    importances: Array
    name: ClassVar[str] = "cells"

    def decision_values(self, X: Array) -> Array:
        """Return the decisions on encoded rows."""
        return self.forest.decision_values(self.columns.apply(X))


def fit_cells(
    rows: PartRows,
    learned: EvidenceWeights,
    random_state: Any,
    *,
    cell_size: int = CELL_SIZE,
    n_trees: int = N_TREES,
    threads: int = 1,
) -> CellsPart:
    """Choose width, cost and kernels on held-out rows, and fit the cells of all rows.

    Parameters
    ----------
    rows : PartRows
        The training rows.
    learned : EvidenceWeights
        The weights of the columns.
    random_state : RandomState
        Picks the seed of the trees.
    cell_size : int, default=2000
        The largest number of rows of a cell.
    n_trees : int, default=3
        The number of trees.
    threads : int, default=1
        Threads over cells. They do not change the result.

    Returns
    -------
    part : CellsPart
        The part.
    """
    seed = int(random_state.randint(2**31 - 1))
    X = learned.columns.apply(rows.X)
    table = CellTable(X, rows.codes, rows.price, np.arange(len(rows)))
    choice = judge_members(
        table,
        first_members(learned),
        seed,
        cell_size=cell_size,
        n_trees=n_trees,
        groups=rows.groups,
        threads=threads,
    )
    units = table.numbers if rows.groups is None else rows.groups
    fold = (_FOLDS * uniform(units, seed + n_trees)).astype(np.intp)  # no tree has this seed
    forest, left_out = fit_forest(
        table,
        choice.members,
        range(seed, seed + n_trees),
        cell_size,
        threads=threads,
        held_out=HeldOut(fold, rows.left_out_share),
    )
    assert left_out is not None
    return CellsPart(
        learned.columns, forest, choice.members, left_out, kernel_shares(rows, learned)
    )


def first_members(learned: EvidenceWeights) -> list[CellSettings]:
    """Return the kernels of which the judge chooses.

    Parameters
    ----------
    learned : EvidenceWeights
        The weights of the columns.

    Returns
    -------
    members : list of CellSettings
        The kernel of the evidence; and, without categories, a Gaussian kernel of the same weights.
    """
    members = [CellSettings(learned.kernel, _FIRST_COST, tol=_TOL)]
    if not learned.columns.is_category.any():
        members.append(CellSettings(RBF(weights=learned.weights), _FIRST_COST, tol=_TOL))
    return members
