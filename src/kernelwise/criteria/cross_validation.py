"""The loss on held-out rows of a k-fold cross-validation, with its gradient.

A held-out row has bounds of zero, so that all folds share one kernel matrix and the row's entry of
K b + nu is its decision value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold

from .._typing import Array, Gram
from ..qp import SMO, c_svc
from ..qp.gram import as_gram
from .base import CriterionValue
from .implicit import ImplicitMachine, implicit
from .labelled import LabelledCriterion, SolvedPart
from .labels import CodedLabels, starts
from .span import split


@dataclass(frozen=True)
class CrossValidation(LabelledCriterion):
    """The mean loss on held-out rows, summed over the machines.

    Parameters
    ----------
    C : float, default=1.0
        The cost of slack.
    solver : SMO, default=SMO()
        The solver of the machines; an exact one, as their solutions are differentiated.
    threads : int, default=1
        Threads over machines and folds.
    loss : {"hinge", "logistic"}, default="logistic"
        The loss of a held-out row with margin m: max(0, 1 - m), or log(1 + exp(-m)).
    folds : int or array-like of shape (n,), default=5
        Number of folds, which are stratified and the same in every evaluation; or each row's fold.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import CrossValidation
    >>> X = np.linspace(-2, 2, 10)[:, None]
    >>> y = np.where(X[:, 0] > 0, 1.0, -1.0)
    >>> round(CrossValidation(loss="hinge").evaluate(X @ X.T, y).value, 3)
    0.3
    """

    solver: SMO = field(default_factory=SMO)
    loss: str = "logistic"
    folds: Any = 5

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if self.loss not in ("hinge", "logistic"):
            raise ValueError(f"loss must be 'hinge' or 'logistic'; got {self.loss!r}.")

    def _evaluate(
        self, K: Array | Gram, labels: CodedLabels, start: Any, gradient: bool
    ) -> CriterionValue:
        Y, bound = labels.codes, self.C * labels.weights
        gram, fold_of = as_gram(K), self._fold_of(Y)
        tasks = [(j, fold) for j in range(Y.shape[1]) for fold in np.unique(fold_of)]
        begin = starts(start, len(tasks))

        def solve(t: int) -> SolvedPart:
            j, fold = tasks[t]
            held_out = fold_of == fold
            y = np.where(held_out, 0, Y[:, j])
            solution = self.solver.solve(c_svc(gram, y, bound), start=begin[t])
            decisions = solution.gradient + y + solution.nu[0]
            code = np.where(held_out, Y[:, j], 0)
            value, slope = self._loss(code * decisions)
            counted = code != 0
            by_decision = np.where(counted, slope * code, 0) / np.count_nonzero(Y[:, j])
            total = float(value[counted].sum()) / np.count_nonzero(Y[:, j])
            if not gradient:
                return solution, total, None, 0.0
            machine = ImplicitMachine.of(gram, solution, y, *split(solution.beta, bound))
            back = implicit(machine, by_decision)
            return solution, total, back.cotangent, back.by_bounds

        value, cotangent, by_C, solutions = self._total(solve, len(tasks), gradient)
        return CriterionValue(value, cotangent, by_C, (), solutions)

    def _fold_of(self, Y: Array) -> Array:
        """Return each row's fold, stratified by the rows' codes where only a number is given."""
        if np.ndim(self.folds):
            fold_of = np.asarray(self.folds)
            if fold_of.shape != (len(Y),) or len(np.unique(fold_of)) < 2:
                raise ValueError(
                    f"folds must assign each of the {len(Y)} rows to one of at least two folds."
                )
            return fold_of
        _, classes = np.unique(Y, axis=0, return_inverse=True)
        smallest = int(np.bincount(classes.ravel()).min())
        if smallest < 2:
            raise ValueError("cross-validation needs at least two rows of each class.")
        splitter = StratifiedKFold(min(int(self.folds), smallest), shuffle=True, random_state=0)
        fold_of = np.empty(len(Y), dtype=np.intp)
        for number, (_, test) in enumerate(splitter.split(Y, classes.ravel())):
            fold_of[test] = number
        return fold_of

    def _loss(self, margins: Array) -> tuple[Array, Array]:
        if self.loss == "hinge":
            return np.maximum(0, 1 - margins), np.where(margins < 1, -1.0, 0.0)
        return np.logaddexp(0, -margins), -expit(-margins)
