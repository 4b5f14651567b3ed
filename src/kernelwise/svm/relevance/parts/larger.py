"""The parts of tables of thousands of rows, or with categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...._threads import single_blas
from ...base.progress import FitProgress
from .additive import fit_additive
from .evidence import EvidenceWeights, learn_evidence, start_weights
from .evidence_hinge import fit_evidence_hinge
from .joint import JointPart, fit_joint
from .metric import MetricColumns
from .part import Part
from .rows import PartRows


def larger_table_parts(
    rows: PartRows,
    random_state: Any,
    *,
    memory: float = np.inf,
    threads: int = 1,
    progress: FitProgress | None = None,
) -> tuple[list[Part], EvidenceWeights]:
    """Fit the joint part, and the hinge part where it pays.

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
        One or two parts, whose leave-one-out decisions are on all rows.
    learned : EvidenceWeights
        The weights of their kernel.
    """
    joint, learned = joint_part(rows, random_state, progress)
    hinge = fit_evidence_hinge(
        rows, learned, joint, random_state, memory=memory, threads=threads, progress=progress
    )
    return ([joint] if hinge is None else [joint, hinge]), learned


def joint_part(
    rows: PartRows, random_state: Any, progress: FitProgress | None = None
) -> tuple[JointPart, EvidenceWeights]:
    """Learn weights by the evidence and fit the joint part at them.

    Parameters
    ----------
    rows : PartRows
        The training rows.
    random_state : RandomState
        Picks rows and landmarks.
    progress : FitProgress, default=None
        Told of each step.

    Returns
    -------
    joint : JointPart
        The part.
    learned : EvidenceWeights
        The weights.
    """
    with single_blas():
        columns = MetricColumns.of(rows)
        learned = learn_evidence(rows, columns, start_weights(rows), random_state, progress)
        return fit_joint(rows, fit_additive(rows), learned, random_state), learned
