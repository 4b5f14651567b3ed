"""What a fit of several parts leaves behind: parts, mixture and calibration as they predict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..._records import dataclass
from ..._threads import run, single_blas
from ..._typing import Array, Index
from ..base.calibration import Calibration
from ..base.predictor import SupportVectors
from ..base.steps import RowStep, apply_all
from .parts.mixture import Mixture
from .parts.part import Part

_BLOCK_ROWS = 1024  # new rows that are decided at a time
_ENCODED_ROWS = 65536  # new rows that are encoded at a time


@dataclass(frozen=True)
class MixturePredictor:
    """Parts whose log-odds are mixed.

    Parameters
    ----------
    parts : tuple of Part
        The parts; they read encoded rows.
    mixture : Mixture
        What makes log-odds of their decisions.
    calibration : Calibration or None, default=None
        What caps the log-odds; None leaves them as they are.
    before : tuple of RowStep, default=()
        Steps from the rows a user gives to encoded rows.
    multiclass : {"ovr"}, default="ovr"
        How decisions become classes: one column per class, or one for two classes.
    """

    parts: tuple[Part, ...]
    mixture: Mixture
    calibration: Calibration | None = None
    before: tuple[RowStep, ...] = ()
    multiclass: str = "ovr"
    gives_scores: ClassVar[bool] = True  # decision values are log-odds already

    def decision_values(self, X: Any, threads: int = 1) -> Array:
        """Compute log-odds of the second class, or scores whose softmax are probabilities.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            New rows.
        threads : int, default=1
            Threads over blocks of rows.

        Returns
        -------
        log_odds : ndarray of shape (n, 1) or (n, n_classes)
            The log-odds or scores.
        """
        # Cells want blocks of many rows; no table is ever encoded whole.
        height = max(getattr(part, "block_rows", _ENCODED_ROWS) for part in self.parts)
        blocks = [X[start : start + height] for start in range(0, X.shape[0], height)]
        with single_blas():
            log_odds = np.vstack([self._decide(block, threads) for block in blocks])
        return log_odds if self.calibration is None else self.calibration.scores(log_odds)

    def _decide(self, X: Any, threads: int) -> Array:
        """Return the log-odds of one block of rows."""

        def encode(start: int) -> Array:
            return apply_all(self.before, X[start : start + encoded_rows])

        encoded_rows = -(-X.shape[0] // threads)
        encoded = run(encode, range(0, X.shape[0], encoded_rows), threads)
        rows = encoded[0] if len(encoded) == 1 else np.vstack(encoded)
        return self.mixture.decisions([_decided(part, rows, threads) for part in self.parts])

    def additive_values(self, X: Any) -> Array:
        """Compute what single columns add to the log-odds or scores, up to a constant.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            New rows.

        Returns
        -------
        values : ndarray of shape (n, 1) or (n, n_classes)
            The sum of the additive functions of all parts.
        """
        rows = apply_all(self.before, X)
        total = np.zeros((len(rows), len(self.mixture.offset)))
        for part, factor in zip(self.parts, self.mixture.factors, strict=True):
            own = part.additive_values(rows)
            if own is not None:
                total += own @ factor
        cap = self.calibration
        return total if cap is None else total * cap.temperature * cap.sigmoid.slope

    @property
    def hinge(self) -> Any:
        """The hinge part; None where there is none."""
        return next((part for part in self.parts if part.name == "hinge"), None)

    @property
    def vectors(self) -> SupportVectors:
        """The support vectors of the hinge part."""
        if self.hinge is None:
            return SupportVectors(np.zeros(0, dtype=np.intp), np.empty((0, 0)), np.empty((0, 0)))
        vectors: SupportVectors = self.hinge.predictor.vectors
        return vectors

    @property
    def intercept(self) -> Array:
        """The intercepts of the machines of the hinge part."""
        return np.empty(0) if self.hinge is None else self.hinge.predictor.intercept

    def of_rows(self, rows: Index, multiclass: str) -> MixturePredictor:
        """Renumber the support vectors as in the table that the user gave.

        Parameters
        ----------
        rows : ndarray of shape (n,)
            The row of that table for each row of the fit.
        multiclass : {"ovr"}
            How decisions become classes.

        Returns
        -------
        predictor : MixturePredictor
            The same parts.
        """
        hinge = self.hinge
        if hinge is None:
            return replace(self, multiclass=multiclass)
        own = replace(hinge, predictor=hinge.predictor.of_rows(rows, multiclass))
        parts = tuple(own if part is hinge else part for part in self.parts)
        return replace(self, parts=parts, multiclass=multiclass)


def _decided(part: Any, X: Array, threads: int) -> Array:
    """Return the decisions of a part, on few rows at a time where it has no blocks of its own."""
    if hasattr(part, "block_rows"):
        decisions: Array = part.decision_values(X, threads)
        return decisions

    def decide(start: int) -> Array:
        few: Array = part.decision_values(X[start : start + _BLOCK_ROWS])
        return few

    return np.vstack(run(decide, range(0, len(X), _BLOCK_ROWS), threads))
