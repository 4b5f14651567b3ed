"""The optimal dual objective of a machine as a criterion.

    W(K) = max_b  p'b - 1/2 b'Kb   s.t. the machine's constraints,      dW/dK = -1/2 b b'

By the envelope theorem only K itself is differentiated, as b is optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._typing import Array, Gram
from ..kernels import Cotangent
from ..qp import DualQP, Solution
from ..qp.gram import as_gram
from ..qp.problem import ridged
from .base import CriterionValue
from .labelled import LabelledCriterion
from .labels import CodedLabels, starts


@dataclass(frozen=True)
class DualObjective(LabelledCriterion):
    """The optimal dual objective, summed over the machines.

    Parameters
    ----------
    C : float, default=1.0
        The cost of slack.
    solver : SMO, default=SMO(budget=0)
        The solver of the machines.
    threads : int, default=1
        Threads over the machines.
    slack : {"hinge", "squared"}, default="hinge"
        The loss: C sum xi (the C-SVC) or C/2 sum xi^2 (the L2-SVM).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import DualObjective
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> DualObjective(C=10.0).evaluate(X @ X.T, y).value
    0.5
    """

    slack: str = "hinge"

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if self.slack not in ("hinge", "squared"):
            raise ValueError(f"slack must be 'hinge' or 'squared'; got {self.slack!r}.")

    @property
    def reads_all_rows(self) -> bool:
        """Whether evaluating reads most of the kernel matrix, so that it should be stored."""
        return self.slack == "squared"

    def _evaluate(
        self, K: Array | Gram, labels: CodedLabels, start: Any, gradient: bool
    ) -> CriterionValue:
        begin = starts(start, labels.n_machines)
        if self.slack == "squared":
            gram = as_gram(ridged(self.dense(K, labels.largest_weight), self.C * labels.weights))
            terms = labels.hard_terms
        else:
            gram, terms = as_gram(K), labels.terms(self.C)

        def solve(j: int) -> Solution:
            return self.solver.solve(DualQP(gram, terms[j]), start=begin[j])

        machines = tuple(self._solve_all(solve, range(labels.n_machines)))
        value = -sum(machine.objective for machine in machines)
        if not gradient:
            return CriterionValue(value, None, machines=machines, carry=machines)
        beta = np.column_stack([machine.beta for machine in machines])
        rows, scale = np.flatnonzero(beta.any(axis=1)), np.full(len(machines), -0.5)
        if len(rows) == len(beta):
            cotangent = Cotangent(beta, scale)
        else:
            cotangent = Cotangent(beta[rows], scale, rows=rows)
        by_C = partial(self._by_C, machines, beta, labels.codes, labels.weights)
        return CriterionValue(value, cotangent, by_C, machines, machines)

    def _by_C(self, machines: Any, beta: Array, Y: Array, weights: Array) -> float:
        """Return the derivative by C, through the bounds or through the ridge 1 / C."""
        if np.isinf(self.C):
            return 0.0
        if self.slack == "squared":
            return float(((beta**2).sum(axis=1) / weights).sum() / (2 * self.C**2))
        total = 0.0
        for machine, y in zip(machines, Y.T, strict=True):
            decisions = machine.gradient + y + machine.nu[0]
            total += float((weights * np.maximum(0, 1 - y * decisions) * (y != 0)).sum())
        return total
