"""What RelevanceSVC saw on the way, as tables for ``pandas.DataFrame``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._typing import Array
from ...outer import Minimum
from ..base.column_scaling import Scaling
from ..paths.walk import PathPoint
from .steps import KERNELS


def history(minima: dict[str, Minimum], scaling: Scaling) -> dict[str, Any]:
    """Return a table with one row an evaluation of the bound."""
    steps = [(name, step) for name, minimum in minima.items() for step in minimum.history]
    kernels = [KERNELS[name](weights=step.theta[:-1]) for name, step in steps]
    return {
        "kernel": np.array([name for name, _ in steps]),
        "value": np.array([step.value for _, step in steps]),
        "C": np.array([step.theta[-1] for _, step in steps]),
        "n_iter": np.array([step.n_iter for _, step in steps]),
        "seconds": np.array([step.seconds for _, step in steps]),
        "weights": np.array([scaling.comparable(kernel) for kernel in kernels]),
    }


def columns_of(points: Iterator[tuple[str, PathPoint]]) -> dict[str, Array]:
    """Return the points of several members as columns of equal length."""
    names = ("C", "loo_error", "score", "n_iter", "seconds", "solved", "converged")
    listed = list(points)
    table = {name: np.array([getattr(point, name) for _, point in listed]) for name in names}
    head = {
        "member": np.array([member for member, _ in listed]),
        "factor": np.array([point.value for _, point in listed]),
    }
    return head | table
