"""Instances of every criterion, and codes for them.

A class that is missing here fails a test, and one that is here meets every law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelwise.criteria import (
    Alignment,
    Criterion,
    CrossValidation,
    DualObjective,
    LeaveOneOut,
    RadiusMargin,
)
from kernelwise.kernels import Kernel
from kernelwise.qp import SMO

from .registry import D, signs

N_CODED = 24  # rows of the problems that the criteria are given


@dataclass(frozen=True, eq=False)
class CriterionCase:
    """A criterion, solved to rounding, and how exact its gradient is.

    Implicit differentiation inverts the free block with a jitter of 1e-8 of its diagonal, which
    the gradient neglects; the gradient by the envelope theorem is exact.
    """

    name: str
    criterion: Criterion
    precision: float = 1e-8
    solves: bool = True

    def accepts(self, kernel: Kernel) -> bool:
        """Return whether the kernel determines the machines; a constant one does not."""
        constant = getattr(kernel, "degree", 1) == 0
        return not self.solves or (kernel.is_psd and not constant)


def _criteria():
    tight = {"C": 2.0, "solver": SMO(tol=1e-10)}
    folds = np.arange(N_CODED) * 7 % 3
    yield CriterionCase("dual-hinge", DualObjective(**tight))
    yield CriterionCase("dual-squared", DualObjective(**tight, slack="squared"))
    yield CriterionCase("radius-margin", RadiusMargin(**tight))
    yield CriterionCase("margin-of-unit-radius", RadiusMargin(**tight, ball=False))
    yield CriterionCase("leave-one-out", LeaveOneOut(**tight), 1e-5)
    yield CriterionCase("leave-one-out-steep", LeaveOneOut(**tight, slope=20.0), 1e-5)
    yield CriterionCase("cv-logistic", CrossValidation(**tight, folds=folds), 1e-5)
    hinge = CrossValidation(**tight, folds=folds, loss="hinge")
    yield CriterionCase("cv-hinge", hinge, 1e-5)
    yield CriterionCase("alignment", Alignment(), solves=False)
    yield CriterionCase("alignment-not-centred", Alignment(centered=False), solves=False)


CRITERIA = list(_criteria())


def codes_for(seed=0, n=N_CODED):
    """Return two columns of codes, the second with zeros, and weights of the rows.

    The rows are those of `rows_for` with the same seed: their first feature separates the classes,
    up to noise.
    """
    first = np.random.default_rng(seed).normal(size=(n, D))[:, 0]
    rng = np.random.default_rng(1000 + seed)
    y, other = (signs(first + 0.7 * rng.normal(size=n)) for _ in range(2))
    outside = rng.permutation(n) < n // 4
    return np.column_stack([y, np.where(outside, 0.0, -other)]), rng.uniform(0.5, 2.0, size=n)
