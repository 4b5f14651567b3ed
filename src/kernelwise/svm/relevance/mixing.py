"""Which parts a table gets, their mixture, and two halves of the table that choose anew.

Every part offers leave-one-out decisions F; the mixture of them has the least log loss. F is too
good where there is little to learn, because the left-out rows helped to choose weights, widths
and costs. So two halves of the rows learn weights on their own and decide each other's rows;
these decisions G cap how sure the probabilities may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._records import dataclass
from ..._typing import Array, Index
from ...qp import Solution
from ..base.progress import FitProgress
from ..paths.folds import deal, deal_groups
from ..paths.rows import TrainingRows
from .columns import ColumnLayout
from .limits import n_of_whole
from .parts.additive import energy_relevance_of, fit_additive
from .parts.hinge import HingeMachines, HingeSettings, fit_hinge
from .parts.indicators import fit_on_numbers
from .parts.linear import fit_linear
from .parts.mixture import Mixture, mix
from .parts.part import Part
from .parts.ridge import fit_ridge
from .parts.rows import PartRows
from .predictor import MixturePredictor

if TYPE_CHECKING:
    from .parts.evidence import EvidenceWeights

LARGER = 1000  # distinct rows from which on a table gets the parts of larger tables
LARGER_WITH_CATEGORIES = 500  # the same for a table with categories
_ROWS_PER_COLUMN = 2  # rows per column from which on a small table gets an additive part
HALF_EVALUATIONS = 5  # evaluations of the bound for each kernel of a half


@dataclass(frozen=True)
class MixedParts:
    """Fitted parts and their mixture.

    Parameters
    ----------
    parts : tuple of Part
        The parts.
    mixture : Mixture
        Their mixture; for a hinge part alone its decisions as they are.
    rows : PartRows
        The rows of the leave-one-out decisions.
    """

    parts: tuple[Part, ...]
    mixture: Mixture
    rows: PartRows

    @property
    def left_out(self) -> Array:
        """Mixed decisions without each row."""
        return self.mixture.decisions([part.left_out for part in self.parts])

    def predictor(self) -> MixturePredictor:
        """Return the mixture as it predicts; it keeps no leave-one-out decisions."""
        return MixturePredictor(tuple(map(_as_stored, self.parts)), self.mixture)


@dataclass(frozen=True)
class SmallMixture(MixedParts):
    """The parts of a small table: a hinge part of several members, and others beside it.

    Parameters
    ----------
    machines : HingeMachines
        The machines of the hinge part, and how they were found.
    """

    machines: HingeMachines


@dataclass(frozen=True)
class LargerMixture(MixedParts):
    """The parts of a table of thousands of rows, or with categories.

    Parameters
    ----------
    learned : EvidenceWeights
        The weights of their kernel.
    """

    learned: EvidenceWeights

    @property
    def solutions(self) -> list[Solution]:
        """The solved machines of the hinge part, where there is one."""
        return [each for part in self.parts for each in getattr(part, "solutions", ())]


def gets_larger_parts(rows: PartRows, settings: HingeSettings) -> bool:
    """Return whether a table gets the parts of larger tables; other kernels and scales do not."""
    least = LARGER_WITH_CATEGORIES if rows.layout.has_categories else LARGER
    is_plain = settings.ensemble and settings.kernel == "laplacian" and settings.standardize
    return is_plain and n_of_whole(len(rows)) >= least


def fit_larger(
    rows: PartRows,
    settings: HingeSettings,
    random_state: Any,
    progress: FitProgress | None = None,
) -> LargerMixture:
    """Fit the parts of larger tables, and mix them.

    Parameters
    ----------
    rows : PartRows
        The distinct encoded rows.
    settings : HingeSettings
        The settings; of them, memory and threads count here.
    random_state : RandomState
        Picks rows and landmarks.
    progress : FitProgress, default=None
        Told of each step.

    Returns
    -------
    mixed : LargerMixture
        The parts and their mixture.
    """
    from .parts.larger import larger_table_parts  # its import costs small tables 20 ms

    parts, learned = larger_table_parts(
        rows,
        random_state,
        memory=settings.solver.memory,
        threads=settings.threads,
        progress=progress,
    )
    mixture = mix([part.left_out for part in parts], rows)
    return LargerMixture(tuple(parts), mixture, rows, learned)


def _as_stored(part: Any) -> Any:
    """Return a part without what only its fit needs."""
    part = replace(part, left_out=part.left_out[:0])
    return replace(part, solutions=()) if hasattr(part, "solutions") else part


def fit_mixed(
    table: TrainingRows,
    layout: ColumnLayout,
    n_classes: int,
    settings: HingeSettings,
    random_state: Any,
    *,
    last: Any = None,
    progress: FitProgress | None = None,
    like: MixedParts | None = None,
) -> SmallMixture:
    """Fit the parts of a small table, and mix them.

    Parameters
    ----------
    table : TrainingRows
        The distinct encoded rows.
    layout : ColumnLayout
        What their columns are.
    n_classes : int
        The number of classes.
    settings : HingeSettings
        The settings; without ``ensemble`` the hinge part is alone.
    random_state : RandomState
        Picks rows where there are too many.
    last : tuple, default=None
        What the last fit learned, where this one starts from it.
    progress : FitProgress, default=None
        Told of each step.
    like : MixedParts, default=None
        A mixture whose parts this one is to have; None to choose them by the table.

    Returns
    -------
    mixed : SmallMixture
        The parts and their mixture.
    """
    machines = fit_hinge(table, layout, settings, random_state, last=last, progress=progress)
    rows = PartRows.of(table, layout, n_classes, settings.copy_weight)
    if len(machines.path_rows) < len(table):
        rows = rows.part(machines.path_rows)
    hinge = machines.part()
    if not settings.ensemble:
        k = hinge.left_out.shape[1]
        alone = Mixture(np.ones(1), np.eye(k)[None], np.zeros(k))
        return SmallMixture((hinge,), alone, rows, machines)
    factor = machines.paths["energy"].best.value
    if like is None:
        has_additive = len(rows) > _ROWS_PER_COLUMN * rows.X.shape[1]
    else:
        has_additive = any(part.name == "additive" for part in like.parts)
    beside = parts_beside(rows, settings, factor, random_state, has_additive=has_additive)
    parts = (hinge, *beside)
    return SmallMixture(parts, mix([part.left_out for part in parts], rows), rows, machines)


def parts_beside(
    rows: PartRows,
    settings: HingeSettings,
    factor: float,
    random_state: Any,
    *,
    has_additive: bool = True,
) -> list[Part]:
    """Fit the parts that stand beside the hinge part of a small table.

    Parameters
    ----------
    rows : PartRows
        The rows.
    settings : HingeSettings
        The settings; of them, kernel and threads count here.
    factor : float
        The inverse width of the ridge machines' kernel, in units of the typical distance.
    random_state : RandomState
        Picks rows where there are too many.
    has_additive : bool, default=True
        Whether there is an additive part.

    Returns
    -------
    parts : list of Part
        Ridge machines, linear ones, and an additive regression.
    """

    def ridge(numbers: PartRows) -> Part:
        return fit_ridge(numbers, settings.kernel, factor, random_state, threads=settings.threads)

    def linear(numbers: PartRows) -> Part:
        return fit_linear(numbers, random_state)

    parts = fit_on_numbers(rows, ridge, linear)
    if has_additive:
        parts.append(fit_additive(rows, energy_relevance_of(rows)))
    return parts


@dataclass(frozen=True)
class Half:
    """A mixture that was fitted to half of the rows, and its decisions on the others.

    Parameters
    ----------
    predictor : MixturePredictor
        The mixture, for encoded rows.
    decided : ndarray of shape (n_decided,)
        The numbers of the rows that it did not have.
    decisions : ndarray of shape (n_decided, k)
        Its log-odds of them.
    of_parts : tuple of ndarray of shape (n_decided, k)
        The decisions on them of each of its parts.
    """

    predictor: MixturePredictor
    decided: Index
    decisions: Array
    of_parts: tuple[Array, ...]


def fit_halves(
    rows: TrainingRows,
    layout: ColumnLayout,
    n_classes: int,
    settings: HingeSettings,
    random_state: Any,
    whole: SmallMixture,
) -> tuple[Half, Half] | None:
    """Fit the parts to each half of the rows.

    A half learns its weights and chooses the costs of the ridge machines and the mixture anew. The
    members of its hinge part take width and C from the whole fit: where a half chose them itself,
    its decisions would be on another scale than those that they are compared with.

    Parameters
    ----------
    rows : TrainingRows
        The distinct encoded rows; rows of a group stay together.
    layout : ColumnLayout
        What their columns are.
    n_classes : int
        The number of classes.
    settings : HingeSettings
        The settings of the whole fit; halves evaluate the bound less often.
    random_state : RandomState
        Deals the rows to halves.
    whole : SmallMixture
        The whole fit.

    Returns
    -------
    halves : tuple of Half or None
        The halves; None where a half would have one class only, or where most rows are copies,
        so that new rows will be as well known as the copies that are left out.
    """
    if np.isfinite(settings.copy_weight):
        return None
    if rows.groups is None:
        folds = deal(rows.classes, 2, random_state)
    else:
        folds = deal_groups(rows.classes, rows.groups, 2, random_state)
    if len(folds) < 2 or any(len(np.unique(rows.classes[fold])) < 2 for fold in folds):
        return None
    paths = whole.machines.paths
    points = {name: (path.best.value, path.best.C) for name, path in paths.items()}
    fewer = replace(
        settings,
        max_iter=min(HALF_EVALUATIONS, settings.max_iter),
        points=points,
    )
    halves = []
    for own, other in (folds, folds[::-1]):
        mixed = fit_mixed(rows.part(own), layout, n_classes, fewer, random_state, like=whole)
        of_parts = tuple(part.decision_values(rows.X[other]) for part in mixed.parts)
        decisions = mixed.mixture.decisions(of_parts)
        halves.append(Half(mixed.predictor(), other, decisions, of_parts))
    return halves[0], halves[1]


def decisions_of_halves(halves: Sequence[Half], mixture: Mixture) -> Array:
    """Return what the mixture of the whole fit makes of the parts of the halves.

    Parameters
    ----------
    halves : sequence of Half
        The halves; each decides the rows that it did not have.
    mixture : Mixture
        The mixture of the whole fit, whose log-odds are to be compared with these.

    Returns
    -------
    log_odds : ndarray of shape (m, k)
        The log-odds.
    """
    n_rows = sum(len(half.decided) for half in halves)
    out = np.empty((n_rows, halves[0].decisions.shape[1]))
    for half in halves:
        out[half.decided] = mixture.decisions(half.of_parts)
    return out
