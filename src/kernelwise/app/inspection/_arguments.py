"""Constraints of arguments that several functions of this package share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from ..._parameters import HasMethods, Interval

_MOST = 1_000_000  # repeats, rows or points that no check can use up

ESTIMATOR: list[Any] = [HasMethods(["fit"])]
TABLE: list[Any] = ["table"]
TARGET: list[Any] = ["column", "array-like"]
SEED: list[Any] = ["random_state"]
JOBS: list[Any] = ["n_jobs"]
CALLBACK: list[Any] = [callable, None]
SHARE: list[Any] = [Interval(Real, 0, 1, closed="neither")]


def count(least: int) -> list[Any]:
    """Return the constraint of a whole number of at least a bound."""
    return [Interval(Integral, least, _MOST, closed="both")]
