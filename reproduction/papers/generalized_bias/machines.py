"""The machines of the generalised-bias experiments, and their parameters by inner folds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from kernelwise._typing import Array
from kernelwise.kernels import Kernel
from kernelwise.svm import SVC, GeneralizedBiasSVC

from ...experiment import Row
from ...tables import Check

PAPER = (
    "W. Li, K.-S. Leung, K.-H. Lee, Generalizing the bias term of support vector machines, "
    "IJCAI 2007"
)
SVM, GB, CONTROL = "SVM", "GB", "control"
FEATURES = "features"  # the SVM on the features alone
TITLES = {SVM: "SVM", GB: "SVM-GB", CONTROL: "control"}
CONTROL_NOTE = (
    "control: the SVM with the kernel Phi + F F' and a constant, which is SVM-GB with a constant "
    "and bias_penalty=1."
)


class SplitRows(NamedTuple):
    """Training and test rows as the kernel reads them, and the features of both."""

    X: Any
    F: Array
    y: Any
    X_test: Any
    F_test: Array
    y_test: Any


class Judged(NamedTuple):
    """Predictions of a machine for the test rows, and how well it is solved."""

    guesses: Any
    right: Any
    violation: float
    n_unsolved: int
    kernel_share: float

    @property
    def accuracy(self) -> float:
        """Percent of the test rows."""
        return 100 * float(self.right.mean())


class ChosenPoint(NamedTuple):
    """The kernel, by its place in the list, and C with the most correct held-out rows."""

    kernel: int
    C: float


class Contest:
    """All machines on one split with one kernel, whose matrices are made once.

    Parameters
    ----------
    part : SplitRows
        The rows.
    kernel : Kernel
        The kernel Phi.
    """

    def __init__(self, part: SplitRows, kernel: Kernel) -> None:
        self.part, self.kernel = part, kernel

    @cached_property
    def _grams(self) -> tuple[Array, Array]:
        return self.kernel(self.part.X), self.kernel(self.part.X_test, self.part.X)

    @cached_property
    def _with_features(self) -> tuple[Any, Any]:
        """Return the rows with their features as further columns."""
        F, F_test = self.part.F, self.part.F_test
        if sp.issparse(self.part.X):
            pairs = ((self.part.X, F), (self.part.X_test, F_test))
            train, test = (sp.hstack([X, sp.csr_array(Z)], format="csr") for X, Z in pairs)
            return train, test
        return np.hstack([self.part.X, F]), np.hstack([self.part.X_test, F_test])

    def judge(self, kind: str, C: float) -> Judged:
        """Fit a machine and judge it by the test rows."""
        F, F_test = self.part.F, self.part.F_test
        if kind == GB:
            return self.judge_biased(C, 0.0)
        if kind == FEATURES:
            return self._judged(SVC(C=C, kernel="precomputed"), F @ F.T, F_test @ F.T)
        K, K_test = self._grams
        if kind == CONTROL:
            K, K_test = K + F @ F.T, K_test + F_test @ F.T
        return self._judged(SVC(C=C, kernel="precomputed"), K, K_test)

    def judge_biased(self, C: float, penalty: float) -> Judged:
        """Fit SVM-GB with a penalty on the coefficients of its features; 0 is the paper's.

        The paper's bias is the features alone; the penalised one has a constant beside them.
        """
        model = GeneralizedBiasSVC(
            slice(self.part.X.shape[1], None),
            C=C,
            kernel=self.kernel,
            exclude_bias_from_kernel=True,
            bias_penalty=penalty,
            fit_intercept=penalty > 0,
        )
        return self._judged(model, *self._with_features)

    def _judged(self, model: Any, train: Any, test: Any) -> Judged:
        with warnings.catch_warnings():
            # Features that separate the rows are expected; the violation is among the results.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)
            model.fit(train, self.part.y)
        guesses, certificate = model.predict(test), model.certificate_
        return Judged(
            guesses,
            guesses == self.part.y_test,
            float(np.max(certificate.violation)),
            int(np.sum(np.asarray(certificate.status) != "converged")),
            float(np.mean(getattr(model, "kernel_share_", 1.0))),
        )


class TunedKinds(NamedTuple):
    """Choices of the inner folds for each kind of machine, and how well all were solved."""

    choices: dict[str, ChosenPoint]
    violation: float
    n_unsolved: int


def tuned(
    parts: Sequence[SplitRows],
    kernels: Sequence[Kernel],
    costs: Sequence[float],
    kinds: Sequence[str],
) -> TunedKinds:
    """Choose kernel and C by inner folds for each kind: on ties the first kernel, then C."""
    right = {kind: np.zeros((len(kernels), len(costs))) for kind in kinds}
    worst, n_unsolved = 0.0, 0
    for part in parts:
        for i, kernel in enumerate(kernels):
            contest = Contest(part, kernel)
            for j, C in enumerate(costs):
                for kind in kinds:
                    judged = contest.judge(kind, C)
                    right[kind][i, j] += judged.right.sum()
                    if kind == GB:
                        worst = max(worst, judged.violation)
                        n_unsolved += judged.n_unsolved
    choices = {}
    for kind in kinds:
        first = int(np.argmax(right[kind]))
        choices[kind] = ChosenPoint(first // len(costs), costs[first % len(costs)])
    return TunedKinds(choices, worst, n_unsolved)


def certified(rows: Sequence[Row]) -> list[Check]:
    """Return the checks that every machine with features in its bias is solved."""
    worst = max((row["violation"] for row in rows), default=None)
    unsolved = sum(row["n_unsolved"] for row in rows) if rows else None
    return [
        Check("largest KKT violation of any SVM-GB", worst, "<=", 1e-3, 6),
        Check("machines of SVM-GB that did not converge", unsolved, "<=", 0, 0),
    ]
