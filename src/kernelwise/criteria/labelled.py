"""The base of the criteria of this package: codes and weights are checked once for all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from math import isfinite
from typing import Any

from .._typing import Array, Gram
from ..kernels import Cotangent
from ..qp import Solution
from .base import Criterion, CriterionValue
from .labels import CodedLabels

# A machine, its value, its cotangent, and C times its derivative by C
SolvedPart = tuple[Solution, float, Cotangent | None, float]


class LabelledCriterion(Criterion):
    """A criterion of checked labels."""

    def evaluate(
        self,
        K: Array | Gram,
        Y: Any,
        *,
        weights: Any = None,
        start: Any = None,
        gradient: bool = True,
    ) -> CriterionValue:
        return self._evaluate(K, CodedLabels.of(Y, weights), start, gradient)

    @abstractmethod
    def _evaluate(
        self, K: Array | Gram, labels: CodedLabels, start: Any, gradient: bool
    ) -> CriterionValue:
        """Evaluate the criterion for checked labels."""

    def _total(
        self, solve: Callable[[int], SolvedPart], n_parts: int, gradient: bool
    ) -> tuple[float, Cotangent | None, Callable[[], float], tuple[Solution, ...]]:
        """Return the sum of all parts: value, cotangent, slope by C and the solutions."""
        parts: list[SolvedPart] = self._solve_all(solve, range(n_parts))
        solutions, values, cotangents, slopes = zip(*parts, strict=True)
        cotangent = Cotangent.total([each for each in cotangents if each is not None])
        by_C = float(sum(slopes)) / self.C if isfinite(self.C) else 0.0
        return float(sum(values)), cotangent if gradient else None, lambda: by_C, solutions
