"""The parts of tables of thousands of rows, or with categories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...._typing import Array
from ...base.progress import FitProgress
from .additive import PLACES, AdditivePart, fit_additive
from .crossed import cross_columns
from .evidence import EvidenceWeights, learn_beside
from .evidence_hinge import fit_evidence_hinge
from .indicators import fit_on_numbers
from .joint import NEWTON_STEPS, JointPart, fit_joint
from .linear import fit_linear
from .part import Part
from .ridge import fit_ridge
from .rows import PartRows
from .variances import prior_variances

BESIDE = 1500  # distinct rows up to which ridge and linear machines stand beside the others
_RIDGE_ROWS = 1000  # most rows of the ridge machines: their cost grows with the cube
_LEVELS = 300  # levels of all categories with additive effects, about: the rarer ones are shifted
_OWN_VARIANCES = 1000  # distinct rows above which columns have prior variances of their own
_FACTOR = 1.0  # inverse width of their kernel, in units of the typical distance


def larger_table_parts(
    rows: PartRows,
    random_state: Any,
    *,
    memory: float = np.inf,
    threads: int = 1,
    progress: FitProgress | None = None,
) -> tuple[list[Part], EvidenceWeights]:
    """Fit the joint part, the hinge part where it pays, and others where the rows are not many.

    Where pairs of columns pay, the joint part has shifts by their levels.

    Parameters
    ----------
    rows : PartRows
        The training rows.
    random_state : RandomState
        Picks rows and landmarks.
    memory : float, default=inf
        Bytes for kernel values.
    threads : int, default=1
        Threads over kernel values and machines.
    progress : FitProgress, default=None
        Told of each step.

    Returns
    -------
    parts : list of Part
        One to four parts, whose leave-one-out decisions are on all rows.
    learned : EvidenceWeights
        The weights of their kernel.
    """
    own_variances = len(rows) > _OWN_VARIANCES
    learned, fit_joint_part = begin_joint(rows, random_state, progress, own_variances=own_variances)
    joint = fit_joint_part()
    first: Part = cross_columns(rows, joint, progress) if rows.layout.has_categories else joint
    hinge = fit_evidence_hinge(
        rows, learned, first, random_state, memory=memory, threads=threads, progress=progress
    )
    parts: list[Part] = [first] if hinge is None else [first, hinge]
    if len(rows) < BESIDE:
        parts += [_ridge_part(rows, random_state, threads), _linear_part(rows, random_state)]
    return parts, learned


def _linear_part(rows: PartRows, random_state: Any) -> Part:
    return fit_on_numbers(rows, lambda numbers: fit_linear(numbers, random_state))[0]


def _ridge_part(rows: PartRows, random_state: Any, threads: int) -> Part:
    """Fit ridge machines to some rows; they have not seen the others, nor rows of their groups."""
    some = rows.sample_groups(_RIDGE_ROWS, random_state)

    def fit(numbers: PartRows) -> Part:
        return fit_ridge(numbers, "laplacian", _FACTOR, random_state, threads=threads)

    part: Any = fit_on_numbers(rows.part(some), fit)[0]
    left_out = part.decision_values(rows.X)
    left_out[some] = part.left_out
    fitted: Part = replace(part, left_out=left_out)
    return fitted


def begin_joint(
    rows: PartRows,
    random_state: Any,
    progress: FitProgress | None = None,
    threads: int = 1,
    *,
    n_steps: int = NEWTON_STEPS,
    places: int = PLACES,
    own_variances: bool = False,
) -> tuple[EvidenceWeights, Callable[[], JointPart]]:
    """Learn weights by the evidence, and return them before the joint part is there.

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
    n_steps : int, default=2
        Newton steps of the part.
    places : int, default=1000
        Bins of all numbers, and levels of all categories, about: more are merged.
    own_variances : bool, default=False
        Whether the effects of each column have a prior variance of their own.

    Returns
    -------
    learned : EvidenceWeights
        The weights.
    finish : callable
        Returns the part, which is fitted then: other parts need the weights alone.
    """

    def fit(rows: PartRows) -> tuple[AdditivePart, Array | None]:
        relevance = prior_variances(rows, _LEVELS) if own_variances else None
        return fit_additive(rows, relevance, places=places, levels=_LEVELS), relevance

    additive, learned = learn_beside(fit, rows, random_state, progress, threads)

    def finish() -> JointPart:
        part, relevance = additive()
        return fit_joint(rows, part, learned, random_state, n_steps, relevance)

    return learned, finish
