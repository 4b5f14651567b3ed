"""The solvers of a path: quick ones on the way, and an exact one for the chosen machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...qp import SMO, Adatron
from .margin_adatron import MarginAdatron

_HARD_STEPS, _FEWEST_HARD = 200, 10_000  # steps per row, at least: a hard margin may not exist
_SOFT_STEPS, _FEWEST_SOFT = 1000, 100_000  # ten times as many as points worth choosing need
_POLISH = 3e6  # kernel entries worth spending on exactness, over all machines


@dataclass(frozen=True)
class PathSolvers:
    """The settings of the solvers."""

    name: str = "smo"
    tol: float = 1e-3  # the tolerance, in units of the margin
    eta: float = 1.0  # the step of the Adatron
    max_iter: int = -1  # most steps per machine; -1 depends on the rows and on C
    # where the Adatron stops: at the optimality conditions, or at a functional margin of one
    stop: str = "tol"

    def on_path(self, n_rows: int, C: float) -> Any:
        """Return the solver of a machine on the way, which ends at its tolerance."""
        if self.name == "adatron":
            return self._adatron()
        steps = self._hard_steps(n_rows, C)
        if steps < 0:
            steps = max(_FEWEST_SOFT, _SOFT_STEPS * n_rows)
        return SMO(tol=self.tol, max_iter=steps, exact=False)

    def final(self, n_rows: int, C: float, *, n_machines: int, memory: float) -> Any:
        """Return the solver of chosen machines, which polishes them where that is cheap."""
        if self.name == "adatron":
            return self._adatron()
        steps, budget = self._hard_steps(n_rows, C), _POLISH / n_machines
        return SMO(tol=self.tol, max_iter=steps, memory=memory, budget=budget)

    def _adatron(self) -> Adatron | MarginAdatron:
        sweeps = {} if self.max_iter < 0 else {"max_iter": self.max_iter}
        kind = MarginAdatron if self.stop == "margin" else Adatron
        return kind(tol=self.tol, eta=self.eta, **sweeps)

    def _hard_steps(self, n_rows: int, C: float) -> int:
        if self.max_iter < 0 and np.isinf(C):
            return max(_FEWEST_HARD, _HARD_STEPS * n_rows)
        return self.max_iter
