"""RelevanceSVC on large tables: cells in place of exact machines, linear in the rows.

some      = at most 50,000 rows, picked by their numbers
weights   = those of the evidence on some of these rows
joint     = the joint part on these rows
cells     = trees of cells on all rows, their width, cost and kernels judged on these rows
decision  = the mixture of least log loss on rows that both left out
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._records import dataclass
from ..._threads import in_background
from ..._typing import Index
from ...scale.forest import CellTable
from ...scale.judge import Choice
from ..base.progress import FitProgress
from .mixing import LargerMixture
from .parts.additive import PLACES
from .parts.cell_rows import CellSample
from .parts.cells import CellOptions, CellPlan, CellsPart
from .parts.joint import NEWTON_STEPS
from .parts.larger import begin_joint
from .parts.mixture import EQUAL_WEIGHTS, mix, pays
from .parts.pairs import begin_pairs
from .parts.part import Part
from .parts.rows import PartRows

_FEW_JUDGED = 2000  # judged rows below which no part is dropped
_MANY_SAMPLED = 20_000  # rows of a sample whose regression takes more steps: they cost little then
_LEAST_PLACES = 500  # bins of all columns of a small sample
_ROWS_PER_PLACE = 10  # rows of a sample for each bin of its columns: fewer do not tell bins apart
_NEWTON_STEPS_OF_MANY = 4  # after two its left-out decisions are a little too good beside the cells
_EQUAL_WEIGHTS_OF_MANY = 1.0  # penalty on unequal weights from so many on, which tell them apart


@dataclass(frozen=True)
class LargeMixture(LargerMixture):
    """The parts of a large table.

    Parameters
    ----------
    some : PartRows
        The rows that the weights and the joint part were learned from.
    chosen : ndarray
        Their places among all rows.
    n_trees : int
        The number of trees that were fitted.
    """

    some: PartRows
    chosen: Index
    n_trees: int

    @property
    def cells(self) -> CellsPart | None:
        """The cells, where they are mixed."""
        return next((part for part in self.parts if isinstance(part, CellsPart)), None)


def fit_large(
    rows: PartRows,
    numbers: Index,
    options: CellOptions,
    random_state: Any,
    progress: FitProgress | None = None,
) -> LargeMixture:
    """Fit the joint part to some rows and cells to all of them, and mix both.

    Parameters
    ----------
    rows : PartRows
        The training rows, whose table may be encoded as it is read.
    numbers : ndarray of shape (n,)
        The number of each row in the whole table, all different.
    options : CellOptions
        How cells are fitted.
    random_state : RandomState
        Picks rows, landmarks and trees.
    progress : FitProgress, default=None
        Told of each step.

    Returns
    -------
    mixed : LargeMixture
        The parts and their mixture.
    """
    seed = int(random_state.randint(2**31 - 1))
    n_rows = options.n_rows(len(rows))
    n_groups = None if options.elsewhere is None else options.elsewhere.n_groups
    sample = CellSample.of(rows, numbers, seed, options.n_trees, n_rows, n_groups)
    some = rows.part(sample.some)
    begin: Any = begin_pairs
    if not rows.layout.has_categories:
        n_steps = NEWTON_STEPS if len(some) < _MANY_SAMPLED else _NEWTON_STEPS_OF_MANY
        places = min(PLACES, max(_LEAST_PLACES, len(some) // _ROWS_PER_PLACE))
        begin = partial(begin_joint, n_steps=n_steps, places=places)
    learned, fit_regression = begin(some, random_state, progress, options.threads)
    plan = CellPlan.of(rows, learned, sample, options)
    with nullcontext() if progress is None else progress.task("joint part; width and C of cells"):
        finish, choice, table = _both(fit_regression, plan)
    cells = None
    if plan is not None and choice is not None and _may_pay(choice, finish, some):
        cells = plan.fit(choice.members, progress, table)
    in_some = np.searchsorted(sample.some, sample.judged)
    judged = some.part(in_some)
    parts: list[Part] = [_on_judged(finish(), in_some)]
    if cells is not None:
        parts = paying([*parts, cells], judged)
    n_trees = 0 if cells is None else len(cells.members)
    penalty = EQUAL_WEIGHTS if len(judged) < _FEW_JUDGED else _EQUAL_WEIGHTS_OF_MANY
    mixture = mix([part.left_out for part in parts], judged, penalty)
    return LargeMixture(tuple(parts), mixture, judged, learned, some, sample.some, n_trees)


def _both(
    fit_regression: Callable[[], Part], plan: CellPlan | None
) -> tuple[Callable[[], Any], Choice | None, CellTable | None]:
    """Start the regression, and choose kernel, width and C of the cells while it is fitted."""
    threads = 1 if plan is None else plan.options.threads
    finish = in_background(fit_regression, threads)
    return (finish, None, None) if plan is None else (finish, *_choose(plan, max(1, threads - 1)))


def _choose(plan: CellPlan, threads: int) -> tuple[Choice | None, CellTable | None]:
    """Return what the judge chose for the cells, and their rows if they are sure to get trees."""
    choice = plan.judge(threads)
    gets_trees = choice is not None and not plan.rows.layout.has_categories
    return choice, plan.table(threads=threads) if gets_trees else None


def _may_pay(choice: Choice, finish: Callable[[], Any], some: PartRows) -> bool:
    """Return whether trees are worth their time beside the regression of a table with categories.

    Cells tell levels apart by few rows each: where a sample of the rows sees no use of them, more
    rows have not brought any. Cells of numbers alone grow better with the rows, and always get
    their trees, which therefore do not wait for the regression.
    """
    if not some.layout.has_categories or len(choice.held_out) < _FEW_JUDGED:
        return True
    none = np.zeros(0, dtype=np.intp)
    held_out = choice.held_out
    return pays(finish().left_out[held_out], choice.decisions, some.part(held_out), none)


def _on_judged(part: Any, judged: Index) -> Any:
    """Return a part whose left-out decisions are those of the judged rows."""
    return replace(part, left_out=part.left_out[judged])


def paying(parts: list[Part], judged: PartRows) -> list[Part]:
    """Return those of two parts that lower the log loss beside the other one.

    Parameters
    ----------
    parts : list of Part
        Two parts, the second of which stays where neither lowers it.
    judged : PartRows
        The rows of their left-out decisions.

    Returns
    -------
    parts : list of Part
        One of the parts, or both.
    """
    none = np.zeros(0, dtype=np.intp)
    first, second = parts
    if len(judged) < _FEW_JUDGED:
        return parts
    if not pays(second.left_out, first.left_out, judged, none):
        return [second]
    if not pays(first.left_out, second.left_out, judged, none):
        return [first]
    return parts


def time_is_up(max_time: float | None) -> Callable[[], bool] | None:
    """Return a function that tells, from now on, whether so many seconds have passed."""
    if max_time is None:
        return None
    end = perf_counter() + max_time
    return lambda: perf_counter() >= end


def large_warnings(
    mixed: LargeMixture, options: CellOptions, checkpoint: Any = None
) -> list[tuple[str, type[Warning]]]:
    """Return what a user should know about trees that are missing, not used or not converged.

    Parameters
    ----------
    mixed : LargeMixture
        The fitted parts.
    options : CellOptions
        How they were fitted.
    checkpoint : path-like, default=None
        The folder of finished trees, as the user names it.

    Returns
    -------
    warnings : list of tuple
        Texts and categories.
    """
    found: list[tuple[str, type[Warning]]] = []
    if options.stops is not None and mixed.n_trees < options.n_trees and options.stops():
        text = (
            f"max_time is over: {mixed.n_trees} of {options.n_trees} trees of cells are fitted, "
            f"and the model does without the others. Its parts: {_names(mixed)}."
        )
        found.append((text, UserWarning))
    if options.store is not None and options.store.others > 0:
        text = (
            f"checkpoint={str(checkpoint)!r} holds {options.store.others} tree(s) of another "
            "table or of other parameters, which are not used."
        )
        found.append((text, UserWarning))
    cells = mixed.cells
    if cells is not None and cells.n_not_converged:
        n_cells = sum(len(tree.intercepts) for tree in cells.forest.trees)
        text = (
            f"{cells.n_not_converged} of {n_cells} cells did not converge. The model is usable but "
            "not optimal."
        )
        found.append((text, ConvergenceWarning))
    return found


def _names(mixed: LargeMixture) -> str:
    return ", ".join(part.name for part in mixed.parts)
